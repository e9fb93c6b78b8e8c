"""What a GPU launches: one thread plays one replication.

*Near* kernels keep what a thread works on in shared memory, registers and local memory, of sizes
the compiler knows. They are for few arms or small sets of actions. *Far* kernels work on arrays in
the GPU's memory, laid out with the thread as the last index, and know no limit but its size.

Every kernel takes the number of the first replication, how many there are, and tuples of arrays:
what is given, the room to work in (far kernels only) and the tracks.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from numba import cuda

from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.glm import GLMCell
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.cuda import arms as cuda_rounds
from halfseen.engine.cuda import contexts as cuda_contexts
from halfseen.engine.cuda import glm as cuda_glm
from halfseen.engine.cuda import linear as cuda_linear
from halfseen.engine.cuda.compile import Exchange, on_device
from halfseen.engine.cuda.designs import LATER, write_designs
from halfseen.engine.cuda.launch import THREADS, Launch, Room, far_kernel, sent, shared_threads
from halfseen.engine.cuda.overrides import ridge_in_registers
from halfseen.engine.loops import arms as arms_loop
from halfseen.engine.loops import fixed_set
from halfseen.engine.specialise import OpenNames, fitted
from halfseen.kernels.tournament import inner_nodes

HALF_WARP = 16  # threads; with d = 20 twice as fast as the GPU's memory would be
COUNTED = 2**24  # whole numbers up to this are exact in single precision


def launch(cell: Cell | LinearCell, single: bool = False) -> Launch:
    """Return how to play a cell.

    Single precision is taken where it is allowed, faster and exact in its counts: by the near
    kernel of arms up to a horizon of 2**24.
    """
    if isinstance(cell, GLMCell):
        return cuda_glm.launch(cell)
    if isinstance(cell, LinearCell):
        return _linear(cell) if cell.same_actions else cuda_contexts.launch(cell)
    return _arms(cell, single)


def _arms(cell: Cell, single: bool) -> Launch:
    kernels = cell.policy.kernels()
    _, facts, law, actions, menu, chances, table, key, checkpoints, alphas, lam = cell.arguments()
    single = single and cell.jumps and cell.horizon <= COUNTED
    real: Any = np.float32 if single else np.float64
    arms, constants, orders = cell.groups, table.shape[1], len(alphas)
    stops = sent(checkpoints.astype(float))
    own, common = arms * (kernels.statistics + 1), arms * (5 + constants)
    threads = shared_threads(own, common, real) if cell.jumps else 0
    if threads:
        kernel = near_arms(kernels, arms, kernels.statistics, constants, orders, single, threads)
        facts, table, alphas = (sent(array.astype(real)) for array in (facts, table, alphas))
        given = (facts, table, law, sent(menu), key, stops, alphas, real(lam))
        return Launch(kernel, threads, given, precision="single" if single else "double")
    menu, chances = sent(menu), sent(chances)
    given = (sent(facts), law, actions, menu, chances, sent(table), key, stops)
    nodes = 4 * inner_nodes(arms) + 1 if arms > 1 else 1
    room: Room = (
        ((nodes,), np.float64),
        ((nodes,), np.uint32),
        ((arms, kernels.statistics), np.float64),
        ((arms, 4), np.float64),
        ((arms,), np.uint8),
        ((max(orders, 1),), np.float64),
    )
    return Launch(far_arms(kernels, cell.jumps), THREADS, (*given, sent(alphas), lam), room)


def _linear(cell: LinearCell) -> Launch:
    kernels = cell.policy.kernels()
    _, rows, columns, facts, theta, table, key, checkpoints, alphas, *rest = cell.arguments()
    actions, d = rows.shape
    arrays = [sent(array) for array in (rows, columns, facts, theta, table)]
    given = (*arrays, key, sent(checkpoints.astype(float)), sent(alphas), *rest)
    jumps = kernels.waits and not kernels.imputes
    own, common = d * (d + 1) // 2 + 2 * actions, actions * (d + 5)
    threads = shared_threads(own, common, fewest=HALF_WARP)
    finish = partial(write_designs, given[1], given[2], rest[0])
    if jumps and threads and np.all(alphas == 1.0):
        kernel = near_linear(kernels, actions, d, threads)
        return Launch(kernel, threads, given, finish=finish)
    room: Room = (
        ((6, d, d), np.float64),
        ((6, d), np.float64),
        ((11, actions), np.float64),
        ((max(len(alphas), 1),), np.float64),
    )
    return Launch(far_linear(kernels, jumps, actions, d), THREADS, given, room, finish=finish)


@cache
def near_arms(
    kernels: OpenNames,
    arms: int,
    statistics: int,
    constants: int,
    orders: int,
    single: bool,
    threads: int,
) -> Any:
    """Return the loop that jumps from observation to observation on few arms."""
    real: Any = np.float32 if single else np.float64
    names = {"ARMS": arms, "ORDERS": orders, "REAL": real}
    leap = on_device(fitted(cuda_rounds.leap, kernels, **names), {}, single)
    room = max(orders, 1)

    def kernel(first, rows, given, tracks):  # type: ignore[no-untyped-def]
        facts = cuda.shared.array((arms, 5), real)
        table = cuda.shared.array((arms, constants), real)
        for k in range(cuda.threadIdx.x, arms * 5, cuda.blockDim.x):
            facts[k // 5, k % 5] = given[0][k // 5, k % 5]
        for k in range(cuda.threadIdx.x, arms * constants, cuda.blockDim.x):
            table[k // constants, k % constants] = given[1][k // constants, k % constants]
        cuda.syncthreads()
        row = cuda.grid(1)
        if row < rows:
            states = cuda.shared.array((arms, statistics, threads), real)
            pulleds = cuda.shared.array((arms, threads), real)
            state = states[:, :, cuda.threadIdx.x]
            pulled = pulleds[:, cuda.threadIdx.x]
            values = cuda.local.array(arms, real)
            spent = cuda.local.array(room, np.float64)
            here = (first + row, row, facts, table, state, pulled, values, spent)
            leap(*here, *given[2:], *tracks)

    return cuda.jit(kernel, fastmath=single)


@cache
def far_arms(kernels: OpenNames, jumps: bool) -> Any:
    """Return THE loop, for any policy and any number of arms."""
    once = on_device(fitted(arms_loop.play_once, kernels, JUMPS=jumps), {}, False)

    def kernel(first, rows, given, room, tracks):  # type: ignore[no-untyped-def]
        row = cuda.grid(1)
        if row < rows:
            values, winners, state = room[0][:, row], room[1][:, row], room[2][:, :, row]
            book, playable, spent = room[3][:, :, row], room[4][:, row], room[5][:, row]
            for k in range(values.size):
                values[k] = -np.inf
                winners[k] = 0
            here = (values, winners, state, book, playable, spent)
            once(first + row, row, *given, *here, *tracks)

    return cuda.jit(kernel)


@cache
def near_linear(kernels: OpenNames, actions: int, d: int, threads: int) -> Any:
    """Return the loop that jumps from observation to observation on a small set of actions."""
    leap = on_device(fitted(cuda_linear.leap, kernels, DIMENSION=d), {}, False)
    half = d * (d + 1) // 2
    real = np.float64

    def kernel(first, rows, given, tracks):  # type: ignore[no-untyped-def]
        vectors_here = cuda.shared.array((actions, d), real)
        facts = cuda.shared.array((actions, 5), real)
        for k in range(cuda.threadIdx.x, actions, cuda.blockDim.x):
            for i in range(d):
                vectors_here[k, i] = given[0][k, i]
            for i in range(5):
                facts[k, i] = given[2][k, i]
        cuda.syncthreads()
        row = cuda.grid(1)
        if row < rows:
            halves = cuda.shared.array((half, threads), real)
            means = cuda.shared.array((actions, threads), real)
            widths = cuda.shared.array((actions, threads), real)
            # Sliced by numbers known only at run time, or every loop over them is unrolled.
            size = given[3].size
            book = cuda.local.array((actions, 5), real)
            matrices = cuda.local.array((3, d, d), real)[:, :size, :size]
            vectors = cuda.local.array((2, d), real)[:, :size]
            state = (cuda.threadIdx.x, halves, means, widths, book, matrices, vectors)
            leap(first + row, row, vectors_here, facts, *state, given[1], *given[3:], *tracks)

    return cuda.jit(kernel)


@cache
def far_linear(kernels: OpenNames, jumps: bool, actions: int, d: int) -> Any:
    """Return the loop of a linear policy on any fixed set of actions."""
    largest = fitted(cuda_linear.largest_shifted, kernels)
    exchange: Exchange = {
        fixed_set.largest_index.__code__: largest,
    }
    exchange |= LATER | ridge_in_registers(d, actions)
    once = on_device(fitted(fixed_set.play_once, kernels, JUMPS=jumps), exchange, False)
    return far_kernel(once)
