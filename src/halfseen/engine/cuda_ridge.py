"""Updates of a ridge regression in the registers of a GPU."""

from __future__ import annotations

import numpy as np
from numba import cuda

from halfseen.checks import Vector
from halfseen.engine.cuda_functions import Exchange

MOST = 16  # coordinates that stay in registers


def ridge_in_registers(d: int, actions: int) -> Exchange:
    """Return the updates of a ridge regression for sizes the compiler knows.

    Only the lower half of the inverse is kept, and vectors stay in registers: a GPU is short of
    memory traffic. Every number is what `halfseen.ridge` computes, in the same order. Sizes too
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
        ("halfseen.ridge", "observe_action"): observe_action,
        ("halfseen.ridge", "update_actions"): update_actions,
    }
