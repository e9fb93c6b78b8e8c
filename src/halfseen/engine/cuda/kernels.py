"""The kernels launched on a GPU: one thread plays one replication.

*Near* kernels keep the workspace of a thread in shared memory, registers and local memory, with
sizes known at compile time. They are for few arms or small sets of actions. *Far* kernels work on
arrays in the GPU's memory, laid out with the thread as the last index, and are limited only by its
size.

Every kernel takes the number of the first replication, how many there are, and named tuples: the
world, the preallocated workspace (far kernels only) and the track.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numba import cuda

from halfseen.engine.arguments import ArmWorkspace, FixedWorkspace
from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.glm import GLMCell
from halfseen.engine.cells.late_cell import LateCell
from halfseen.engine.cells.late_vectors_cell import LateLinearCell
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.cuda import arms as near_arms_loop
from halfseen.engine.cuda import contexts, glm, late_launch
from halfseen.engine.cuda import linear as near_linear_loop
from halfseen.engine.cuda.arms import NearArmWorkspace
from halfseen.engine.cuda.compile import on_device
from halfseen.engine.cuda.designs import LATER, write_designs
from halfseen.engine.cuda.launch import (
    THREADS,
    Launch,
    far_kernel,
    fixed_workspace,
    sent,
    sent_world,
    shared_threads,
)
from halfseen.engine.cuda.linear import NearWorkspace
from halfseen.engine.cuda.overrides import ridge_in_registers
from halfseen.engine.late_arguments import LateWorkspace
from halfseen.engine.loops import arms as arms_loop
from halfseen.engine.loops import fixed_set, late_arms
from halfseen.engine.specialise import OpenNames, fitted

HALF_WARP = 16  # threads; with d = 20 twice as fast as the GPU's memory would be
COUNTED = 2**24  # integers up to this are exact in single precision


def launch(cell: Cell | LinearCell, single: bool = False) -> Launch:
    """Return how to play a cell.

    Single precision is used if it is allowed, faster and exact in its counts: by the near kernel of
    arms up to a horizon of 2**24.
    """
    if isinstance(cell, LateLinearCell):
        return late_launch.launch(cell)
    if isinstance(cell, GLMCell):
        return glm.launch(cell)
    if isinstance(cell, LinearCell):
        return _linear(cell) if cell.same_actions else contexts.launch(cell)
    return _late(cell) if isinstance(cell, LateCell) else _arms(cell, single)


def _arms(cell: Cell, single: bool) -> Launch:
    kernels, world = cell.policy.kernels(), cell.world()
    single = single and cell.jumps and cell.horizon <= COUNTED
    real: Any = np.float32 if single else np.float64
    arms, constants, orders = cell.groups, world.policy_constants.shape[1], len(cell.alphas)
    own, common = arms * (kernels.statistics + 1), arms * (5 + constants)
    threads = shared_threads(own, common, real) if cell.jumps else 0
    given = sent_world(world, real)._replace(stops=sent(world.stops))
    if threads:
        sizes = (arms, kernels.statistics, constants, orders)
        kernel = near_arms(kernels, cell.feedback, sizes, single, threads)
        return Launch(kernel, threads, given, precision="single" if single else "double")
    return Launch(
        far_arms(kernels, cell.feedback, cell.jumps), THREADS, given, cell.shapes(), ArmWorkspace
    )


def _late(cell: LateCell) -> Launch:
    kernel = far_late(cell.policy.kernels(), tuple(cell.open_names.items()))
    return Launch(kernel, THREADS, sent_world(cell.world()), cell.shapes(), LateWorkspace)


def _linear(cell: LinearCell) -> Launch:
    kernels, given = cell.policy.kernels(), sent_world(cell.world())
    actions, d = cell.groups, cell.problem.dimension
    own, common = d * (d + 1) // 2 + 2 * actions, actions * (d + 5)
    threads = shared_threads(own, common, fewest=HALF_WARP)
    finish = partial(write_designs, given)
    plain = cell.problem.law == "gaussian" and bool(np.all(cell.alphas == 1.0))
    if cell.jumps and threads and plain:
        return Launch(near_linear(kernels, actions, d, threads), threads, given, finish=finish)
    kernel = far_linear(kernels, tuple(cell.open_names.items()), actions, d)
    return Launch(kernel, THREADS, given, cell.shapes(), FixedWorkspace, finish=finish)


@cache
def near_arms(
    kernels: OpenNames,
    feedback: Callable[..., Any],
    sizes: tuple[int, int, int, int],
    single: bool,
    threads: int,
) -> Any:
    """Return the loop that jumps from observation to observation on few arms.

    `feedback` draws rewards and waits; `sizes` are the numbers of arms, of statistics and constants
    of an arm, and of orders.
    """
    real: Any = np.float32 if single else np.float64
    arms, statistics, constants, orders = sizes
    names = {"ARMS": arms, "ORDERS": orders, "REAL": real, "feedback": feedback}
    leap = on_device(fitted(near_arms_loop.leap, kernels, **names), {}, single)
    columns = max(orders, 1)

    def kernel(first, rows, world, track):  # type: ignore[no-untyped-def]
        arm_constants = cuda.shared.array((arms, 5), real)
        table = cuda.shared.array((arms, constants), real)
        for k in range(cuda.threadIdx.x, arms * 5, cuda.blockDim.x):
            arm_constants[k // 5, k % 5] = world.arm_constants[k // 5, k % 5]
        for k in range(cuda.threadIdx.x, arms * constants, cuda.blockDim.x):
            table[k // constants, k % constants] = world.policy_constants[
                k // constants, k % constants
            ]
        cuda.syncthreads()
        row = cuda.grid(1)
        if row < rows:
            states = cuda.shared.array((arms, statistics, threads), real)
            pulleds = cuda.shared.array((arms, threads), real)
            work = NearArmWorkspace(
                arm_constants,
                table,
                states[:, :, cuda.threadIdx.x],
                pulleds[:, cuda.threadIdx.x],
                cuda.local.array(arms, real),
                cuda.local.array(columns, np.float64),
            )
            leap(first + row, row, world, work, track)

    return cuda.jit(kernel, fastmath=single)


@cache
def far_arms(kernels: OpenNames, feedback: Callable[..., Any], jumps: bool) -> Any:
    """Return the loop for any policy and any number of arms; `feedback` draws rewards and waits."""
    names = {"JUMPS": jumps, "POLLS": False, "feedback": feedback}
    once = on_device(fitted(arms_loop.play_once, kernels, **names), {}, False)
    return far_kernel(once, arm_workspace)


@cuda.jit(device=True)
def arm_workspace(scratch, row):  # type: ignore[no-untyped-def]
    """Return the workspace of one thread for any number of arms."""
    return ArmWorkspace(
        scratch.values[:, row],
        scratch.winners[:, row],
        scratch.state[:, :, row],
        scratch.arm_state[:, :, row],
        scratch.plays[:, row],
        scratch.playable[:, row],
        scratch.potential[:, row],
        scratch.stop[:, row],
    )


@cache
def far_late(kernels: OpenNames, names: tuple[Any, ...]) -> Any:
    """Return the loop for late feedback, and for policies that count their plays."""
    once = on_device(fitted(late_arms.play_once, kernels, **dict(names), POLLS=False), {}, False)
    return far_kernel(once, late_arm_workspace)


@cuda.jit(device=True)
def late_arm_workspace(scratch, row):  # type: ignore[no-untyped-def]
    """Return the workspace of one thread for arms with late feedback."""
    return LateWorkspace(
        scratch.values[:, row],
        scratch.winners[:, row],
        scratch.state[:, :, row],
        scratch.arm_state[:, :, row],
        scratch.plays[:, row],
        scratch.playable[:, row],
        scratch.potential[:, row],
        scratch.stop[:, row],
        scratch.rewards[:, row],
        scratch.messages[:, :, row],
        scratch.slots[:, :, row],
        scratch.queues[:, :, row],
        scratch.totals[:, row],
        scratch.kept[:, :, row],
    )


@cache
def near_linear(kernels: OpenNames, actions: int, d: int, threads: int) -> Any:
    """Return the loop that jumps from observation to observation on a small set of actions."""
    leap = on_device(fitted(near_linear_loop.leap, kernels, DIMENSION=d), {}, False)
    half = d * (d + 1) // 2
    real = np.float64

    def kernel(first, rows, world, track):  # type: ignore[no-untyped-def]
        rows_here = cuda.shared.array((actions, d), real)
        arm_constants = cuda.shared.array((actions, 5), real)
        for k in range(cuda.threadIdx.x, actions, cuda.blockDim.x):
            for i in range(d):
                rows_here[k, i] = world.rows[k, i]
            for i in range(5):
                arm_constants[k, i] = world.arm_constants[k, i]
        cuda.syncthreads()
        row = cuda.grid(1)
        if row < rows:
            # Sliced by numbers known only at run time, to prevent loop unrolling.
            size = world.theta.size
            work = NearWorkspace(
                rows_here,
                arm_constants,
                cuda.threadIdx.x,
                cuda.shared.array((half, threads), real),
                cuda.shared.array((actions, threads), real),
                cuda.shared.array((actions, threads), real),
                cuda.local.array((actions, 5), real),
                cuda.local.array((3, d, d), real)[:, :size, :size],
                cuda.local.array((2, d), real)[:, :size],
            )
            leap(first + row, row, world, work, track)

    return cuda.jit(kernel)


@cache
def far_linear(kernels: OpenNames, names: tuple[Any, ...], actions: int, d: int) -> Any:
    """Return the loop of a linear policy on any fixed set of actions."""
    choose = fitted(near_linear_loop.choose_in_registers, kernels)
    exchange = {fixed_set.choose.__code__: choose} | LATER | ridge_in_registers(d, actions)
    once = fitted(fixed_set.play_once, kernels, **dict(names), POLLS=False)
    return far_kernel(on_device(once, exchange, False), fixed_workspace)
