"""Linear bandits that are offered other actions in every round, on a GPU.

The loop is `context_rounds.play_once`. What a GPU does another way is to pick an action: it draws
one after the other and keeps the best alone, where a cpu draws a round together. Every number is
computed in the same order. ``index``, ``scale`` and the constants in capitals are filled in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import cuda

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.engine import context_rounds, cuda_linear
from halfseen.engine.cuda_functions import Exchange, on_device
from halfseen.engine.cuda_launch import (
    LOCAL,
    REGISTERS_DIMENSION,
    THREADS,
    Launch,
    Room,
    far_kernel,
    sent,
)
from halfseen.engine.linear_cell import LinearCell
from halfseen.engine.specialise import OpenNames, fitted
from halfseen.problems.contexts import fill_normals

if TYPE_CHECKING:
    from halfseen.policies.lin_ucb import index
    from halfseen.problems.contexts import sphere_scale as scale

DRAWN = True
SAMPLES = False
DIMENSION = 2
MATRICES, VECTORS = 9, 8


def pick_in_turn(
    doors: Stream,
    mind: Stream,
    clock: int,
    offered: Vector,
    count: int,
    theta: Vector,
    estimate: Vector,
    shake: Vector,
    inverse: Vector,
    spread: float,
    table: Vector,
    menu: int,
    x: Vector,
) -> tuple[int, float, float, float]:
    """Do what `context_rounds.pick` does, one action after the other."""
    here = cuda.local.array(DIMENSION, np.float64)
    line = (clock - 1) % offered.shape[0]
    chosen = 0
    top, best = -np.inf, -np.inf
    truth, width = 0.0, 0.0
    for k in range(count):
        if DRAWN:
            length = scale(fill_normals(doors, clock, k, here), DIMENSION)
            for i in range(DIMENSION):
                here[i] *= length
            if length == 0.0:
                here[0] = 1.0
        else:
            for i in range(DIMENSION):
                here[i] = offered[line, k, i]
        mean, reality, shift, square = 0.0, 0.0, 0.0, 0.0
        for i in range(DIMENSION):
            mean += here[i] * estimate[i]
            reality += here[i] * theta[i]
            if SAMPLES:
                shift += here[i] * shake[i]
            along = 0.5 * inverse[i, i] * here[i]
            for j in range(i):
                along += inverse[i, j] * here[j]
            square += along * here[i]
        square = 2.0 * square if square > 0.0 else 0.0
        best = max(best, reality)
        value = index(mean, square, spread, shift, k, clock, mind, table)
        if value > top:
            top = value
            chosen = k
            truth = reality
            width = square
            for i in range(DIMENSION):
                x[i] = here[i]
    return chosen, best, truth, width


def launch(cell: LinearCell) -> Launch:
    """Return how to play a cell."""
    arguments = [sent(part) if isinstance(part, np.ndarray) else part for part in cell.arguments()]
    nothing = 0  # in place of the room in which a cpu draws a round together
    given = (*arguments, nothing)
    d, orders, regions = cell.problem.dimension, max(len(cell.alphas), 1), cell.groups
    room: Room = tuple(
        (shape, np.float64) for shape in ((MATRICES, d, d), (VECTORS, d), (2, regions), (orders,))
    )
    names = tuple(cell.open_names.items())
    far = Launch(far_contexts(cell.policy.kernels(), names, d), THREADS, given, room)
    if far.room_bytes > LOCAL:
        return far
    return Launch(near_contexts(cell.policy.kernels(), names, d, regions, orders), THREADS, given)


@cache
def near_contexts(
    kernels: OpenNames, names: tuple[Any, ...], d: int, regions: int, orders: int
) -> Any:
    """Return the loop for few coordinates: a thread works in its local memory."""
    once = _loop(kernels, names, d)
    real = np.float64

    def kernel(first, rows, given, tracks):  # type: ignore[no-untyped-def]
        row = cuda.grid(1)
        if row < rows:
            # Sliced by a number known only at run time, or every loop over them is unrolled.
            size = given[3].size
            matrices = cuda.local.array((MATRICES, d, d), real)[:, :size, :size]
            vectors = cuda.local.array((VECTORS, d), real)[:, :size]
            groups = cuda.local.array((2, regions), real)
            spent = cuda.local.array(orders, real)
            once(first + row, row, *given, matrices, vectors, groups, spent, *tracks)

    return cuda.jit(kernel)


@cache
def far_contexts(kernels: OpenNames, names: tuple[Any, ...], d: int) -> Any:
    """Return the loop for any number of coordinates."""
    return far_kernel(_loop(kernels, names, d))


def _loop(kernels: OpenNames, names: tuple[Any, ...], d: int) -> Any:
    filled = dict(names)
    pick: Callable[..., Any] = fitted(pick_in_turn, kernels, **filled, DIMENSION=d)
    exchange: Exchange = {("halfseen.engine.context_rounds", "pick"): pick}
    if d <= REGISTERS_DIMENSION:
        exchange |= cuda_linear.ridge_in_registers(d, 1)
    return on_device(fitted(context_rounds.play_once, kernels, **filled), exchange, False)
