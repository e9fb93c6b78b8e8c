"""Run a study."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Protocol

from halfseen import checks
from halfseen.engine import cpu, reference
from halfseen.engine.cell import Track
from halfseen.result import Result, claim
from halfseen.storage import write_cell
from halfseen.study import AnyCell, Study


class Engine(Protocol):
    """A way to play all replications of a cell."""

    def run(
        self, cell: AnyCell, track: Track, *, report: Callable[[int], None], workers: int
    ) -> None:
        """Play the cell into the track, reporting replications as they finish."""


ENGINES: dict[str, Engine] = {"cpu": cpu, "reference": reference}
Progress = Callable[[int, int, str], None]


def simulate(
    study: Study,
    *,
    engine: str = "cpu",
    workers: int | None = None,
    out: Path | str | None = None,
    progress: Progress | None = None,
) -> Result:
    """Play every cell of a study.

    Parameters
    ----------
    study
        What to run.
    engine
        ``"cpu"``, compiled and on all cores, or ``"reference"``, the same in plain Python.
    workers
        How many threads; all cores unless said otherwise. No number depends on it.
    out
        A folder to keep finished cells in. Cells found there are not played again.
    progress
        Called with the replications done, their total and the name of the cell.

    Examples
    --------
    >>> from halfseen import UCB, ArmedBandit, Study, Uniform, simulate
    >>> study = Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), UCB(), horizon=100, replications=2)
    >>> sorted(simulate(study, engine="reference").data.sizes.items())[:3]
    [('alpha', 2), ('arm', 2), ('censorship', 2)]
    """
    run = ENGINES[checks.one_of("engine", engine, ENGINES)].run
    cores = os.cpu_count() or 1
    threads = (
        cores
        if workers is None
        else checks.whole(
            "workers", workers, at_least=1, at_most=1024, fix="Leave it out to use all cores."
        )
    )
    result = Result.empty(study)
    folder = None if out is None else claim(Path(out), study)
    names = [list(study.problems), list(study.censorships), list(study.policies)]
    cells = list(study.cells())
    total = len(cells) * study.replications
    done = 0

    def report(replications: int) -> None:
        nonlocal done
        done += replications
        if progress is not None:
            progress(done, total, label)

    for position, cell in cells:
        label = " · ".join(names[axis][position[axis]] for axis in range(3))
        digest = study.cell_digest(cell)
        if folder is not None and result.read(folder, position, cell, digest):
            report(study.replications)
            continue
        report(0)
        started = time.perf_counter()
        track = result.track(position, cell)
        run(cell, track, report=report, workers=threads)
        facts = {
            "seconds": time.perf_counter() - started,
            "engine": engine,
            "versions": versions(),
        }
        result.facts[digest] = facts
        if folder is not None:
            write_cell(folder, digest, track.arrays(), facts)
    return result


def versions() -> dict[str, str]:
    """Return the versions of what computes the numbers."""
    packages = ("halfseen", "numpy", "numba")
    return {"python": platform.python_version()} | {p: metadata.version(p) for p in packages}
