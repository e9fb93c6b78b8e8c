"""Cholesky factors, in plain loops on arrays that are passed in."""

from __future__ import annotations

import math

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import shared


def exceeds(left: Vector, right: Vector, share: float, slack: float, factor: Vector) -> bool:
    """Return whether left - share * right - slack * I is positive definite, by Cholesky."""
    d = left.shape[0]
    for i in range(d):
        for j in range(i + 1):
            rest = left[i, j] - share * right[i, j]
            if i == j:
                rest -= slack
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]
            if i == j:
                if not rest > 0.0:
                    return False
                factor[i, i] = math.sqrt(rest)
            else:
                factor[i, j] = rest / factor[j, j]
    return True


@shared
def lower_factor(matrix: Vector, factor: Vector) -> None:
    """Write the Cholesky factor of a positive definite matrix, read from its lower triangle."""
    d = matrix.shape[0]
    for i in range(d):
        for j in range(i + 1):
            rest = matrix[i, j]
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]
            if i == j:
                factor[i, i] = math.sqrt(rest if rest > 0.0 else 0.0)
            else:
                factor[i, j] = rest / factor[j, j] if factor[j, j] > 0.0 else 0.0


def correlate(factor: Vector, noise: Vector, out: Vector) -> None:
    """Write the product of a lower triangular matrix with a vector."""
    for i in range(noise.size):
        total = 0.0
        for j in range(i + 1):
            total += factor[i, j] * noise[j]
        out[i] = total
