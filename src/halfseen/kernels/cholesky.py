"""Cholesky factors, in plain loops on preallocated arrays."""

from __future__ import annotations

import math

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import inline, shared


@shared
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
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            rest = matrix[i, j]
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]
            factor[i, j] = root(rest) if i == j else quotient(rest, factor[j, j])


@shared
def factor_often(matrix: Vector, factor: Vector) -> None:
    """Write what `lower_factor` does, for policies that need it after every observation.

    It takes longer to compile.
    """
    if matrix.shape[0] == 5:
        factor_five(matrix, factor)
    else:
        lower_factor(matrix, factor)


@inline
def root(square: float) -> float:
    """Return the square root, or 0 for a negative number."""
    return math.sqrt(square if square > 0.0 else 0.0)


@inline
def quotient(rest: float, pivot: float) -> float:
    """Return rest / pivot, 0 if the pivot is 0."""
    return rest / pivot if pivot > 0.0 else 0.0


@inline
def factor_five(m: Vector, factor: Vector) -> None:
    """Write the Cholesky factor of a matrix of five rows, without loops or branches."""
    a = root(m[0, 0])
    b0, c0 = quotient(m[1, 0], a), quotient(m[2, 0], a)
    e0, f0 = quotient(m[3, 0], a), quotient(m[4, 0], a)
    b = root(m[1, 1] - b0 * b0)
    c1 = quotient(m[2, 1] - c0 * b0, b)
    e1, f1 = quotient(m[3, 1] - e0 * b0, b), quotient(m[4, 1] - f0 * b0, b)
    c = root((m[2, 2] - c0 * c0) - c1 * c1)
    e2 = quotient((m[3, 2] - e0 * c0) - e1 * c1, c)
    f2 = quotient((m[4, 2] - f0 * c0) - f1 * c1, c)
    e = root(((m[3, 3] - e0 * e0) - e1 * e1) - e2 * e2)
    f3 = quotient(((m[4, 3] - f0 * e0) - f1 * e1) - f2 * e2, e)
    f = root((((m[4, 4] - f0 * f0) - f1 * f1) - f2 * f2) - f3 * f3)
    factor[0, 0], factor[1, 0], factor[2, 0], factor[3, 0], factor[4, 0] = a, b0, c0, e0, f0
    factor[1, 1], factor[2, 1], factor[3, 1], factor[4, 1] = b, c1, e1, f1
    factor[2, 2], factor[3, 2], factor[4, 2] = c, e2, f2
    factor[3, 3], factor[4, 3], factor[4, 4] = e, f3, f


def correlate(factor: Vector, noise: Vector, out: Vector) -> None:
    """Write the product of a lower triangular matrix with a vector."""
    for i in range(noise.size):
        total = 0.0
        for j in range(i + 1):
            total += factor[i, j] * noise[j]
        out[i] = total
