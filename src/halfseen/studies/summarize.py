"""Studies too large to store: statistics of every checkpoint, in constant memory.

Replications are played in batches, and each batch is reduced to means, variances, extremes and
histograms. No number depends on the batches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.display import Tabular
from halfseen.engine.backends import dask as cluster
from halfseen.engine.compile_watch import watching
from halfseen.engine.cuda import run as cuda
from halfseen.engine.player import blank_track
from halfseen.engine.reduce import BINNED, BINS, Fold, Part, Span, quantile_of
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput, StorageError
from halfseen.studies.compile_time import CompileTime
from halfseen.studies.folder import not_all_there, optional_folder, stored_study
from halfseen.studies.partial_summary import Draft, draft_of
from halfseen.studies.simulate import (
    Progress,
    Settling,
    cell_name,
    check_progress,
    chosen_engine,
    compiled_ahead,
    thread_count,
    versions,
)
from halfseen.studies.storage import SUMMARIES, read_cell, write_cell
from halfseen.studies.student_intervals import half_widths
from halfseen.studies.study import AnyCell, Position, Study
from halfseen.tables import Table, table

BATCH_BYTES, BATCH_SECONDS = 1 << 28, 30.0
DEVICE_BYTES = 1 << 33  # bytes of a batch on a GPU; one with less memory splits it
Play = Callable[..., tuple[Part, str]]


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Tabular, ByValue):
    """The statistics that `summarize` keeps of a study.

    Attributes
    ----------
    study
        What was run.
    arrays
        For every cell, by position: ``regret_mean``, ``regret_square`` (the sum of squared
        deviations), ``regret_least``, ``regret_largest`` with one row per checkpoint, the same of
        ``potential``, ``pulls``, ``observations`` and, with late feedback, ``pending``, and
        ``regret_histogram`` and ``potential_histogram``, whose last axis are the bins of `bin_of`.
    facts
        For every cell, by digest: seconds, engine, precision and versions.
    """

    study: Study
    arrays: dict[Position, dict[str, NDArray[Any]]]
    facts: dict[str, dict[str, Any]] = field(compare=False)

    def variance(self, position: Position, name: str) -> NDArray[Any]:
        """Return the variance over replications, at every checkpoint; NaN of a single one."""
        square, count = self.arrays[position][f"{name}_square"], self.study.replications
        return square / (count - 1) if count > 1 else np.full(square.shape, np.nan)

    def quantile(self, position: Position, name: str, share: float) -> NDArray[Any]:
        """Return a quantile of the regret or the potential at every checkpoint, within 1%."""
        share = checks.number("share", share, at_least=0.0, at_most=1.0)
        arrays, name = self.arrays[position], checks.one_of("name", name, BINNED)
        histogram = arrays[f"{name}_histogram"]
        values = [quantile_of(counts, share) for counts in histogram.reshape(-1, BINS)]
        found = np.array(values).reshape(histogram.shape[:-1])
        return np.clip(found, arrays[f"{name}_least"], arrays[f"{name}_largest"])

    def _headline(self) -> str:
        return f"{self.study.size}; moments and quantiles, see .table()"

    def _details(self) -> list[str | Table]:
        return [self.table()]

    def table(self) -> Table:
        """Return regret at the horizon, its spread and what was seen, one row per cell."""
        records = []
        count, late = self.study.replications, self.study.late
        for position, _ in self.study.cells():
            arrays = self.arrays[position]
            error = math.sqrt(float(self.variance(position, "regret")[-1]) / count)
            quantiles = {
                f"{share:.0%}": float(self.quantile(position, "regret", share)[-1])
                for share in (0.05, 0.5, 0.95)
            }
            seen = float(arrays["observations_mean"][-1].sum() / self.study.horizon)
            unseen = {}
            if late:
                pending = 0.0
                if "pending_mean" in arrays:
                    pending = float(arrays["pending_mean"][-1].sum() / self.study.horizon)
                unseen = {"share pending": pending, "share lost": max(0.0, 1.0 - seen - pending)}
            records.append(
                {
                    "cell": cell_name(self.study, position),
                    "regret": float(arrays["regret_mean"][-1]),
                    "± 95%": half_widths(error, count) if count > 1 else None,
                    "least": float(arrays["regret_least"][-1]),
                    **quantiles,
                    "largest": float(arrays["regret_largest"][-1]),
                    "share seen": seen,
                    **unseen,
                }
            )
        return table(records)

    @staticmethod
    def load(folder: Path | str, study: Study | None = None) -> Summary:
        """Read what `summarize` wrote; a study with Python functions must be given again."""
        folder = Path(folder)
        study = stored_study(folder, study)
        if study is None:
            raise StorageError(f"{folder} holds no study. Run `halfseen study --summary` into it.")
        found, fingerprints = Summary(study, {}, {}), study.fingerprints()
        for position, cell in study.cells():
            if not _read(found, folder / SUMMARIES, position, cell, fingerprints.cells[position]):
                again = "Run the same command again"
                raise not_all_there(folder, fingerprints, "summary", again)
        return found


def summarize(
    study: Study,
    *,
    engine: str = "cpu",
    precision: str = "double",
    workers: int | None = None,
    scheduler: str | None = None,
    out: Path | str | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Play every cell of a study and keep only moments, extremes and quantiles.

    Memory does not depend on the number of replications. The parameters are those of `simulate`.
    With `out`, partial results of a cell are written there every few seconds. Quantiles are within
    1%: values are counted in bins whose edges have a ratio of 1.01 / 0.99.

    Examples
    --------
    >>> from halfseen import UCB, ArmedBandit, Study, Uniform, summarize
    >>> study = Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), UCB(), horizon=100, replications=3)
    >>> summarize(study, engine="reference").table().columns[1:4]
    ('regret', '± 95%', 'least')
    """
    threads = thread_count(workers, scheduler)
    check_progress(progress)
    engine, run = chosen_engine(study, engine, precision, scheduler)
    if study.stop is not None:
        raise InvalidInput(
            "Study.stop",
            "must be left out of a summary, which keeps no winners",
            study.stop,
            "Leave it out, or use `simulate`.",
        )
    part: Play = partial(_reduced_here, run, threads)
    room = BATCH_BYTES
    if engine == "cuda":
        part, room = partial(cuda.played_part, single=precision == "single"), DEVICE_BYTES
    found, fingerprints = Summary(study, {}, {}), study.fingerprints()
    with optional_folder(out, study, precision, fingerprints) as reserved:
        folder = None if reserved is None else reserved / SUMMARIES
        on_cluster = (scheduler, threads) if engine == "dask" else None
        play = partial(_play, part, room)
        ahead = partial(compiled_ahead, engine, threads)
        _fill(found, fingerprints.cells, engine, folder, play, on_cluster, ahead, progress)
    return found


def _fill(
    found: Summary,
    digests: dict[Position, str],
    engine: str,
    folder: Path | None,
    play: Callable[..., None],
    on_cluster: tuple[str | None, int] | None,
    ahead: Callable[[list[AnyCell]], Settling],
    progress: Progress | None,
) -> None:
    """Read what a folder holds of a summary and play the rest."""
    study = found.study
    total = len(digests) * study.replications
    done = 0
    started = time.perf_counter()
    clock = CompileTime()

    def report(replications: int, position: Position) -> None:
        nonlocal done
        clock.stop()
        done += replications
        if progress is not None:
            progress(done, total, cell_name(study, position))

    def compiling(position: Position) -> None:
        clock.start()
        if progress is not None:
            progress(done, total, f"compiling {cell_name(study, position)}")

    def finish(position: Position, draft: Draft) -> None:
        nonlocal started
        now, compiled = time.perf_counter(), clock.taken()
        facts = {
            "seconds": now - started - compiled,
            "compiling": compiled,
            "engine": engine,
            "precision": draft.precision,
            "versions": versions(),
        }
        started = now
        found.arrays[position] = draft.fold.arrays()
        found.facts[draft.digest] = facts
        if folder is not None:
            write_cell(folder, draft.digest, found.arrays[position], facts)
        draft.drop()

    drafts = []
    for position, cell in study.cells():
        if folder is not None and _read(found, folder, position, cell, digests[position]):
            report(study.replications, position)
        else:
            drafts.append((position, draft_of(cell, digests[position], folder)))
    jobs = []
    try:
        with ahead([draft.cell for _, draft in drafts]) as settle:
            for position, draft in drafts:
                noted = partial(report, position=position)
                noted(draft.fold.count)
                lacks = cluster.lacking(study.replications, draft.fold.moments)
                if on_cluster is not None and lacks:
                    close = partial(finish, position, draft)
                    keep = partial(_keep, draft, noted)
                    jobs.append(cluster.Job(draft.cell, lacks, keep, close, reduce=True))
                    continue
                with watching(partial(compiling, position)):
                    settle(draft.cell)
                    play(draft, lacks, noted)
                finish(position, draft)
        if on_cluster is not None:
            cluster.run_all(jobs, *on_cluster)
    except BaseException:
        for _, draft in drafts:
            draft.keep()
        raise


def _keep(draft: Draft, report: Callable[[int], None], part: Part, first: int, last: int) -> None:
    draft.add(part)
    report(last - first)


def _play(
    play: Play, room: int, draft: Draft, lacks: list[Span], report: Callable[[int], None]
) -> None:
    """Simulate what a draft lacks, in batches of at most `room` bytes and about BATCH_SECONDS."""
    row_bytes = sum(array.nbytes for array in blank_track(draft.cell, 1).arrays().values())
    most = max(1, room // row_bytes)
    size = max(1, most // 64)
    for begin, end in lacks:
        first = begin
        while first < end:
            last = min(first + size, end)
            started = time.perf_counter()
            part, draft.precision = play(draft.cell, first, last, report=report)
            draft.add(part)
            growth = BATCH_SECONDS / max(time.perf_counter() - started, 1e-9)
            size = max(1, min(most, int((last - first) * min(growth, 8.0))))
            first = last


def _reduced_here(
    run: Callable[..., str | None],
    workers: int,
    cell: AnyCell,
    first: int,
    last: int,
    *,
    report: Callable[[int], None],
) -> tuple[Part, str]:
    """Play some replications with an engine, their tracks in memory, and reduce them."""
    track = blank_track(cell, last - first)
    used = run(cell, track, report=report, workers=workers, start=first)
    return Part.of(track, first), used or "double"


def _read(found: Summary, folder: Path, position: Position, cell: AnyCell, digest: str) -> bool:
    fold = Fold()
    fold.add(Part.of(blank_track(cell, 1)))
    arrays = fold.arrays()
    facts = read_cell(folder, digest, arrays)
    if facts is None:
        return False
    found.arrays[position], found.facts[digest] = arrays, facts
    return True
