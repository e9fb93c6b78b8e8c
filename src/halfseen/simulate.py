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
from halfseen.engine.cell import Cell, Track
from halfseen.errors import InvalidInput
from halfseen.result import Result, read_study, write_study
from halfseen.storage import write_cell
from halfseen.study import Study


class Engine(Protocol):
    """A way to play all replications of a cell."""

    def run(self, cell: Cell, track: Track, *, report: Callable[[int], None], workers: int) -> None:
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
    threads = checks.whole("workers", workers or os.cpu_count() or 1, at_least=1)
    folder = None if out is None else claim(Path(out), study)
    result = Result.empty(study)
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
        if folder is not None and result.read(folder, position, cell.problem.arms, digest):
            report(study.replications)
            continue
        report(0)
        started = time.perf_counter()
        track = result.track(position, cell.problem.arms)
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


def claim(folder: Path, study: Study) -> Path:
    """Make a folder this study's own, or refuse if it holds something else."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInput("out", "must be a folder", str(folder), "Choose another name.")
    present = read_study(folder)
    if present is not None and present.digest() != study.digest():
        raise InvalidInput(
            "out",
            "must be a new folder or hold results of this same study",
            f"{folder}, which holds another study's results",
            "Choose another folder or delete that one.",
        )
    if present is None:
        if folder.exists() and any(folder.iterdir()):
            raise InvalidInput(
                "out",
                "must be a new or empty folder",
                f"{folder}, which holds other files",
                "Choose another folder.",
            )
        write_study(folder, study)
    return folder


def versions() -> dict[str, str]:
    """Return the versions of what computes the numbers."""
    packages = ("halfseen", "numpy", "numba")
    return {"python": platform.python_version()} | {p: metadata.version(p) for p in packages}
