"""Steps of the loops of generalized linear bandits other than fitting."""

from __future__ import annotations

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.engine.arguments import History
from halfseen.kernels.compile_hints import allocates
from halfseen.problems.action_sets import fill_normals


def shake_by_curve(stream: Stream, clock: int, curve: Vector, noise: Vector, shake: Vector) -> None:
    """Write a normal vector whose covariance is the inverse of L L', L being `curve`."""
    fill_normals(stream, clock, 0, noise)
    d = noise.size
    for i in range(d - 1, -1, -1):
        total = noise[i]
        for j in range(i + 1, d):
            total -= curve[j, i] * shake[j]
        shake[i] = total / curve[i, i]


def squared_error(
    rows: Vector, counts: Vector, regularization: float, estimate: Vector, theta: Vector
) -> float:
    """Return the squared length of the error in the design of a fixed set of actions."""
    total = 0.0
    for k in range(counts.size):
        if counts[k] > 0.0:
            off = 0.0
            for i in range(theta.size):
                off += rows[k, i] * (estimate[i] - theta[i])
            total += counts[k] * (off * off)
    for i in range(theta.size):
        total += regularization * (estimate[i] - theta[i]) ** 2
    return total


def form(matrix: Vector, x: Vector) -> float:
    """Return x' M x, at least 0."""
    square = 0.0
    for i in range(x.size):
        total = 0.0
        for j in range(x.size):
            total += matrix[i, j] * x[j]
        square += total * x[i]
    return square if square > 0.0 else 0.0


def without_ridge(design: Vector, regularization: float, prior: Vector, out: Vector) -> None:
    """Write W - lambda I + P: the observed design, with 1 along directions that no action spans."""
    for i in range(design.shape[0]):
        for j in range(design.shape[0]):
            out[i, j] = design[i, j] + prior[i, j]
        out[i, i] -= regularization


@allocates
def longer(history: History) -> History:
    """Return the observed rounds in arrays of twice the length."""
    size, d = history.kept.shape
    rows, sums = np.zeros((2 * size, d)), np.zeros(2 * size)
    for k in range(size):
        sums[k] = history.paid[k]
        for i in range(d):
            rows[k, i] = history.kept[k, i]
    return History(rows, sums, np.ones(2 * size), np.zeros(2 * size))
