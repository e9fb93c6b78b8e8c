"""Whether weekdays differ in how much comes back, at a fixed mix of arms and weeks, and by arm."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from halfseen.logs.counts import Binned
from halfseen.logs.drift import (
    LEAST_IN_ALL,
    LEAST_INFORMATION,
    Strata,
    levels_at_fixed_mix,
    score_over_time,
)
from halfseen.logs.group_sums import sum_by
from halfseen.logs.time_bins import Bins
from halfseen.logs.warnings.arm_by_arm import FOLLOWED, smallest

LEAST_WEEKS = 3
PER_ARM = 50.0  # information that the test of a single arm needs


@dataclass(frozen=True)
class WeeklyCycle:
    """Rates by weekday.

    Attributes
    ----------
    days
        The weekdays that occur, Monday being 0.
    levels
        The rate on each, at the mix of arms and weeks of the whole log.
    p
        The p-value that all are equal.
    arm
        Number of the arm whose rates they are; None for all arms together.
    """

    days: tuple[int, ...]
    levels: tuple[float, ...]
    p: float
    arm: int | None = None


def find_weekly_cycle(
    cube: Binned | None, bins: Bins | None, least_spread: float = 1.0
) -> WeeklyCycle | None:
    """Test whether weekdays differ, within arms and weeks, and within each of the largest arms.

    Parameters
    ----------
    cube
        Counts by arm and place in time.
    bins
        The places.
    least_spread
        A lower limit on the overdispersion of counts.

    Returns
    -------
    WeeklyCycle or None
        None without dates, with less than three weeks, or with too few rows.
    """
    if cube is None or bins is None or bins.days < 7 * LEAST_WEEKS or not len(cube.rows):
        return None
    whole = _cycle(cube, bins, least_spread, LEAST_IN_ALL)
    if whole is None:
        return None
    size = sum_by(cube.arm, cube.rows)
    largest = np.argsort(-size, kind="stable")[:FOLLOWED].tolist() if (size > 0).sum() > 1 else []
    each = ((arm, _of_arm(cube, arm)) for arm in largest)
    arms = [(arm, _cycle(part, bins, least_spread, PER_ARM)) for arm, part in each]
    own = [replace(cycle, arm=arm) for arm, cycle in arms if cycle is not None]
    p, which = smallest(whole.p, [cycle.p for cycle in own])
    return replace(whole if which is None else own[which], p=p)


def _of_arm(cube: Binned, arm: int) -> Binned:
    return Binned(*(column[cube.arm == arm] for column in vars(cube).values()))


def _cycle(cube: Binned, bins: Bins, least_spread: float, least: float) -> WeeklyCycle | None:
    """Return the rates by weekday and the p-value of the test; None with too little information."""
    from scipy.special import chdtrc, fdtrc

    week = bins.week_of(cube.place)
    days, day = np.unique(bins.weekday_of(cube.place), return_inverse=True)
    _, stratum = np.unique(cube.arm * (int(week.max()) + 1) + week, return_inverse=True)
    strata = Strata(stratum, day, cube.rows.astype(float), cube.seen.astype(float))
    found = score_over_time(strata, len(days))
    if found.variance.sum() < least or len(days) < 2:
        return None
    effect = np.linalg.pinv(found.information, hermitian=True) @ found.score
    rank = int(np.linalg.matrix_rank(found.information, hermitian=True))
    if rank == 0:
        return None
    own, free = _wobble(strata, week, day, effect)
    chi = float(found.score @ effect) / max(least_spread, own)
    if free <= 0 and len(np.unique(week * 7 + day)) <= 6 + len(np.unique(week)):
        return None
    p = float(fdtrc(rank, free, chi / rank) if free > 0 else chdtrc(rank, chi))
    levels = levels_at_fixed_mix(strata, len(days))
    return WeeklyCycle(tuple(days.tolist()), tuple(levels.tolist()), p)


def _wobble(
    strata: Strata, week: np.ndarray, day: np.ndarray, effect: np.ndarray
) -> tuple[float, int]:
    """Return the overdispersion of days around their weekday's rate, and degrees of freedom."""
    rows, rate = strata.totals
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(rows > 1.0, rate * (1.0 - rate) * rows / (rows - 1.0), 0.0)
    s, n = strata.stratum, strata.rows
    weeks, place = np.unique(week, return_inverse=True)
    size = len(effect)
    cell = place * size + day
    residual = sum_by(cell, strata.seen - n * rate[s], len(weeks) * size)
    variance = sum_by(cell, n * own[s], len(weeks) * size)
    residual, variance = (v.reshape(len(weeks), size) for v in (residual, variance))
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (variance @ effect) / variance.sum(axis=1)
        gap = residual - variance * (effect[None, :] - np.nan_to_num(centre)[:, None])
        squares = np.where(variance >= LEAST_INFORMATION, gap**2 / variance, 0.0)
    cells = int((variance >= LEAST_INFORMATION).sum())
    free = cells - 6 - len(weeks)
    return (max(1.0, float(squares.sum()) / free) if free > 0 else 1.0), free
