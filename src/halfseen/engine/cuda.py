"""The cuda engine: the same kernels compiled for a GPU, one thread a replication."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numba import cuda

from halfseen import draws
from halfseen.draws import Stream
from halfseen.engine import cuda_rounds
from halfseen.engine.cell import Cell, Track
from halfseen.engine.specialise import OpenNames, fitted

THREADS = 128
BATCH = 1 << 18  # replications a launch


def short_unit(high: int, low: int) -> float:
    """Return a multiple of 2**-24 in [0, 1[ from one word."""
    return np.float32(np.int32(high >> 8)) * np.float32(2.0**-24)


def short_open_unit(word: int) -> float:
    """Return a number in ]0, 1] from one word."""
    return (np.float32(np.uint32(word)) + np.float32(0.5)) * np.float32(2.0**-32)


def short_normal(high: int, low: int, stream: Stream, count: int, arm: int) -> float:
    """Return a standard normal number from two words (Box and Muller), without a branch."""
    turn = np.float32(2.0 * math.pi) * short_unit(low, high)
    return math.sqrt(np.float32(-2.0) * math.log(short_open_unit(high))) * math.cos(turn)


def short_exponential(high: int, low: int, stream: Stream, count: int, arm: int) -> float:
    """Return a standard exponential number from one word."""
    return -math.log(short_open_unit(high))


def wide_philox(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> tuple[int, int, int, int]:
    """Return what `draws.philox` does, in types that tell the compiler 32 bits from 64."""
    x0, x1, x2, x3 = np.uint32(c0), np.uint32(c1), np.uint32(c2), np.uint32(c3)
    for _ in range(10):
        a = np.uint64(x0) * np.uint64(0xD2511F53)
        b = np.uint64(x2) * np.uint64(0xCD9E8D57)
        x0 = np.uint32(b >> np.uint64(32)) ^ x1 ^ np.uint32(k0)
        x1 = np.uint32(b & np.uint64(0xFFFFFFFF))
        x2 = np.uint32(a >> np.uint64(32)) ^ x3 ^ np.uint32(k1)
        x3 = np.uint32(a & np.uint64(0xFFFFFFFF))
        k0 = (k0 + 0x9E3779B9) & 0xFFFFFFFF
        k1 = (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return int(x0), int(x1), int(x2), int(x3)


WIDE = {draws.philox: wide_philox}
SHORT = {
    draws.unit: short_unit,
    draws.normal_from: short_normal,
    draws.exponential_from: short_exponential,
}


def device_function(function: FunctionType, made: dict[Any, Any], single: bool) -> Any:
    """Return a function, and all it can reach, compiled for the device."""
    if function not in made:
        names = dict(function.__globals__)
        for name in function.__code__.co_names:
            value = names.get(name)
            if isinstance(value, FunctionType):
                value = SHORT.get(value, value) if single else value
                value = WIDE.get(value, value)
                names[name] = device_function(value, made, single)
            elif isinstance(value, np.ndarray):
                names[name] = cuda.to_device(value.astype(np.float32) if single else value)
            elif single and isinstance(value, float):
                names[name] = np.float32(value)
        code = function.__code__
        if single:
            code = code.replace(
                co_consts=tuple(np.float32(c) if type(c) is float else c for c in code.co_consts)
            )
        copy = FunctionType(code, names, function.__name__, function.__defaults__)
        made[function] = cuda.jit(device=True, fastmath=single)(copy)
    return made[function]


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
    largest = fitted(cuda_rounds.largest, kernels, ARMS=arms)
    loop.__globals__["largest"] = largest
    leap = device_function(loop, {}, single)
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


def prepared(cell, single, threads=128, registers=None):
    """Return the kernel and its arguments between the rows and the tracks."""
    real = np.float32 if single else np.float64
    kernels = cell.policy.kernels()
    _, facts, law, _, menu, _, table, key, checkpoints, alphas, lam = cell.arguments()
    kernel = arms_kernel(
        kernels, cell.groups, kernels.statistics, table.shape[1], len(alphas), single, threads, registers
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
