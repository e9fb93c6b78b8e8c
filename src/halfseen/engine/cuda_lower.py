"""What linear loops do to designs, of sizes the compiler knows, as suits a GPU."""

from __future__ import annotations

import numpy as np
from numba import cuda

from halfseen.checks import Vector
from halfseen.engine.cuda_functions import Exchange


def lower_halves(d: int) -> Exchange:
    """Return updates and uses of the lower half of a design, the only one that is read elsewhere.

    A row is read as a whole before any of it is written: a GPU waits for memory once a row. Every
    number is what `halfseen.ridge` and `halfseen.engine.designs` compute.
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
        ("halfseen.engine.designs", "add_square"): add_square,
        ("halfseen.engine.designs", "squared_error"): squared_error,
        ("halfseen.ridge", "accumulate"): accumulate,
    }
