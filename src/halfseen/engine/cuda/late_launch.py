"""Linear and generalized linear bandits with late feedback, on a GPU.

The loops are `late_fixed_set.play_once` and `late_changing_set.play_once`. Messages under way, a
window of them for every thread, lie in the GPU's memory with the thread as the last index.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from halfseen.checks import Vector
from halfseen.draws import NORMAL_EDGE
from halfseen.engine.arguments import FixedWorkspace
from halfseen.engine.cells.late_vectors_cell import LateLinearCell
from halfseen.engine.cuda import linear as near_linear_loop
from halfseen.engine.cuda.compile import on_device
from halfseen.engine.cuda.contexts import EDGES, ContextWorkspace, context_names
from halfseen.engine.cuda.designs import LATER, write_designs
from halfseen.engine.cuda.launch import THREADS, Launch, sent, sent_world
from halfseen.engine.cuda.overrides import lower_halves, ridge_in_registers
from halfseen.engine.late_vectors import LateVectorWorkspace
from halfseen.engine.loops import fixed_set, late_changing_set, late_fixed_set
from halfseen.engine.specialise import OpenNames, fitted


class LateFixedArrays(NamedTuple):
    """The arrays of a `LateVectorWorkspace` on a fixed set, of all threads."""

    matrices: Vector
    vectors: Vector
    lists: Vector
    numbers: Vector
    curvatures: Vector
    memory: Vector
    potential: Vector
    stop: Any
    rewards: Vector
    messages: Any
    slots: Any
    sent: Vector
    counts: Vector
    unsettled: Vector
    design: Vector


class LateEstimateArrays(NamedTuple):
    """The arrays of a `LateVectorWorkspace` on changing sets, of all threads."""

    matrices: Vector
    vectors: Vector
    numbers: Vector
    designs: Vector
    lines: Vector
    groups: Vector
    potential: Vector
    stop: Any
    rewards: Vector
    messages: Any
    slots: Any
    sent: Vector
    counts: Vector
    unsettled: Vector
    design: Vector


def launch(cell: LateLinearCell) -> Launch:
    """Return how to play a cell."""
    kernels, names = cell.policy.kernels(), tuple(cell.open_names.items())
    world, shapes = sent_world(cell.world()), cell.shapes() | cell.late_shapes()
    d = cell.problem.dimension
    if cell.same_actions:
        kernel = late_fixed(kernels, names, cell.groups, d, cell.fits)
        finish = partial(write_designs, world.own)
        return Launch(kernel, THREADS, world, shapes, LateFixedArrays, finish=finish)
    given = (sent(NORMAL_EDGE), world)
    return Launch(late_contexts(kernels, names, d), THREADS, given, shapes, LateEstimateArrays)


@cache
def late_fixed(kernels: OpenNames, names: tuple[Any, ...], actions: int, d: int, fits: bool) -> Any:
    """Return the loop of a policy on a fixed set of actions; `fits` if it has a likelihood."""
    exchange = LATER | ridge_in_registers(d, actions)
    if not fits:
        choose = fitted(near_linear_loop.choose_in_registers, kernels)
        exchange = {fixed_set.choose.__code__: choose} | exchange
    open_names = dict(names) | {"POLLS": False}
    once = on_device(fitted(late_fixed_set.play_once, kernels, **open_names), exchange, False)

    def kernel(first, rows, world, scratch, track):  # type: ignore[no-untyped-def]
        row = cuda.grid(1)
        if row < rows:
            own = FixedWorkspace(
                scratch.matrices[:, :, :, row],
                scratch.vectors[:, :, row],
                scratch.lists[:, :, row],
                scratch.numbers[:, row],
                scratch.curvatures[:, :, :, row],
                scratch.memory[:, row],
                scratch.potential[:, row],
                scratch.stop[:, row],
            )
            work = LateVectorWorkspace(
                own,
                scratch.stop[:, row],
                scratch.rewards[:, row],
                scratch.messages[:, :, row],
                scratch.slots[:, :, row],
                scratch.sent[:, :, row],
                scratch.counts[:, :, row],
                scratch.unsettled[:, :, row],
                scratch.design[:, :, row],
            )
            once(first + row, row, world, work, track)

    return cuda.jit(kernel)


@cache
def late_contexts(kernels: OpenNames, names: tuple[Any, ...], d: int) -> Any:
    """Return the loop of a linear policy on changing sets of actions."""
    open_names = context_names(kernels, names, d)
    exchange = lower_halves(d) | ridge_in_registers(d, 1)
    once = on_device(fitted(late_changing_set.play_once, kernels, **open_names), exchange, False)

    def kernel(first, rows, given, scratch, track):  # type: ignore[no-untyped-def]
        edges = cuda.shared.array(EDGES, np.float64)
        for k in range(cuda.threadIdx.x, EDGES, cuda.blockDim.x):
            edges[k] = given[0][k]
        cuda.syncthreads()
        row = cuda.grid(1)
        if row < rows:
            own = ContextWorkspace(
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
            work = LateVectorWorkspace(
                own,
                scratch.stop[:, row],
                scratch.rewards[:, row],
                scratch.messages[:, :, row],
                scratch.slots[:, :, row],
                scratch.sent[:, :, row],
                scratch.counts[:, :, row],
                scratch.unsettled[:, :, row],
                scratch.design[:, :, row],
            )
            once(first + row, row, given[1], work, track)

    return cuda.jit(kernel)
