"""Eigenvalues of a symmetric matrix by Jacobi rotations, in plain loops."""

from __future__ import annotations

import math

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import shared

MOST_SWEEPS = 60
NEGLIGIBLE = 1e-18  # relative to the diagonal: a hundredth of its rounding error


@shared
def eigen(matrix: Vector, values: Vector, vectors: Vector) -> None:
    """Write ascending eigenvalues and the eigenvectors, one per column; overwrites `matrix`."""
    d = values.size
    for i in range(d):
        for j in range(d):
            vectors[i, j] = 1.0 if i == j else 0.0
    for _ in range(MOST_SWEEPS):
        off = 0.0
        on = 0.0
        for i in range(d):
            on += matrix[i, i] * matrix[i, i]
            for j in range(i):
                off += matrix[i, j] * matrix[i, j]
        if off <= 1e-32 * on:
            break
        for p in range(d - 1):
            for q in range(p + 1, d):
                _rotate(matrix, vectors, p, q)
    for i in range(d):
        values[i] = matrix[i, i]
    for i in range(d - 1):
        least = i
        for j in range(i + 1, d):
            if values[j] < values[least]:
                least = j
        if least != i:
            values[i], values[least] = values[least], values[i]
            for k in range(d):
                vectors[k, i], vectors[k, least] = vectors[k, least], vectors[k, i]


def _rotate(matrix: Vector, vectors: Vector, p: int, q: int) -> None:
    """Rotate the plane of coordinates p and q so that their off-diagonal entry becomes 0."""
    off = matrix[p, q]
    if abs(off) <= NEGLIGIBLE * (abs(matrix[p, p]) + abs(matrix[q, q])):
        matrix[p, q] = 0.0
        matrix[q, p] = 0.0
        return
    slope = (matrix[q, q] - matrix[p, p]) / (2.0 * off)
    tangent = 1.0 / (abs(slope) + math.sqrt(slope * slope + 1.0))
    if slope < 0.0:
        tangent = -tangent
    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
    sine = tangent * cosine
    for k in range(matrix.shape[0]):
        a, b = matrix[k, p], matrix[k, q]
        matrix[k, p] = cosine * a - sine * b
        matrix[k, q] = sine * a + cosine * b
    for k in range(matrix.shape[0]):
        a, b = matrix[p, k], matrix[q, k]
        matrix[p, k] = cosine * a - sine * b
        matrix[q, k] = sine * a + cosine * b
    for k in range(matrix.shape[0]):
        a, b = vectors[k, p], vectors[k, q]
        vectors[k, p] = cosine * a - sine * b
        vectors[k, q] = sine * a + cosine * b
