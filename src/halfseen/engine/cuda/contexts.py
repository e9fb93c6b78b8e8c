"""Linear bandits that are offered other actions in every round, on a GPU.

The loop is `changing_set.play_once`. What a GPU does another way is to pick an action: it draws
one after the other and keeps the best alone, where a cpu draws a round together. Every number is
computed in the same order. ``index``, ``scale`` and the constants in capitals are filled in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import cuda

from halfseen.checks import Vector
from halfseen.draws import NORMAL_EDGE, Stream, normal_from, unit, words
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.cuda.compile import Exchange, on_device, product
from halfseen.engine.cuda.launch import LOCAL, THREADS, Launch, Room, sent
from halfseen.engine.cuda.overrides import lower_halves, ridge_in_registers
from halfseen.engine.loops import changing_set
from halfseen.engine.specialise import OpenNames, fitted
from halfseen.problems.contexts import SECOND, fill_normals

if TYPE_CHECKING:
    from halfseen.policies.lin_ucb import index
    from halfseen.problems.contexts import sphere_scale as scale

DRAWN = True
SAMPLES = False
DIMENSION = 2
HOLDS = True  # the inverse stays in registers while the actions of a round are looked at
HALF = 3  # numbers of its lower half
HELD_DIMENSION = 10  # inverses up to this size are held
MATRICES, VECTORS = 8, 8
EDGES = len(NORMAL_EDGE)
MOST_BITS = 62  # coordinates that can be marked in one number


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
    edges: Vector,
    x: Vector,
) -> tuple[int, float, float, float]:
    """Do what `changing_set.pick` does, one action after the other.

    `edges` are the ziggurat's, in memory that is fast for threads that read different places.
    """
    action = cuda.local.array(DIMENSION, np.float64)
    guess = cuda.local.array(DIMENSION, np.float64)
    half = cuda.local.array(HALF, np.float64)
    for i in range(DIMENSION):
        guess[i] = estimate[i]
        if HOLDS:
            for j in range(i + 1):
                half[i * (i + 1) // 2 + j] = inverse[i, j]
    line = (clock - 1) % offered.shape[0]
    chosen = 0
    top, best = -np.inf, -np.inf
    truth, width = 0.0, 0.0
    for k in range(count):
        if DRAWN:
            draw_together(doors, clock, k, edges, action)
            square = 0.0
            for i in range(DIMENSION):
                square += product(action[i], action[i])
            length = scale(square, DIMENSION)
            for i in range(DIMENSION):
                action[i] *= length
            if length == 0.0:
                action[0] = 1.0
        else:
            for i in range(DIMENSION):
                action[i] = offered[line, k, i]
        mean, reality, shift, square = 0.0, 0.0, 0.0, 0.0
        for i in range(DIMENSION):
            mean += action[i] * guess[i]
            reality += action[i] * theta[i]
            if SAMPLES:
                shift += action[i] * shake[i]
            start = i * (i + 1) // 2
            along = 0.5 * (half[start + i] if HOLDS else inverse[i, i]) * action[i]
            for j in range(i):
                along += (half[start + j] if HOLDS else inverse[i, j]) * action[j]
            square += product(along, action[i])
        square = 2.0 * square if square > 0.0 else 0.0
        best = max(best, reality)
        value = index(mean, square, spread, shift, k, clock, mind, table)
        if value > top:
            top = value
            chosen = k
            truth = reality
            width = square
            for i in range(DIMENSION):
                x[i] = action[i]
    return chosen, best, truth, width


def draw_together(stream: Stream, clock: int, k: int, edges: Vector, out: Vector) -> None:
    """Write the numbers `fill_normals` does.

    One number in eighty takes more draws. Those are left to the end, where all threads that have
    any draw them at the same time.
    """
    if DIMENSION > MOST_BITS:
        fill_normals(stream, clock, k, out)
        return
    pairs = (DIMENSION + 1) // 2
    more = 0
    for pair in range(pairs):
        high, low, second_high, second_low = words(stream, clock, k * pairs + pair)
        first = normal_inside(high, low, edges)
        out[2 * pair] = first
        if math.isnan(first):
            more |= 1 << (2 * pair)
        if 2 * pair + 1 < DIMENSION:
            second = normal_inside(second_high, second_low, edges)
            out[2 * pair + 1] = second
            if math.isnan(second):
                more |= 2 << (2 * pair)
    i = 0
    while more > 0:
        while more & 1 == 0:
            more >>= 1
            i += 1
        place = k * pairs + i // 2
        high, low, second_high, second_low = words(stream, clock, place)
        if i % 2 == 1:
            high = second_high
            low = second_low
            place += SECOND
        number = normal_from(high, low, stream, clock, place)
        for j in range(DIMENSION):  # no address depends on the thread: all stay in registers
            out[j] = number if j == i else out[j]
        more >>= 1
        i += 1


def normal_inside(high: int, low: int, edges: Vector) -> float:
    """Return what `draws.normal_from` returns where it draws no more, else NaN."""
    layer = high & 255
    sign = -1.0 if high & 256 else 1.0
    x = unit(high, low) * edges[layer]
    return sign * x if x < edges[layer + 1] else math.nan


def launch(cell: LinearCell) -> Launch:
    """Return how to play a cell."""
    arguments = [NORMAL_EDGE, *cell.arguments()]
    given = tuple(sent(part) if isinstance(part, np.ndarray) else part for part in arguments)
    kernels, names = cell.policy.kernels(), tuple(cell.open_names.items())
    d, orders, regions = cell.problem.dimension, max(len(cell.alphas), 1), cell.groups
    shapes = ((MATRICES, d, d), (VECTORS, d), (2, regions), (orders,))
    room: Room = tuple((shape, np.float64) for shape in shapes)
    far = Launch(far_contexts(kernels, names, d), THREADS, given, room)
    if far.room_bytes > LOCAL:
        return far
    return Launch(near_contexts(kernels, names, d, regions, orders), THREADS, given)


@cache
def near_contexts(
    kernels: OpenNames, names: tuple[Any, ...], d: int, regions: int, orders: int
) -> Any:
    """Return the loop for few coordinates: a thread works in its local memory."""
    once = _loop(kernels, names, d)
    real = np.float64

    def kernel(first, rows, given, tracks):  # type: ignore[no-untyped-def]
        edges = cuda.shared.array(EDGES, real)
        for k in range(cuda.threadIdx.x, EDGES, cuda.blockDim.x):
            edges[k] = given[0][k]
        cuda.syncthreads()
        row = cuda.grid(1)
        if row < rows:
            # Sliced by a number known only at run time, or every loop over them is unrolled.
            size = given[4].size
            matrices = cuda.local.array((MATRICES, d, d), real)[:, :size, :size]
            vectors = cuda.local.array((VECTORS, d), real)[:, :size]
            groups = cuda.local.array((2, regions), real)
            spent = cuda.local.array(orders, real)
            here = (edges, matrices, vectors, groups, spent)
            once(first + row, row, *given[1:], *here, *tracks)

    return cuda.jit(kernel)


@cache
def far_contexts(kernels: OpenNames, names: tuple[Any, ...], d: int) -> Any:
    """Return the loop for any number of coordinates."""
    once = _loop(kernels, names, d)

    def kernel(first, rows, given, room, tracks):  # type: ignore[no-untyped-def]
        edges = cuda.shared.array(EDGES, np.float64)
        for k in range(cuda.threadIdx.x, EDGES, cuda.blockDim.x):
            edges[k] = given[0][k]
        cuda.syncthreads()
        row = cuda.grid(1)
        if row < rows:
            matrices, vectors = room[0][:, :, :, row], room[1][:, :, row]
            here = (edges, matrices, vectors, room[2][:, :, row], room[3][:, row])
            once(first + row, row, *given[1:], *here, *tracks)

    return cuda.jit(kernel)


def _loop(kernels: OpenNames, names: tuple[Any, ...], d: int) -> Any:
    filled = dict(names)
    holds = d <= HELD_DIMENSION
    sizes = {"DIMENSION": d, "HOLDS": holds, "HALF": d * (d + 1) // 2 if holds else 1}
    pick: Callable[..., Any] = fitted(pick_in_turn, kernels, **filled, **sizes)
    exchange: Exchange = {changing_set.pick.__code__: pick}
    exchange |= lower_halves(d) | ridge_in_registers(d, 1)
    return on_device(fitted(changing_set.play_once, kernels, **filled), exchange, False)
