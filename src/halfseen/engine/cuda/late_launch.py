"""Linear and generalized linear bandits with late feedback, on a GPU.

The loops are `late_fixed_set.play_once` and `late_changing_set.play_once`. Messages under way, a
window of them for every thread, lie in the GPU's memory with the thread as the last index.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple

from numba import cuda

from halfseen.checks import Vector
from halfseen.draws import NORMAL_EDGE
from halfseen.engine.cells.late_vectors_cell import LateLinearCell
from halfseen.engine.cuda import linear as near_linear_loop
from halfseen.engine.cuda.compile import on_device
from halfseen.engine.cuda.contexts import (
    context_names,
    context_workspace,
    far_kernel_with_edges,
)
from halfseen.engine.cuda.designs import LATER, write_designs
from halfseen.engine.cuda.launch import (
    THREADS,
    Launch,
    far_kernel,
    fixed_workspace,
    sent,
    sent_world,
)
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
    return far_kernel(once, late_fixed_workspace)


@cache
def late_contexts(kernels: OpenNames, names: tuple[Any, ...], d: int) -> Any:
    """Return the loop of a linear policy on changing sets of actions."""
    open_names = context_names(kernels, names, d)
    exchange = lower_halves(d) | ridge_in_registers(d, 1)
    once = on_device(fitted(late_changing_set.play_once, kernels, **open_names), exchange, False)
    return far_kernel_with_edges(once, late_context_workspace)


@cuda.jit(device=True)
def late_workspace(own, scratch, row):  # type: ignore[no-untyped-def]
    """Return the workspace of one thread: the one without delays, and its messages."""
    return LateVectorWorkspace(
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


@cuda.jit(device=True)
def late_fixed_workspace(scratch, row):  # type: ignore[no-untyped-def]
    """Return the workspace of one thread for a fixed set of actions."""
    return late_workspace(fixed_workspace(scratch, row), scratch, row)


@cuda.jit(device=True)
def late_context_workspace(scratch, row, edges):  # type: ignore[no-untyped-def]
    """Return the workspace of one thread for changing actions."""
    return late_workspace(context_workspace(scratch, row, edges), scratch, row)
