"""The recorded properties of the two designs, computed on a GPU after the rounds.

At a checkpoint a loop over a fixed set of actions records how often each was pulled and observed.
The designs are computed from these counts afterwards, so that eigenvalues do not delay the threads
that play.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from halfseen.checks import Vector
from halfseen.engine.arguments import FixedWorld, LinearTrack
from halfseen.engine.cuda.compile import Exchange, on_device
from halfseen.engine.cuda.launch import THREADS, shared_threads
from halfseen.engine.loops.designs import record_design
from halfseen.engine.loops.feedback import HALF_RATE
from halfseen.engine.loops.fixed_set import record_both

FEWEST = 8  # fewest threads per block for which shared memory is worth using
MOST_LANES = 1 << 15  # most threads when matrices do not fit in shared memory


def write_designs(world: FixedWorld, rows: int, track: LinearTrack) -> None:
    """Write the designs of a linear track, one thread per checkpoint of a replication."""
    jobs, d = rows * track.regret.shape[1], world.theta.size
    threads = shared_threads(d * d, 0, fewest=FEWEST)
    lanes = THREADS * -(-min(jobs, MOST_LANES) // THREADS)
    scratch = cuda.device_array((d, d, 1 if threads else lanes), np.float64)
    kernel = designs(d if threads else 0, threads)
    blocks = -(-jobs // threads) if threads else lanes // THREADS
    kernel[blocks, threads or THREADS](jobs, world, scratch, track)


@cache
def designs(d: int, threads: int) -> Any:
    """Return the kernel of `write_designs`, in shared memory if a dimension is given."""
    one = on_device(record, {}, False)

    if d:

        def kernel(jobs, world, scratch, track):  # type: ignore[no-untyped-def]
            job = cuda.grid(1)
            if job < jobs:
                size = world.theta.size  # not d, to prevent loop unrolling
                matrix = cuda.shared.array((d, d, threads), np.float64)[
                    :size, :size, cuda.threadIdx.x
                ]
                one(job, world, matrix, track)

    else:

        def kernel(jobs, world, scratch, track):  # type: ignore[no-untyped-def]
            lane = cuda.grid(1)
            for job in range(lane, jobs, cuda.gridsize(1)):
                one(job, world, scratch[:, :, lane], track)

    return cuda.jit(kernel)


def record(job: int, world: FixedWorld, matrix: Vector, track: LinearTrack) -> None:
    """Write log det W - d log lambda and the eigenvalues of both designs, from the counts."""
    columns, regularization = world.columns, world.regularization
    d, actions = columns.shape
    row, checkpoint = job // track.pulls.shape[1], job % track.pulls.shape[1]
    for which in range(2):
        for i in range(d):
            for j in range(i + 1):
                matrix[i, j] = regularization if i == j else 0.0
        for k in range(actions):
            weight = float(track.observations[row, checkpoint, k])
            if which == 1:
                weight = 2.0 * world.arm_constants[k, HALF_RATE] * track.pulls[row, checkpoint, k]
            if weight > 0.0:
                for i in range(d):
                    for j in range(i + 1):
                        matrix[i, j] += weight * (columns[i, k] * columns[j, k])
        track.spread[row, checkpoint, which] = record_design(
            matrix, regularization, matrix, track.eigenvalues[row, checkpoint, which]
        )


def leave_designs(world: FixedWorld, work: Any, track: LinearTrack, row: int, k: int) -> None:
    """Do nothing: `record` writes later what `fixed_set.record_both` writes on a cpu."""


LATER: Exchange = {record_both.__code__: leave_designs}
