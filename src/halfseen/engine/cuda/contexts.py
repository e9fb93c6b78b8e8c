"""Linear bandits with changing sets of actions, on a GPU.

The loop is `changing_set.play_once`. Only the choice of an action differs: a GPU draws the actions
one after the other and keeps only the best, while a cpu draws all actions of a round together.
Every number is computed in the same order. ``index``, ``scale`` and the constants in capitals are
filled in.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import cuda

from halfseen.checks import Vector
from halfseen.draws import AVAILABILITY, NORMAL_EDGE, POLICY, Stream, normal_from, unit, words
from halfseen.engine.arguments import ACTION, ESTIMATE, INVERSE, SHAKE, SPREAD, ChangingWorld
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.cuda.compile import on_device, product
from halfseen.engine.cuda.launch import LOCAL, THREADS, Launch, sent, sent_world
from halfseen.engine.cuda.overrides import lower_halves, ridge_in_registers
from halfseen.engine.loops import changing_set
from halfseen.engine.loops.drawn import shake
from halfseen.engine.specialise import OpenNames, fitted
from halfseen.kernels.ties import tie_edge
from halfseen.problems.action_sets import SECOND, fill_normals

if TYPE_CHECKING:
    from halfseen.kernels.ties import tie_edge
    from halfseen.policies.linear.lin_ucb import index
from halfseen.problems.action_sets import sphere_scale as scale

DRAWN = True
SAMPLES = False
DIMENSION = 2
HOLDS = True  # the inverse stays in registers while the actions of a round are compared
HALF = 3  # entries of its lower triangle
HELD_DIMENSION = 10  # inverses up to this size are held
EDGES = len(NORMAL_EDGE)
MOST_BITS = 62  # coordinates that one integer has bits for


class ContextWorkspace(NamedTuple):
    """The part of `arguments.ChangingWorkspace` that a GPU needs.

    `edges` are those of the ziggurat, in memory that is fast for threads with different addresses.
    """

    matrices: Vector
    vectors: Vector
    numbers: Vector
    designs: Vector
    lines: Vector
    groups: Vector
    potential: Vector
    stop: Any
    edges: Vector
    history: Vector


def choose_in_turn(
    world: ChangingWorld, work: ContextWorkspace, replication: int, now: int
) -> tuple[int, float, float, float]:
    """Do the same as `drawn.choose`, one action after the other."""
    availability_stream = (world.key[0], world.key[1], replication, AVAILABILITY)
    policy_stream = (world.key[0], world.key[1], replication, POLICY)
    if SAMPLES:
        shake(work, policy_stream, now)  # type: ignore[arg-type]
    inverse, estimate, shift_vector = (
        work.matrices[INVERSE],
        work.vectors[ESTIMATE],
        work.vectors[SHAKE],
    )
    x, theta, offered, edges = work.lines[ACTION], world.theta, world.offered, work.edges
    spread, constants = work.numbers[SPREAD], world.policy_constants
    action = cuda.local.array(DIMENSION, np.float64)
    guess = cuda.local.array(DIMENSION, np.float64)
    half = cuda.local.array(HALF, np.float64)
    for i in range(DIMENSION):
        guess[i] = estimate[i]
        if HOLDS:
            for j in range(i + 1):
                half[i * (i + 1) // 2 + j] = inverse[i, j]
    line = (now - 1) % offered.shape[0]
    chosen = 0
    edge, best = -np.inf, -np.inf
    truth, width = 0.0, 0.0
    for k in range(world.offers):
        if DRAWN:
            draw_together(availability_stream, now, k, edges, action)
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
                shift += action[i] * shift_vector[i]
            start = i * (i + 1) // 2
            along = 0.5 * (half[start + i] if HOLDS else inverse[i, i]) * action[i]
            for j in range(i):
                along += (half[start + j] if HOLDS else inverse[i, j]) * action[j]
            square += product(along, action[i])
        square = 2.0 * square if square > 0.0 else 0.0
        best = max(best, reality)
        value = index(mean, square, spread, shift, k, now, policy_stream, constants)
        if value > edge:
            edge = tie_edge(value)
            chosen = k
            truth = reality
            width = square
            for i in range(DIMENSION):
                x[i] = action[i]
    return chosen, best, truth, width


def draw_together(stream: Stream, clock: int, k: int, edges: Vector, out: Vector) -> None:
    """Write the same numbers as `fill_normals`.

    One number in eighty takes more draws. Those are deferred to the end, where all threads draw
    them at the same time.
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
        for j in range(DIMENSION):  # constant indices keep all of them in registers
            out[j] = number if j == i else out[j]
        more >>= 1
        i += 1


def normal_inside(high: int, low: int, edges: Vector) -> float:
    """Return the same as `draws.normal_from` if that needs no more draws, else NaN."""
    layer = high & 255
    sign = -1.0 if high & 256 else 1.0
    x = unit(high, low) * edges[layer]
    return sign * x if x < edges[layer + 1] else math.nan


def launch(cell: LinearCell) -> Launch:
    """Return how to play a cell."""
    world = cell.world()
    assert isinstance(world, ChangingWorld)
    given = (sent(NORMAL_EDGE), sent_world(world))
    kernels, names = cell.policy.kernels(), tuple(cell.open_names.items())
    shapes, d = cell.shapes(), cell.problem.dimension
    far = Launch(far_contexts(kernels, names, d), THREADS, given, shapes, EstimateArrays)
    if far.workspace_bytes > LOCAL:
        return far
    extents = tuple(shape for shape, _ in shapes.values())
    return Launch(near_contexts(kernels, names, d, extents), THREADS, given)


class EstimateArrays(NamedTuple):
    """The arrays of a `ContextWorkspace` of all threads, with the thread as the last index."""

    matrices: Vector
    vectors: Vector
    numbers: Vector
    designs: Vector
    lines: Vector
    groups: Vector
    potential: Vector
    stop: Any


@cache
def near_contexts(
    kernels: OpenNames,
    names: tuple[Any, ...],
    d: int,
    extents: tuple[tuple[int, ...], ...],
) -> Any:
    """Return the loop for few coordinates: a thread works in its local memory.

    `extents` are the shapes of its workspace.
    """
    once = _loop(kernels, names, d)
    real = np.float64
    matrix_shape, vector_shape, number_shape, design_shape, line_shape = extents[:5]
    group_shape, order_shape = extents[5], extents[6]

    def kernel(first, rows, given, track):  # type: ignore[no-untyped-def]
        edges = cuda.shared.array(EDGES, real)
        for k in range(cuda.threadIdx.x, EDGES, cuda.blockDim.x):
            edges[k] = given[0][k]
        cuda.syncthreads()
        row = cuda.grid(1)
        if row < rows:
            # Sliced by a number known only at run time, to prevent loop unrolling.
            size = given[1].theta.size
            groups = cuda.local.array(group_shape, real)
            potential = cuda.local.array(order_shape, real)
            work = ContextWorkspace(
                cuda.local.array(matrix_shape, real)[:, :size, :size],
                cuda.local.array(vector_shape, real)[:, :size],
                cuda.local.array(number_shape, real),
                cuda.local.array(design_shape, real)[:, :size, :size],
                cuda.local.array(line_shape, real)[:, :size],
                groups,
                potential,
                potential,
                edges,
                edges,
            )
            once(first + row, row, given[1], work, track)

    return cuda.jit(kernel)


@cache
def far_contexts(kernels: OpenNames, names: tuple[Any, ...], d: int) -> Any:
    """Return the loop for any number of coordinates."""
    return far_kernel_with_edges(_loop(kernels, names, d), context_workspace)


def far_kernel_with_edges(once: Any, workspace: Any) -> Any:
    """Return the same kernel as `launch.far_kernel`, with the ziggurat's edges in shared memory.

    They are also passed to `workspace`. The kernel takes a pair: the edges and the world.
    """

    def kernel(first, rows, given, scratch, track):  # type: ignore[no-untyped-def]
        edges = cuda.shared.array(EDGES, np.float64)
        for k in range(cuda.threadIdx.x, EDGES, cuda.blockDim.x):
            edges[k] = given[0][k]
        cuda.syncthreads()
        row = cuda.grid(1)
        if row < rows:
            once(first + row, row, given[1], workspace(scratch, row, edges), track)

    return cuda.jit(kernel)


@cuda.jit(device=True)
def context_workspace(scratch, row, edges):  # type: ignore[no-untyped-def]
    """Return the workspace of one thread for changing actions."""
    return ContextWorkspace(
        scratch.matrices[:, :, :, row],
        scratch.vectors[:, :, row],
        scratch.numbers[:, row],
        scratch.designs[:, :, :, row],
        scratch.lines[:, :, row],
        scratch.groups[:, :, row],
        scratch.potential[:, row],
        scratch.stop[:, row],
        edges,
        edges,
    )


def context_names(kernels: OpenNames, names: tuple[Any, ...], d: int) -> dict[str, Any]:
    """Return what is substituted into a loop over changing sets, with the choice for a GPU."""
    filled = dict(names)
    holds = d <= HELD_DIMENSION
    known = {"DIMENSION": d, "HOLDS": holds, "HALF": d * (d + 1) // 2 if holds else 1}
    choose = fitted(choose_in_turn, kernels, **filled | known)
    return filled | {"choose": choose, "POLLS": False}


def _loop(kernels: OpenNames, names: tuple[Any, ...], d: int) -> Any:
    exchange = lower_halves(d) | ridge_in_registers(d, 1)
    once = fitted(changing_set.play_once, kernels, **context_names(kernels, names, d))
    return on_device(once, exchange, False)
