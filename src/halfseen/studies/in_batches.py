"""Simulate a study a few replications at a time, for live display."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from halfseen.engine.backends import cpu
from halfseen.engine.player import blank_track
from halfseen.studies.simulate import compiled_ahead
from halfseen.studies.study import Study

FIRST = 2  # replications, the fewest that have an interval


def regret_in_batches(study: Study, seconds: float) -> Iterator[NDArray[np.float64]]:
    """Yield the regret of a study's first problem and censorship after ever more replications.

    The numbers are those of `halfseen.simulate`, whatever the batches.

    Parameters
    ----------
    study
        What to play.
    seconds
        How long a batch may take, by the speed of the one before; a replication is never cut.

    Yields
    ------
    NDArray
        The regret by policy, replication and checkpoint; the last one has all replications.
    """
    cells = [cell for (problem, censorship, _), cell in study.cells() if problem == censorship == 0]
    workers = cpu.cores()
    regret = np.empty((len(cells), 0, len(study.rounds_recorded)))
    size = FIRST
    with compiled_ahead("cpu", workers, cells) as settle:
        while (done := regret.shape[1]) < study.replications:
            size = min(size, study.replications - done)
            started = time.perf_counter()
            tracks = [blank_track(cell, size) for cell in cells]
            for cell, track in zip(cells, tracks, strict=True):
                settle(cell)
                cpu.run(cell, track, report=lambda _: None, workers=workers, start=done)
            each = (time.perf_counter() - started) / size
            regret = np.concatenate([regret, np.stack([t.regret for t in tracks])], axis=1)
            yield regret
            size = max(1, min(int(seconds / each), regret.shape[1]))
