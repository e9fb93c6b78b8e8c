"""Functions of the loops, rewritten for a GPU with sizes known at compile time."""

from __future__ import annotations

import numpy as np
from numba import cuda

from halfseen.checks import Vector
from halfseen.engine.cuda.compile import Exchange
from halfseen.engine.loops import designs
from halfseen.kernels import ridge

MOST = 16  # most coordinates that stay in registers


def lower_halves(d: int) -> Exchange:
    """Return updates and uses of the lower half of a design, the only half read elsewhere.

    A row is read as a whole before it is written, so that a GPU waits for memory once per row.
    Every number is what `halfseen.kernels.ridge` and `halfseen.engine.loops.designs` compute.
    """

    def add_square(matrix: Vector, weight: float, x: Vector) -> None:
        row = cuda.local.array(d, np.float64)
        for i in range(d):
            for j in range(d):
                row[j] = matrix[i, j] if j <= i else 0.0
            for j in range(d):
                if j <= i:
                    matrix[i, j] = row[j] + weight * (x[i] * x[j])

    def accumulate(
        design: Vector, rest: Vector, target: Vector, target_rest: Vector, x: Vector, reward: float
    ) -> None:
        row = cuda.local.array(d, np.float64)
        left = cuda.local.array(d, np.float64)
        for i in range(d):
            for j in range(d):
                row[j] = design[i, j] if j <= i else 0.0
                left[j] = rest[i, j] if j <= i else 0.0
            for j in range(d):
                missing = x[i] * x[j] - left[j]
                total = row[j] + missing
                if j <= i:
                    rest[i, j] = (total - row[j]) - missing
                    design[i, j] = total
            missing = reward * x[i] - target_rest[i]
            total = target[i] + missing
            target_rest[i] = (total - target[i]) - missing
            target[i] = total

    def squared_error(design: Vector, estimate: Vector, theta: Vector, scratch: Vector) -> float:
        total = 0.0
        for i in range(d):
            gap = estimate[i] - theta[i]
            along = 0.5 * design[i, i] * gap
            for j in range(i):
                along += design[i, j] * (estimate[j] - theta[j])
            total += along * gap
        return 2.0 * total

    return {
        designs.add_square.__code__: add_square,
        designs.squared_error.__code__: squared_error,
        ridge.accumulate.__code__: accumulate,
    }


def ridge_in_registers(d: int, actions: int) -> Exchange:
    """Return the updates of a ridge regression for sizes the compiler knows.

    Only the lower half of the inverse is kept, and vectors stay in registers, to save memory
    traffic. Every number is what `halfseen.kernels.ridge` computes, in the same order. Sizes too
    large for registers are left to those functions.
    """
    if d > MOST:
        return {}

    def observe_action(inverse: Vector, x: Vector, v: Vector) -> float:
        here = cuda.local.array(d, np.float64)
        given = cuda.local.array(d, np.float64)
        for i in range(d):
            given[i] = x[i]
        for i in range(d):
            total = 0.0
            for j in range(d):
                total += (inverse[i, j] if j <= i else inverse[j, i]) * given[j]
            here[i] = total
        s = 0.0
        for i in range(d):
            s += given[i] * here[i]
            v[i] = here[i]
        scale = 1.0 / (1.0 + s)
        for i in range(d):
            for j in range(i + 1):
                inverse[i, j] -= (here[i] * here[j]) * scale
        return s

    def update_actions(
        columns: Vector, v: Vector, s: float, step: float, g: Vector, means: Vector, widths: Vector
    ) -> None:
        here = cuda.local.array(d, np.float64)
        for i in range(d):
            here[i] = v[i]
        scale = 1.0 / (1.0 + s)
        for k in range(actions):
            along = 0.0
            for i in range(d):
                along += columns[i, k] * here[i]
            means[k] += along * step
            left = widths[k] - (along * along) * scale
            widths[k] = left if left > 0.0 else 0.0

    return {
        ridge.observe_action.__code__: observe_action,
        ridge.update_actions.__code__: update_actions,
    }
