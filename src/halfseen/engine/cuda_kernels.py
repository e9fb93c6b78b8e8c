"""What a GPU launches: one thread plays one replication.

*Near* kernels keep what a thread works on in shared memory, registers and local memory, of sizes
the compiler knows. They are for few arms or small sets of actions. *Far* kernels work on arrays in
the GPU's memory, laid out with the thread as the last index, and know no limit but its size.

Every kernel takes the number of the first replication, how many there are, and tuples of arrays:
what is given, the room to work in (far kernels only) and the tracks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numba import cuda

from halfseen.engine import cuda_linear, cuda_rounds, linear_rounds, rounds
from halfseen.engine.cell import Cell
from halfseen.engine.cuda_functions import Exchange, on_device
from halfseen.engine.linear_cell import LinearCell
from halfseen.engine.specialise import OpenNames, fitted
from halfseen.engine.tournament import inner_nodes

Room = tuple[tuple[tuple[int, ...], Any], ...]
SHARED = 48 * 1024  # bytes a block may declare
THREADS = 128
FEWEST = 8  # threads of a block that still pay: half a warp and less stands idle
MOST_LANES = 1 << 15  # threads that work on matrices too large for shared memory
COUNTED = 2**24  # whole numbers up to this are exact in single precision


@dataclass(frozen=True)
class Launch:
    """A kernel with what it is given.

    Attributes
    ----------
    kernel
        Called as ``kernel[blocks, threads](first, rows, given, room, tracks)``, without the room
        if there is none.
    threads
        Threads a block.
    given
        The arguments that are the same for every replication, on the device.
    room
        Shape and type of every array one replication works in.
    precision
        ``"double"`` or ``"single"``.
    finish
        Called with the number of rows and the tracks after the kernel, for what it left open.
    """

    kernel: Any
    threads: int
    given: tuple[Any, ...]
    room: Room = ()
    precision: str = "double"
    finish: Callable[[int, tuple[Any, ...]], None] | None = None

    @property
    def room_bytes(self) -> int:
        """How much memory one replication works in."""
        return sum(int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in self.room)


def launch(cell: Cell | LinearCell, single: bool = False) -> Launch:
    """Return how to play a cell.

    Single precision is taken where it is allowed, faster and exact in its counts: by the near
    kernel of arms up to a horizon of 2**24.
    """
    return _linear(cell) if isinstance(cell, LinearCell) else _arms(cell, single)


def _arms(cell: Cell, single: bool) -> Launch:
    kernels = cell.policy.kernels()
    _, facts, law, actions, menu, chances, table, key, checkpoints, alphas, lam = cell.arguments()
    single = single and cell.jumps and cell.horizon <= COUNTED
    real: Any = np.float32 if single else np.float64
    arms, constants, orders = cell.groups, table.shape[1], len(alphas)
    stops = _sent(checkpoints.astype(float))
    own, common = arms * (kernels.statistics + 1), arms * (5 + constants)
    threads = shared_threads(own, common, real) if cell.jumps else 0
    if threads:
        kernel = near_arms(kernels, arms, kernels.statistics, constants, orders, single, threads)
        facts, table, alphas = (_sent(array.astype(real)) for array in (facts, table, alphas))
        given = (facts, table, law, _sent(menu), key, stops, alphas, real(lam))
        return Launch(kernel, threads, given, precision="single" if single else "double")
    menu, chances = _sent(menu), _sent(chances)
    given = (_sent(facts), law, actions, menu, chances, _sent(table), key, stops)
    nodes = 4 * inner_nodes(arms) + 1 if arms > 1 else 1
    room: Room = (
        ((nodes,), np.float64),
        ((nodes,), np.uint32),
        ((arms, kernels.statistics), np.float64),
        ((arms, 4), np.float64),
        ((arms,), np.uint8),
        ((max(orders, 1),), np.float64),
    )
    return Launch(far_arms(kernels, cell.jumps), THREADS, (*given, _sent(alphas), lam), room)


def _linear(cell: LinearCell) -> Launch:
    kernels = cell.policy.kernels()
    _, rows, columns, facts, theta, table, key, checkpoints, alphas, *rest = cell.arguments()
    actions, d = rows.shape
    arrays = [_sent(array) for array in (rows, columns, facts, theta, table)]
    given = (*arrays, key, _sent(checkpoints.astype(float)), _sent(alphas), *rest)
    jumps = kernels.waits and not kernels.imputes
    own, common = d * (d + 1) // 2 + 2 * actions, actions * (d + 5)
    threads = shared_threads(own, common, fewest=FEWEST)
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
    return Launch(far_linear(kernels, jumps), THREADS, given, room, finish=finish)


def shared_threads(own: int, common: int, real: Any = np.float64, *, fewest: int = 32) -> int:
    """Return how many threads of a block find room in shared memory, 0 if too few do.

    A thread needs `own` numbers to itself and all of them `common` ones together.
    """
    for threads in (128, 64, 32, 16, 8):
        if threads < fewest:
            break
        if (own * threads + common) * np.dtype(real).itemsize <= SHARED:
            return threads
    return 0


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
    once = on_device(fitted(rounds.play_once, kernels, JUMPS=jumps), {}, False)

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
def far_linear(kernels: OpenNames, jumps: bool) -> Any:
    """Return the loop of a linear policy on any fixed set of actions."""
    largest = fitted(cuda_linear.largest_shifted, kernels)
    exchange: Exchange = {
        ("halfseen.engine.linear_rounds", "largest_index"): largest,
        ("halfseen.engine.designs", "record_designs"): cuda_linear.leave_designs,
    }
    once = on_device(fitted(linear_rounds.play_once, kernels, JUMPS=jumps), exchange, False)

    def kernel(first, rows, given, room, tracks):  # type: ignore[no-untyped-def]
        row = cuda.grid(1)
        if row < rows:
            matrices, vectors = room[0][:, :, :, row], room[1][:, :, row]
            lists, spent = room[2][:, :, row], room[3][:, row]
            once(first + row, row, *given, matrices, vectors, lists, spent, *tracks)

    return cuda.jit(kernel)


def write_designs(
    columns: Any, facts: Any, regularization: float, rows: int, tracks: tuple[Any, ...]
) -> None:
    """Write what linear tracks tell of the designs, one thread a checkpoint of a replication."""
    _, pulls, observations, *_, spread, eigenvalues = tracks
    jobs, d = rows * pulls.shape[1], columns.shape[0]
    threads = shared_threads(d * d, 0, fewest=FEWEST)
    lanes = THREADS * -(-min(jobs, MOST_LANES) // THREADS)
    room = cuda.device_array((d, d, 1 if threads else lanes), np.float64)
    kernel = designs(d if threads else 0, threads)
    blocks = -(-jobs // threads) if threads else lanes // THREADS
    kernel[blocks, threads or THREADS](
        jobs, columns, facts, regularization, room, (pulls, observations, spread, eigenvalues)
    )


@cache
def designs(d: int, threads: int) -> Any:
    """Return the kernel of `write_designs`, in shared memory if a dimension is given."""
    record = on_device(cuda_linear.record, {}, False)

    if d:

        def kernel(jobs, columns, facts, regularization, room, tracks):  # type: ignore[no-untyped-def]
            job = cuda.grid(1)
            if job < jobs:
                size = columns.shape[0]  # not d, or every loop is unrolled
                matrix = cuda.shared.array((d, d, threads), np.float64)[
                    :size, :size, cuda.threadIdx.x
                ]
                record(job, columns, facts, regularization, matrix, *tracks)

    else:

        def kernel(jobs, columns, facts, regularization, room, tracks):  # type: ignore[no-untyped-def]
            lane = cuda.grid(1)
            for job in range(lane, jobs, cuda.gridsize(1)):
                record(job, columns, facts, regularization, room[:, :, lane], *tracks)

    return cuda.jit(kernel)


def _sent(array: Any) -> Any:
    return cuda.to_device(np.ascontiguousarray(array))
