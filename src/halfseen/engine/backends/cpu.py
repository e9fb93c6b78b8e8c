"""The cpu engine: the same loop and kernels compiled, on all cores."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from halfseen.engine.arguments import Track
from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.crew import Crew
from halfseen.engine.player import player
from halfseen.engine.specialise import compiled

CHUNK_SECONDS = 0.25


def cores() -> int:
    """Return the number of cores this process may use, which a batch system may limit."""
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

    Replications are given to the workers in chunks of about a quarter of a second, so that progress
    is visible. An interruption takes effect immediately, even within a replication or during
    compilation. No number depends on the workers or the chunks.
    """
    stop = np.zeros(1, np.uint8)
    replications = len(track.regret)
    crew = Crew(workers)

    def chunk(play: Callable[..., None], first: int, last: int) -> tuple[int, float]:
        started = time.perf_counter()
        play(start + first, start + last, track, start)
        return last - first, time.perf_counter() - started

    try:
        play = crew.run(partial(player, cell, compiled, stop=stop))
        crew.run(partial(play, start, start, track, start))  # compiles and plays nothing
        report(0)
        ahead = min(2, replications)
        for row in range(ahead):  # the second chunk measures the speed
            done, seconds = crew.run(partial(chunk, play, row, row + 1))
            report(done)
        running = 0
        while ahead < replications or running:
            size = max(1, math.floor(CHUNK_SECONDS * done / max(seconds, 1e-9)))
            size = min(size, max(1, math.ceil((replications - ahead) / workers)))
            while ahead < replications and running < 2 * workers:
                last = min(ahead + size, replications)
                crew.submit(partial(chunk, play, ahead, last))
                ahead = last
                running += 1
            done, seconds = crew.result()
            running -= 1
            report(done)
    except BaseException:
        stop[0] = 1
        raise
    finally:
        crew.close()
