"""Rewards seen, equal or similar ones of an arm counted together, in one query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.logs.queries import filled
from halfseen.logs.source import Log

EXACT = 1_000_000  # rewards up to which every distinct value is a cell of its own
ARMS = 2000  # arms at most, those seen most
LARGEST = 1e150  # its square is still a number
BINS = 1000  # cells of each arm of a long log
HEAD = 100_000  # rewards that decide where bins lie


@dataclass(frozen=True, eq=False)
class RewardCells(ByValue):
    """Rewards seen in cells, by arm and then ascending.

    Attributes
    ----------
    arm
        The number of the arm, among those seen.
    value, count, within
        The mean of a cell's rewards, how many they are, and their variance.
    """

    arm: NDArray[np.int64]
    value: Vector
    count: Vector
    within: Vector

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first cell of each arm."""
        return np.flatnonzero(np.diff(self.arm, prepend=-1))

    def moments(self) -> tuple[Vector, Vector]:
        """Return the mean and the variance of every arm's rewards; NaN where there is only one.

        Squares about the mean of several cells are those about each cell's own, and of its mean.
        """
        starts = self.starts
        n = np.add.reduceat(self.count, starts)
        mean = np.add.reduceat(self.count * self.value, starts) / n
        away = self.value - mean.repeat(np.diff(starts, append=len(self.arm)))
        spread = np.add.reduceat(self.count * (self.within + away**2), starts)
        with np.errstate(divide="ignore", invalid="ignore"):
            return mean, np.where(n > 1.0, spread / (n - 1.0), np.nan)


def read_cells(log: Log, rows: str, *, exact: bool) -> RewardCells:
    """Count the rewards of some rows by arm and value.

    Parameters
    ----------
    log
        The log they belong to.
    rows
        SQL for them, in the form of `decisions_sql`, with what comes after FROM.
    exact
        Whether every distinct value is a cell; else it is one of 1,000 equal intervals between the
        0.1% and the 99.9% quantile of the first rewards, or what is beyond.
    """
    place = "reward" if exact else bin_sql(log, rows)
    found = log.query(
        "SELECT dense_rank() OVER (ORDER BY action) - 1 AS arm, value, count, within FROM"
        f" (SELECT action, {place} AS place, avg(reward) AS value, count(*) AS count,"
        f" var_pop(reward) AS within FROM {rows}"
        " GROUP BY ALL) ORDER BY arm, place"
    )
    columns = (filled(found[name]) for name in ("value", "count", "within"))
    return RewardCells(np.asarray(found["arm"]).astype(np.int64), *columns)


def bin_sql(log: Log, rows: str, bins: int = BINS) -> str:
    """Return SQL for the interval of a reward, among those that the first rewards of rows span."""
    ends = log.query(
        "SELECT unnest(quantile_cont(reward, [0.001, 0.999])) AS ends FROM"
        f" (SELECT reward FROM {rows} LIMIT {HEAD})"
    )["ends"]
    low, high = filled(ends).tolist() if len(ends) else (0.0, 0.0)
    if not high - low > bins / LARGEST:
        return "0"
    step = (high - low) / bins
    first, last = (f"'{end!r}'::DOUBLE" for end in (low - step, high + step))
    inside = f"least(greatest(reward, {first}), {last})"
    return f"CAST(({inside} - '{low!r}'::DOUBLE) * '{1.0 / step!r}'::DOUBLE AS SMALLINT)"
