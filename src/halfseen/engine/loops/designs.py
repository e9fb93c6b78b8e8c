"""Recording of the observed and the expected design in linear loops."""

from __future__ import annotations

import math

from halfseen.checks import Vector
from halfseen.engine.loops.feedback import HALF_RATE
from halfseen.kernels.compile_hints import inline, shared
from halfseen.kernels.ridge import gather
from halfseen.kernels.tridiagonal import write_eigenvalues

OBSERVED, EXPECTED = 0, 1
ROUNDING = 1.0 + 1e-9  # without noise theta may lie exactly on the edge of the ellipsoid


def record_design(
    design: Vector,
    regularization: float,
    scratch: Vector,
    eigenvalues: Vector,
) -> float:
    """Write the eigenvalues of a design, by its lower half, and return log det W - d log lambda."""
    d = eigenvalues.size
    for i in range(d):
        for j in range(i + 1):
            scratch[i, j] = design[i, j]
    write_eigenvalues(scratch, eigenvalues)
    spread = 0.0
    for i in range(d):
        if eigenvalues[i] < regularization:  # a rounding error, as W is at least lambda I
            eigenvalues[i] = regularization
        spread += math.log(eigenvalues[i] / regularization)
    return spread


@shared
def record_designs(
    observed: Vector,
    expected: Vector,
    regularization: float,
    scratch: Vector,
    spreads: Vector,
    eigenvalues: Vector,
) -> None:
    """Write log det W - d log lambda and the eigenvalues of both designs."""
    spreads[OBSERVED] = record_design(observed, regularization, scratch, eigenvalues[OBSERVED])
    spreads[EXPECTED] = record_design(expected, regularization, scratch, eigenvalues[EXPECTED])


def gather_expected(
    columns: Vector,
    constants: Vector,
    pulled: Vector,
    regularization: float,
    design: Vector,
    target: Vector,
    g: Vector,
) -> None:
    """Write the expected design of a fixed set; `target` and `g` are scratch."""
    for k in range(g.size):
        g[k] = 2.0 * constants[k, HALF_RATE] * pulled[k]
    gather(columns, g, g, regularization, design, target)


@inline
def shortage(rate: float, pulled: float, seen: float) -> float:
    """Return the shortfall of an action's observations below `rate` per pull."""
    missing = rate * pulled - seen
    return missing if missing > 0.0 else 0.0


@shared
def restart(
    regularization: float,
    inverse: Vector,
    design: Vector,
    rest: Vector,
    expected: Vector,
    estimate: Vector,
    target: Vector,
    target_rest: Vector,
) -> None:
    """Reset the ridge regression and both designs to their initial values."""
    d = estimate.size
    for i in range(d):
        estimate[i] = 0.0
        target[i] = 0.0
        target_rest[i] = 0.0
        for j in range(d):
            inverse[i, j] = 1.0 / regularization if i == j else 0.0
            design[i, j] = regularization if i == j else 0.0
            expected[i, j] = design[i, j]
            rest[i, j] = 0.0


@inline
def add_square(matrix: Vector, weight: float, x: Vector) -> None:
    """Add weight x x' to a matrix."""
    for i in range(x.size):
        for j in range(x.size):
            matrix[i, j] += weight * (x[i] * x[j])


@inline
def squared_error(design: Vector, estimate: Vector, theta: Vector, scratch: Vector) -> float:
    """Return the squared length of estimate - theta in the norm of a symmetric design."""
    d = theta.size
    for i in range(d):
        scratch[i] = 0.0
    for j in range(d):
        gap = estimate[j] - theta[j]
        for i in range(d):
            scratch[i] += design[j, i] * gap
    total = 0.0
    for i in range(d):
        total += scratch[i] * (estimate[i] - theta[i])
    return total


@inline
def powered_width(action: Vector, inverse_values: Vector, vectors: Vector, alpha: float) -> float:
    """Return a' W^-alpha a from the eigenvalues and eigenvectors of the inverse of W."""
    total = 0.0
    for i in range(action.size):
        along = 0.0
        for j in range(action.size):
            along += vectors[j, i] * action[j]
        if inverse_values[i] > 0.0:  # rounding may leave the smallest below 0
            total += along * along * inverse_values[i] ** alpha
    return total
