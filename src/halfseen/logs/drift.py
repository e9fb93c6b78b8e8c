"""Rates over time: where they changed, and by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.logs.counts import Decisions
from halfseen.logs.steps import binomial_likelihood

BINS = 128
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


def follow_rates(decisions: Decisions) -> tuple[Course, ...]:
    """Return the course of the rate over time, of all arms together and of the largest ones."""
    counts = decisions.counts
    if counts.span is None or counts.span[0] == counts.span[1]:
        return ()
    first, last = counts.span
    step = (last - first) / BINS
    largest = np.sort(np.argsort(-counts.rows, kind="stable")[:ARMS])
    place = f"least(CAST(floor((time - {first!r}) / {step!r}) AS INTEGER), {BINS - 1})"
    found = decisions.log.query(
        f"SELECT CAST(action AS VARCHAR) AS name, bin, n, k FROM (SELECT action, {place} AS bin,"
        f" count(*) AS n, count(*) FILTER (seen) AS k FROM {decisions.sql}"
        " WHERE time IS NOT NULL AND action IS NOT NULL GROUP BY ALL)"
    )
    names = np.asarray(found["name"])
    bins = np.asarray(found["bin"]).astype(np.int64)
    table = np.stack([np.asarray(found["n"]), np.asarray(found["k"])]).astype(np.int64)
    courses = []
    for name in [None, *(counts.names[i] for i in largest)]:
        chosen = slice(None) if name is None else names == name
        sums = np.zeros((2, BINS), dtype=np.int64)
        for row in (0, 1):
            np.add.at(sums[row], bins[chosen], table[row, chosen])
        filled = sums[0] > 0
        starts = first + step * np.arange(BINS)
        rows, seen = sums[:, filled]
        changes, spread = change_points(seen, rows)
        courses.append(Course(name, starts[filled], rows, seen, changes, spread))
        if len(counts) == 1:
            break
    return tuple(courses)


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
