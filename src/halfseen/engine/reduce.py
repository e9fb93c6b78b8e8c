"""Moments, extremes and histograms of replications, from batches in any order.

Replications are merged along one binary tree that depends on their numbers alone: 0 with 1,
2 with 3, then 0-1 with 2-3, and so on. The result does not depend on the batches, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.engine.arguments import Track
from halfseen.equality import ByValue

FOLDED = ("regret", "potential", "pulls", "observations", "pending")  # if a track has them
BINNED = ("regret", "potential")
MOMENTS = ("mean", "square", "least", "largest")
ACCURACY = 0.01  # relative accuracy of a quantile
SMALLEST, LARGEST = 1e-6, 1e15  # range of the bins; smaller values count as 0
MOST_ROWS = 1 << 10  # rows reduced at a time
LOG_RATIO = math.log((1.0 + ACCURACY) / (1.0 - ACCURACY))
BINS = 2 + math.ceil(math.log(LARGEST / SMALLEST) / LOG_RATIO)
Arrays = dict[str, NDArray[Any]]
Span = tuple[int, int]  # the first replication and the one after the last


@dataclass(frozen=True, eq=False)
class Part(ByValue):
    """The statistics of some replications.

    Attributes
    ----------
    moments
        By span of replications, for every ``name`` in FOLDED with one row per checkpoint:
        ``name_mean``, ``name_square`` (the sum of squared deviations), ``name_least`` and
        ``name_largest``, all of them doubles. Spans that `blocks` yields are merged immediately,
        others at the end.
    histograms
        For every name in BINNED, over all replications: counts of `bin_of` on a last axis of BINS.
    """

    moments: dict[Span, Arrays]
    histograms: Arrays

    @staticmethod
    def of(track: Track, first: int = 0) -> Part:
        """Return the statistics of a track whose first row is replication `first`."""
        arrays, fold = track.arrays(), Fold()
        for start, end in blocks(first, first + len(track.regret)):
            rows = {name: array[start - first : end - first] for name, array in arrays.items()}
            names = [name for name in FOLDED if name in rows]
            moments = {key: a for name in names for key, a in _moments(name, rows[name]).items()}
            fold.add(Part({(start, end): moments}, {}))
        return Part(fold.moments, {name: _histogram(arrays[name]) for name in BINNED})


@dataclass(eq=False)
class Fold(ByValue):
    """Accumulated statistics of some replications."""

    moments: dict[Span, Arrays] = field(default_factory=dict)
    histograms: Arrays = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of replications included."""
        return sum(last - first for first, last in self.moments)

    def add(self, part: Part) -> None:
        """Merge the statistics of further replications."""
        for (first, last), held in part.moments.items():
            moments, size = held, last - first
            while size & (size - 1) == 0 and first % size == 0:  # its sibling is complete
                twin = first ^ size
                if (twin, twin + size) not in self.moments:
                    break
                other = self.moments.pop((twin, twin + size))
                pair = (other, moments) if twin < first else (moments, other)
                moments = merged(*pair, size, size)
                first, size = min(first, twin), 2 * size
            self.moments[first, first + size] = moments
        for name, counts in part.histograms.items():
            held_counts = self.histograms.get(name)
            self.histograms[name] = counts if held_counts is None else held_counts + counts

    def arrays(self) -> Arrays:
        """Return the moments of all replications and ``name_histogram`` of those binned."""
        (first, last), *others = sorted(self.moments)
        whole, count = self.moments[first, last], last - first
        for first, last in others:
            whole = merged(whole, self.moments[first, last], count, last - first)
            count += last - first
        return whole | {f"{name}_histogram": array for name, array in self.histograms.items()}


def merged(one: Arrays, other: Arrays, n: int, m: int) -> Arrays:
    r"""Return the moments of `n` replications and `m` others (Chan, Golub and LeVeque 1979).

    .. math:: \bar x = \bar x_n + \delta\,\frac{m}{n+m},\qquad
              S = S_n + S_m + \delta^2\,\frac{nm}{n+m},\qquad \delta=\bar x_m-\bar x_n
    """
    share = m / (n + m)
    result = {}
    for name in FOLDED:
        if f"{name}_mean" not in one:
            continue
        mean, square, least, largest = (f"{name}_{what}" for what in MOMENTS)
        apart = other[mean] - one[mean]
        result[mean] = one[mean] + apart * share
        result[square] = one[square] + other[square] + apart * apart * (n * share)
        result[least] = np.minimum(one[least], other[least])
        result[largest] = np.maximum(one[largest], other[largest])
    return result


def blocks(first: int, last: int, most: int = MOST_ROWS) -> Iterator[Span]:
    """Yield a span in blocks of 1, 2, 4, ... replications, each starting at a multiple of its size.

    >>> list(blocks(6, 21))
    [(6, 8), (8, 16), (16, 20), (20, 21)]
    """
    while first < last:
        size = min(first & -first or most, most, 1 << ((last - first).bit_length() - 1))
        yield first, first + size
        first += size


def _moments(name: str, rows: NDArray[Any]) -> Arrays:
    """Return the moments of 1, 2, 4, ... rows, merged two by two."""
    mean = rows.astype(float)
    square = np.zeros_like(mean[:1])
    size = 1
    while len(mean) > 1:
        apart = mean[1::2] - mean[::2]
        mean = mean[::2] + apart * 0.5
        apart *= apart
        apart *= 0.5 * size
        square = apart if size == 1 else square[::2] + square[1::2] + apart
        size *= 2
    extremes = (rows.min(axis=0).astype(float), rows.max(axis=0).astype(float))
    values = (mean[0], square[0], *extremes)
    return {f"{name}_{what}": value for what, value in zip(MOMENTS, values, strict=True)}


def _histogram(rows: NDArray[Any]) -> NDArray[np.int64]:
    columns = rows[0].size
    bins = bin_of(rows.reshape(len(rows), columns)) + BINS * np.arange(columns)
    counts = np.bincount(bins.ravel(), minlength=BINS * columns)
    return counts.reshape(*rows.shape[1:], BINS)


def bin_of(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the bins of values: 0 below 1e-6, then bins with a ratio of 1.01 / 0.99."""
    with np.errstate(divide="ignore", invalid="ignore"):
        place = np.floor(np.log(values / SMALLEST) / LOG_RATIO) + 1.0
    return np.where(values < SMALLEST, 0, np.minimum(place, BINS - 1)).astype(np.int64)


def quantile_of(histogram: NDArray[Any], share: float) -> float:
    """Return the quantile of a histogram over the bins, within 1% of the exact one.

    The exact one is the smallest value with at least the given share of the values at or below it.
    """
    upto = np.cumsum(histogram)
    place = int(np.searchsorted(upto, max(1.0, math.ceil(share * upto[-1]))))
    if place == 0:
        return 0.0
    low = SMALLEST * math.exp((place - 1) * LOG_RATIO)
    ratio = math.exp(LOG_RATIO)
    return low * 2.0 * ratio / (1.0 + ratio)
