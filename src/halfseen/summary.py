"""Studies too large to keep: what is left of every checkpoint in constant memory.

Replications are played in batches and each batch is folded into counts, means, variances, extremes
and histograms, on the host. The batches depend on the study alone, so the numbers do not depend on
the engine's workers.
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
from halfseen.engine.cell import Track
from halfseen.errors import InvalidInput, StorageError
from halfseen.result import Position, claim, read_study
from halfseen.simulation import Progress, cell_name, chosen_engine, thread_count, versions
from halfseen.storage import read_cell, write_cell
from halfseen.study import AnyCell, Study
from halfseen.tables import Table, table

BATCH_BYTES = 1 << 28
FOLDED = ("regret", "potential", "pulls", "observations")
BINNED = ("regret", "potential")
SUMMARIES = "summaries"
ACCURACY = 0.01  # of a quantile, relative
SMALLEST, LARGEST = 1e-6, 1e15  # what is below counts as 0
_LOG_RATIO = math.log((1.0 + ACCURACY) / (1.0 - ACCURACY))
BINS = 2 + math.ceil(math.log(LARGEST / SMALLEST) / _LOG_RATIO)


def bin_of(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the bins of some values: 0 below 1e-6, then a fixed ratio of 1.01 / 0.99 each."""
    with np.errstate(divide="ignore", invalid="ignore"):
        place = np.floor(np.log(values / SMALLEST) / _LOG_RATIO) + 1.0
    return np.where(values < SMALLEST, 0, np.minimum(place, BINS - 1)).astype(np.int64)


def quantile_of(histogram: NDArray[Any], share: float) -> float:
    """Return the quantile of a histogram over the bins, within 1% of the exact one.

    The exact one is the smallest value with at least the given share of the values at or below it.
    """
    upto = np.cumsum(histogram)
    place = int(np.searchsorted(upto, max(1.0, math.ceil(share * upto[-1]))))
    if place == 0:
        return 0.0
    low = SMALLEST * math.exp((place - 1) * _LOG_RATIO)
    ratio = math.exp(_LOG_RATIO)
    return low * 2.0 * ratio / (1.0 + ratio)


@dataclass
class Fold:
    """Running count, mean, sum of squared deviations, extremes and histograms of one cell."""

    count: int = 0
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def add(self, track: Track) -> None:
        r"""Fold in one batch of replications (Chan, Golub and LeVeque 1979).

        .. math:: \bar x \leftarrow \bar x + \delta\,\frac{m}{n+m},\qquad
                  S \leftarrow S + S_m + \delta^2\,\frac{nm}{n+m},\qquad \delta=\bar x_m-\bar x
        """
        arrays, m = self.arrays, len(track.regret)
        for name in FOLDED:
            batch = track.arrays()[name]
            mean = batch.mean(axis=0, dtype=float)
            square = np.square(batch - mean).sum(axis=0)
            least, largest = batch.min(axis=0), batch.max(axis=0)
            if self.count:
                apart = mean - arrays[f"{name}_mean"]
                share = m / (self.count + m)
                mean = arrays[f"{name}_mean"] + apart * share
                square += arrays[f"{name}_square"] + apart**2 * self.count * share
                least = np.minimum(least, arrays[f"{name}_least"])
                largest = np.maximum(largest, arrays[f"{name}_largest"])
            arrays |= {
                f"{name}_mean": mean,
                f"{name}_square": square,
                f"{name}_least": least.astype(float),
                f"{name}_largest": largest.astype(float),
            }
        for name in BINNED:
            batch = track.arrays()[name].reshape(m, -1)
            columns = batch.shape[1]
            bins = bin_of(batch) + BINS * np.arange(columns)
            counts = np.bincount(bins.ravel(), minlength=BINS * columns)
            shape = (*track.arrays()[name].shape[1:], BINS)
            held = arrays.get(f"{name}_histogram", np.zeros(shape, np.int64))
            arrays[f"{name}_histogram"] = held + counts.reshape(shape)
        self.count += m


@dataclass(frozen=True)
class Summary:
    """What is left of a study played with `summarize`.

    Attributes
    ----------
    study
        What was run.
    arrays
        For every cell, by position: ``regret_mean``, ``regret_square`` (the sum of squared
        deviations), ``regret_least``, ``regret_largest`` with one row per checkpoint, the same of
        ``potential``, ``pulls`` and ``observations``, and ``regret_histogram`` and
        ``potential_histogram``, whose last axis are the bins of `bin_of`.
    facts
        For every cell, by digest: seconds, engine, precision and versions.
    """

    study: Study
    arrays: dict[Position, dict[str, NDArray[Any]]]
    facts: dict[str, dict[str, Any]]

    def variance(self, position: Position, name: str) -> NDArray[Any]:
        """Return the variance over replications, at every checkpoint; NaN of a single one."""
        square, count = self.arrays[position][f"{name}_square"], self.study.replications
        return square / (count - 1) if count > 1 else np.full(square.shape, np.nan)

    def quantile(self, position: Position, name: str, share: float) -> NDArray[Any]:
        """Return a quantile of the regret or the potential at every checkpoint, within 1%."""
        share = checks.number("share", share, at_least=0.0, at_most=1.0)
        histogram = self.arrays[position][f"{checks.one_of('name', name, BINNED)}_histogram"]
        values = [quantile_of(counts, share) for counts in histogram.reshape(-1, BINS)]
        return np.array(values).reshape(histogram.shape[:-1])

    def table(self) -> Table:
        """Return regret at the horizon, its spread and what was seen, one row per cell."""
        records = []
        count = self.study.replications
        for position, _ in self.study.cells():
            arrays = self.arrays[position]
            error = math.sqrt(float(self.variance(position, "regret")[-1]) / count)
            quantiles = {
                f"{share:.0%}": float(self.quantile(position, "regret", share)[-1])
                for share in (0.05, 0.5, 0.95)
            }
            seen = float(arrays["observations_mean"][-1].sum() / self.study.horizon)
            records.append(
                {
                    "cell": cell_name(self.study, position),
                    "regret": float(arrays["regret_mean"][-1]),
                    "± 95%": 1.96 * error if count > 1 else None,
                    "least": float(arrays["regret_least"][-1]),
                    **quantiles,
                    "largest": float(arrays["regret_largest"][-1]),
                    "share seen": seen,
                }
            )
        return table(records)

    @staticmethod
    def load(folder: Path | str) -> Summary:
        """Read what `summarize` wrote."""
        folder = Path(folder)
        study = read_study(folder)
        if study is None:
            raise StorageError(f"{folder} holds no study. Run `halfseen study --summary` into it.")
        found = Summary(study, {}, {})
        for position, cell in study.cells():
            if not _read(found, folder, position, cell):
                raise StorageError(
                    f"{folder} holds an unfinished summary. Run the same command again: it goes on"
                    " where it stopped."
                )
        return found


def summarize(
    study: Study,
    *,
    engine: str = "cpu",
    precision: str = "double",
    workers: int | None = None,
    out: Path | str | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Play every cell of a study and keep only moments, extremes and quantiles.

    Memory does not depend on the number of replications. The parameters are those of `simulate`.
    Quantiles are within 1%: values are counted in bins whose edges have a ratio of 1.01 / 0.99.

    Examples
    --------
    >>> from halfseen import UCB, ArmedBandit, Study, Uniform, summarize
    >>> study = Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), UCB(), horizon=100, replications=3)
    >>> summarize(study, engine="reference").table().columns[1:4]
    ('regret', '± 95%', 'least')
    """
    if engine == "dask":
        raise InvalidInput("engine", "cannot summarize", engine, "Use the cpu or cuda engine.")
    engine, run = chosen_engine(study, engine, precision)
    threads = thread_count(workers)
    folder = None if out is None else claim(Path(out), study)
    found = Summary(study, {}, {})
    total = len(list(study.cells())) * study.replications
    done = 0

    def report(replications: int, position: Position) -> None:
        nonlocal done
        done += replications
        if progress is not None:
            progress(done, total, cell_name(study, position))

    for position, cell in study.cells():
        if folder is not None and _read(found, folder, position, cell):
            report(study.replications, position)
            continue
        started = time.perf_counter()
        fold, used = _folded(study, cell, run, partial(report, position=position), threads)
        facts = {
            "seconds": time.perf_counter() - started,
            "engine": engine,
            "precision": used,
            "versions": versions(),
        }
        found.arrays[position] = fold.arrays
        found.facts[study.cell_digest(cell)] = facts
        if folder is not None:
            write_cell(folder / SUMMARIES, study.cell_digest(cell), fold.arrays, facts)
    return found


def _folded(
    study: Study,
    cell: AnyCell,
    run: Callable[..., str | None],
    report: Callable[[int], None],
    workers: int,
) -> tuple[Fold, str]:
    dimension = getattr(cell.problem, "dimension", 0)
    blank = partial(cell.blank, groups=cell.groups, dimension=dimension)
    row_bytes = sum(array.nbytes for array in blank(1).arrays().values())
    batch = max(1, min(study.replications, BATCH_BYTES // row_bytes))
    fold, used = Fold(), None
    whole = blank(batch)
    for first in range(0, study.replications, batch):
        rows = min(batch, study.replications - first)
        track = whole if rows == batch else blank(rows)
        used = run(cell, track, report=report, workers=workers, start=first)
        fold.add(track)
    return fold, used or "double"


def _read(found: Summary, folder: Path, position: Position, cell: AnyCell) -> bool:
    fold = Fold()
    fold.add(cell.blank(1, cell.groups, getattr(cell.problem, "dimension", 0)))
    digest = found.study.cell_digest(cell)
    facts = read_cell(folder / SUMMARIES, digest, fold.arrays)
    if facts is None:
        return False
    found.arrays[position], found.facts[digest] = fold.arrays, facts
    return True
