"""Rates over time: where they changed, and by how much."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.logs.counts import Binned, Decisions
from halfseen.logs.isotonic import binomial_likelihood
from halfseen.logs.source import text
from halfseen.logs.time_bins import BINS

ARMS = 12  # whose rates are followed one by one


@dataclass(frozen=True)
class Course:
    """Rewards seen and decisions made in bins of time, and the stretches of constant rate.

    Attributes
    ----------
    name
        The arm, or None for all of them together.
    starts
        Where each bin begins; bins in which nothing was decided are left out.
    rows, seen
        Decisions made and rewards seen in each bin.
    changes
        The bins at which the rate changes.
    spread
        How many times more the rate varies from bin to bin than chance would make it.
    """

    name: str | None
    starts: Vector
    rows: NDArray[np.int64]
    seen: NDArray[np.int64]
    changes: tuple[int, ...]
    spread: float

    @property
    def levels(self) -> tuple[float, ...]:
        """The rate of each stretch."""
        edges = (0, *self.changes, len(self.rows))
        return tuple(float(self.seen[i:j].sum() / self.rows[i:j].sum()) for i, j in pairwise(edges))

    def in_words(self, dated: bool, most: int = 6) -> str:
        """Write the first rates and until when each held; times are dates if they count seconds."""
        ends = [_moment(self.starts, i, dated) for i in self.changes]
        parts = [f"{rate:.1%} until {end}" for rate, end in zip(self.levels, ends, strict=False)]
        parts = parts[: most - 1]
        last = "..." if len(self.levels) > most else f"{self.levels[-1]:.1%}"
        return ", then ".join([*parts, last])


def _moment(starts: Vector, place: int, dated: bool) -> str:
    """Write where a bin begins, no finer than bins are."""
    if dated:
        step = float(np.diff(starts).min())
        with contextlib.suppress(OverflowError):
            moment = datetime(1970, 1, 1) + timedelta(seconds=float(starts[place]))
            return f"{moment:%Y-%m-%d}" if step > 43_200.0 else f"{moment:%Y-%m-%d %H:%M}"
    return f"{starts[place]:.12g}"


def follow_rates(decisions: Decisions) -> tuple[Course, ...]:
    """Return the course of the rate over time, of all arms together and of the largest ones."""
    counts, bins = decisions.counts, decisions.bins
    if bins is None or not bins.step > 0.0:
        return ()
    largest = np.sort(np.argsort(-counts.rows, kind="stable")[:ARMS]).tolist()
    binned = decisions.binned or _count_by_time(decisions, largest)
    courses = []
    for arm in [None, *largest] if len(counts) > 1 else [None]:
        chosen = slice(None) if arm is None else binned.arm == arm
        rows, seen = (
            np.bincount(binned.bin[chosen], values[chosen], BINS).astype(np.int64)
            for values in (binned.rows, binned.seen)
        )
        filled = rows > 0
        rows, seen = rows[filled], seen[filled]
        name = None if arm is None else counts.names[arm]
        courses.append(Course(name, bins.starts[filled], rows, seen, *change_points(seen, rows)))
    return tuple(courses)


def _count_by_time(decisions: Decisions, largest: list[int]) -> Binned:
    """Count by bin of time, some arms apart and all others together as arm -1."""
    counts = decisions.counts
    named = ", ".join(text(counts.names[arm]) for arm in largest)
    found = decisions.log.query(
        f"SELECT CASE WHEN name IN ({named}) THEN name ELSE '' END AS name,"
        " bin, count(*) AS rows, count(*) FILTER (seen) AS seen FROM"
        f" (SELECT CAST(action AS VARCHAR) AS name, bin, seen FROM {decisions.sql})"
        " WHERE bin IS NOT NULL AND name IS NOT NULL GROUP BY ALL"
    )
    place = {counts.names[arm]: arm for arm in largest}
    arm = np.array([place.get(str(name), -1) for name in found["name"]], dtype=np.int64)
    return Binned(arm, *(np.asarray(found[c]).astype(np.int64) for c in ("bin", "rows", "seen")))


def change_points(seen: NDArray[Any], rows: NDArray[Any]) -> tuple[tuple[int, ...], float]:
    r"""Cut a series of rates into stretches of constant rate.

    .. math:: \max_{\text{cuts}} \frac1\phi \sum_s \ell_s - 2\,m \log B

    Parameters
    ----------
    seen, rows
        Successes and trials in each of B bins.

    Returns
    -------
    changes
        The first bin of every stretch after the first.
    spread
        phi, at least 1: how much more neighbouring bins differ than chance makes them.

    Notes
    -----
    The binomial log-likelihood of every way to cut is maximised exactly, by dynamic programming
    over the bins, less a price of 2 log B for each of the m cuts: a rate and a place each. A
    series of one rate is cut less than once in 100 times. Rates that wobble from bin to bin would
    look like changes in a long log, so the likelihood is divided by phi, from the median squared
    difference of neighbours.

    References
    ----------
    Jackson et al. (2005), An algorithm for optimal partitioning of data on an interval. Yao
    (1988), Estimating the number of change-points via Schwarz' criterion.

    Examples
    --------
    >>> change_points(np.array([50, 52, 49, 10, 11, 9]), np.full(6, 100))
    ((3,), 1.0)
    """
    bins = len(rows)
    if bins < 2:
        return (), 1.0
    n, k = rows.astype(float), seen.astype(float)
    spread = _spread(k, n)
    total, hits = np.concatenate([[0.0], np.cumsum(n)]), np.concatenate([[0.0], np.cumsum(k)])
    price = 2.0 * math.log(bins)
    best = np.full(bins + 1, -math.inf)
    best[0] = -price
    before = np.zeros(bins + 1, dtype=np.int64)
    for end in range(1, bins + 1):
        size, sum_ = total[end] - total[:end], hits[end] - hits[:end]
        gains = best[:end] + binomial_likelihood(sum_, size) / spread - price
        before[end] = int(np.argmax(gains))
        best[end] = gains[before[end]]
    changes = []
    end = int(before[bins])
    while end > 0:
        changes.append(end)
        end = int(before[end])
    return tuple(reversed(changes)), spread


def _spread(k: Vector, n: Vector) -> float:
    """Return how many times the squared differences of neighbours exceed chance, at least 1."""
    pooled = (k[:-1] + k[1:]) / (n[:-1] + n[1:])
    chance = pooled * (1.0 - pooled) * (1.0 / n[:-1] + 1.0 / n[1:])
    usable = chance > 0.0
    if usable.sum() < 8:
        return 1.0
    ratio = (k[1:] / n[1:] - k[:-1] / n[:-1])[usable] ** 2 / chance[usable]
    return max(1.0, float(np.median(ratio)) / 0.4549364)  # the median of a chi-square of 1
