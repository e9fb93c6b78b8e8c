"""The cpu engine: the same loop and kernels compiled, on all cores."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from halfseen.engine.arguments import Track
from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.player import player
from halfseen.engine.specialise import compiled

CHUNK_SECONDS = 0.25


def cores() -> int:
    """Return the number of cores this process may use, as a batch system may have fewer for it."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(
    cell: Cell | LinearCell,
    track: Track,
    *,
    report: Callable[[int], None],
    workers: int,
    start: int = 0,
) -> None:
    """Play the replications from `start` on into the track, as many as it has rows.

    Replications go to the workers in chunks of about a quarter of a second, so that progress
    shows and an interruption is heard. No number depends on the workers or the chunks.
    """
    play = player(cell, compiled)
    replications = len(track.regret)

    def chunk(first: int, last: int) -> tuple[int, float]:
        started = time.perf_counter()
        play(start + first, start + last, track, start)
        return last - first, time.perf_counter() - started

    ahead = min(2, replications)
    for row in range(ahead):  # the first compiles, the second tells the speed
        done, seconds = chunk(row, row + 1)
        report(done)
    with ThreadPoolExecutor(workers) as pool:
        running: set[Future[tuple[int, float]]] = set()
        try:
            while ahead < replications or running:
                size = max(1, math.floor(CHUNK_SECONDS * done / max(seconds, 1e-9)))
                size = min(size, max(1, math.ceil((replications - ahead) / workers)))
                while ahead < replications and len(running) < 2 * workers:
                    last = min(ahead + size, replications)
                    running.add(pool.submit(chunk, ahead, last))
                    ahead = last
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    done, seconds = future.result()
                    report(done)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
