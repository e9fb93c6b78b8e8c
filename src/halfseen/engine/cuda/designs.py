"""What tracks tell of the two designs, computed on a GPU after the rounds.

At a checkpoint a loop over a fixed set of actions leaves how often each was pulled and seen. The
designs follow from that, so their eigenvalues need not hold up the threads that play.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.engine.cuda.compile import Exchange, on_device
from halfseen.engine.cuda.launch import THREADS, shared_threads
from halfseen.engine.loops.designs import record_design, record_designs
from halfseen.engine.loops.feedback import HALF_RATE

FEWEST = 8  # threads of a block that still pay
MOST_LANES = 1 << 15  # threads that work on matrices too large for shared memory


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
    one = on_device(record, {}, False)

    if d:

        def kernel(jobs, columns, facts, regularization, room, tracks):  # type: ignore[no-untyped-def]
            job = cuda.grid(1)
            if job < jobs:
                size = columns.shape[0]  # not d, or every loop is unrolled
                matrix = cuda.shared.array((d, d, threads), np.float64)[
                    :size, :size, cuda.threadIdx.x
                ]
                one(job, columns, facts, regularization, matrix, *tracks)

    else:

        def kernel(jobs, columns, facts, regularization, room, tracks):  # type: ignore[no-untyped-def]
            lane = cuda.grid(1)
            for job in range(lane, jobs, cuda.gridsize(1)):
                one(job, columns, facts, regularization, room[:, :, lane], *tracks)

    return cuda.jit(kernel)


def record(
    job: int,
    columns: Vector,
    facts: Vector,
    regularization: float,
    matrix: Vector,
    pulls: NDArray[Any],
    observations: NDArray[Any],
    spread: Vector,
    eigenvalues: Vector,
) -> None:
    """Write log det W - d log lambda and the eigenvalues of both designs, from the counts."""
    d, actions = columns.shape
    row, checkpoint = job // pulls.shape[1], job % pulls.shape[1]
    for which in range(2):
        for i in range(d):
            for j in range(i + 1):
                matrix[i, j] = regularization if i == j else 0.0
        for k in range(actions):
            weight = float(observations[row, checkpoint, k])
            if which == 1:
                weight = 2.0 * facts[k, HALF_RATE] * pulls[row, checkpoint, k]
            if weight > 0.0:
                for i in range(d):
                    for j in range(i + 1):
                        matrix[i, j] += weight * (columns[i, k] * columns[j, k])
        spread[row, checkpoint, which] = record_design(
            matrix, regularization, matrix, eigenvalues[row, checkpoint, which]
        )


def leave_designs(
    observed: Vector,
    expected: Vector,
    regularization: float,
    scratch: Vector,
    spreads: Vector,
    eigenvalues: Vector,
) -> None:
    """Leave what `halfseen.engine.loops.designs.record_designs` writes to `record`."""


LATER: Exchange = {record_designs.__code__: leave_designs}
