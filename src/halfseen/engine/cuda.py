"""The cuda engine: the same kernels compiled for a GPU, one thread a replication."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from halfseen.engine import cuda_rounds, linear_rounds
from halfseen.engine.cell import Cell, Track
from halfseen.engine.cuda_functions import on_device, ridge_in_registers
from halfseen.engine.linear_cell import LinearCell
from halfseen.engine.specialise import OpenNames, fitted

THREADS = 128
BATCH = 1 << 18  # replications a launch


@cache
def arms_kernel(
    kernels: OpenNames,
    arms: int,
    statistics: int,
    constants: int,
    orders: int,
    single: bool,
    threads: int,
    registers: int | None = None,
) -> Any:
    """Return the launchable loop of a policy on so many arms."""
    real = np.float32 if single else np.float64
    loop = fitted(cuda_rounds.leap, kernels, ARMS=arms, ORDERS=orders, REAL=real)
    leap = on_device(loop, {}, single)
    room = max(orders, 1)

    def kernel(
        first,
        rows,
        facts_given,
        law,
        menu,
        table_given,
        key,
        checkpoints,
        alphas,
        regularization,
        regret,
        pulls,
        observations,
        potential,
        optimism_failed,
        censoring_failed,
    ):
        facts = cuda.shared.array((arms, 5), real)
        table = cuda.shared.array((arms, constants), real)
        for k in range(cuda.threadIdx.x, arms * 5, cuda.blockDim.x):
            facts[k // 5, k % 5] = facts_given[k // 5, k % 5]
        for k in range(cuda.threadIdx.x, arms * constants, cuda.blockDim.x):
            table[k // constants, k % constants] = table_given[k // constants, k % constants]
        cuda.syncthreads()
        row = cuda.grid(1)
        if row < rows:
            states = cuda.shared.array((arms, statistics, threads), real)
            pulleds = cuda.shared.array((arms, threads), real)
            state = states[:, :, cuda.threadIdx.x]
            pulled = pulleds[:, cuda.threadIdx.x]
            values = cuda.local.array(arms, real)
            spent = cuda.local.array(room, np.float64)
            leap(
                first + row,
                row,
                facts,
                law,
                menu,
                table,
                key,
                checkpoints,
                alphas,
                regularization,
                state,
                pulled,
                values,
                spent,
                regret,
                pulls,
                observations,
                potential,
                optimism_failed,
                censoring_failed,
            )

    return cuda.jit(kernel, fastmath=single, **({"max_registers": registers} if registers else {}))


@cache
def linear_kernel(
    kernels: OpenNames,
    actions: int,
    d: int,
    orders: int,
    registers: int | None = None,
) -> Any:
    """Return the launchable loop of a linear policy on a fixed set of actions."""
    loop = fitted(linear_rounds.play_once, kernels, JUMPS=kernels.waits and not kernels.imputes)
    largest = fitted(cuda_rounds.running_largest, kernels)
    exchange = ridge_in_registers(d, actions) | {
        ("halfseen.engine.linear_rounds", "largest_index"): largest
    }
    once = on_device(loop, exchange, False)
    room = max(orders, 1)
    real = np.float64

    def kernel(
        first,
        rows,
        actions_given,
        columns_given,
        facts_given,
        theta,
        table,
        key,
        stops,
        alphas,
        regularization,
        censoring_factor,
        regret,
        pulls,
        observations,
        potential,
        optimism_failed,
        censoring_failed,
        spread,
        eigenvalues,
    ):
        vectors_here = cuda.shared.array((actions, d), real)
        columns = cuda.shared.array((d, actions), real)
        facts = cuda.shared.array((actions, 5), real)
        for k in range(cuda.threadIdx.x, actions, cuda.blockDim.x):
            for i in range(d):
                vectors_here[k, i] = actions_given[k, i]
                columns[i, k] = columns_given[i, k]
            for i in range(5):
                facts[k, i] = facts_given[k, i]
        cuda.syncthreads()
        row = cuda.grid(1)
        if row < rows:
            # Sliced by numbers known only at run time, or every loop over them is unrolled.
            size = theta.size
            matrices = cuda.local.array((6, d, d), real)[:, :size, :size]
            vectors = cuda.local.array((6, d), real)[:, :size]
            lists = cuda.local.array((11, actions), real)[:, : actions_given.shape[0]]
            spent = cuda.local.array(room, real)
            once(
                first + row,
                row,
                vectors_here,
                columns,
                facts,
                theta,
                table,
                key,
                stops,
                alphas,
                regularization,
                censoring_factor,
                matrices,
                vectors,
                lists,
                spent,
                regret,
                pulls,
                observations,
                potential,
                optimism_failed,
                censoring_failed,
                spread,
                eigenvalues,
            )

    return cuda.jit(kernel, **({"max_registers": registers} if registers else {}))


def prepared_linear(cell, registers=None):
    """Return the kernel and its arguments between the rows and the tracks."""
    kernels = cell.policy.kernels()
    _, rows, columns, facts, theta, table, key, checkpoints, alphas, lam, factor = cell.arguments()
    kernel = linear_kernel(kernels, *rows.shape, len(alphas), registers)
    arrays = [cuda.to_device(np.ascontiguousarray(a)) for a in (rows, columns, facts, theta, table)]
    ends = cuda.to_device(checkpoints.astype(float))
    return kernel, (*arrays, key, ends, cuda.to_device(alphas), lam, factor)


def prepared(cell, single, threads=128, registers=None):
    """Return the kernel and its arguments between the rows and the tracks."""
    real = np.float32 if single else np.float64
    kernels = cell.policy.kernels()
    _, facts, law, _, menu, _, table, key, checkpoints, alphas, lam = cell.arguments()
    kernel = arms_kernel(
        kernels,
        cell.groups,
        kernels.statistics,
        table.shape[1],
        len(alphas),
        single,
        threads,
        registers,
    )
    facts, table, alphas = (cuda.to_device(a.astype(real)) for a in (facts, table, alphas))
    ends = cuda.to_device(checkpoints.astype(float))
    return kernel, (facts, law, cuda.to_device(menu), table, key, ends, alphas, real(lam))


def run(
    cell: Cell,
    track: Track,
    *,
    report: Callable[[int], None],
    workers: int = 1,
    single: bool = False,
) -> None:
    """Play every replication of the cell into the track."""
    if isinstance(cell, LinearCell):
        kernel, arguments = prepared_linear(cell)
    else:
        kernel, arguments = prepared(cell, single)
    replications = len(track.regret)
    batch = min(BATCH, replications)
    room = [
        cuda.device_array((batch, *array.shape[1:]), array.dtype, order="F")
        for array in track.arrays().values()
    ]
    for first in range(0, replications, batch):
        rows = min(batch, replications - first)
        kernel[-(-rows // THREADS), THREADS](first, rows, *arguments, *room)
        for source, target in zip(room, track.rows(first, first + rows), strict=True):
            target[...] = source.copy_to_host()[:rows]
        report(rows)
