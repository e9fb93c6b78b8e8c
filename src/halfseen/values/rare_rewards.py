r"""Correction of standard errors for rare rewards that may be absent by chance.

Where k of n rewards are 1 and the others 0, the error of their mean is
:math:`\sqrt{k(n-k)}/n^{3/2}`: 0 if k is 0, and too small if k is a few. With four ones and four
zeros more, about the square of the normal quantile of 95%, an interval around k/n covers. Where
rewards have more values, k counts those that differ from the most frequent one of their arm, and if
k is a few, four more differ from it as much as others of the log do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.logs.group_sums import sum_by
from halfseen.values.influence import Sample

MORE = 4.0  # rewards of each of two values that errors count besides the seen ones
RARE = 8  # rewards that differ from the most frequent one, below which a bootstrap is too short
ENOUGH = 32  # of more than two values, from which they tell their spread themselves
SAME = 1e-9  # share of their range by which equal rewards may differ


@dataclass(frozen=True, eq=False)
class UnitRewards(ByValue):
    """The seen rewards of each unit: an arm, or an arm in a context.

    Attributes
    ----------
    number
        How many there are.
    differ
        How many differ from the most frequent one.
    squares
        The sum of squares by which they do.
    spread
        Their variance.
    others
        The mean square by which those of all rewards that differ from that one do.
    """

    number: Vector
    differ: Vector
    squares: Vector
    spread: Vector
    others: Vector

    @property
    def lacking(self) -> Vector:
        """What the variance of a reward lacks; nothing of a single one, which has its arm's."""
        n, k = self.number, self.differ
        smoothed = (k + MORE) * (n - k + MORE) * n / (n + 2.0 * MORE) ** 3
        size = (self.squares + MORE * self.others) / (k + MORE)
        return np.where(n > 1.0, np.maximum(smoothed * size - self.spread, 0.0), 0.0)

    def few(self, most: float) -> NDArray[np.bool_]:
        """Return whether most, and at least three, are equal and fewer than so many differ."""
        same = self.number - self.differ
        return (self.differ < most) & (self.differ <= same) & (same >= 3.0)


@dataclass(frozen=True, eq=False)
class RareRewards(ByValue):
    """The rare rewards that may be absent from a log by chance.

    Attributes
    ----------
    sample
        The decisions, with at least one reward.
    units
        Numbers of each group's arm, or arm and context; of all these the one counts for which most
        is lacking.
    """

    sample: Sample
    units: tuple[NDArray[np.int64], ...]

    @cached_property
    def values(self) -> tuple[Vector, NDArray[np.int64]]:
        """The distinct rewards, and the number of that of each group."""
        order = np.argsort(self.sample.reward, kind="stable")
        order = order[self.sample.seen[order]]
        rewards = self.sample.reward[order]
        fresh = np.diff(rewards, prepend=-np.inf) > SAME * (rewards[-1] - rewards[0])
        place = np.zeros(len(self.sample.seen), dtype=np.int64)
        place[order] = np.cumsum(fresh) - 1
        return rewards[fresh], place

    @property
    def two_values(self) -> bool:
        """Whether all seen rewards have one of two values."""
        return len(self.values[0]) == 2

    @cached_property
    def lacking(self) -> list[Vector]:
        """What the variance of a reward of each unit lacks."""
        found = [self.of_units(unit) for unit in self.units]
        return [one.lacking if self.two_values else one.lacking * one.few(ENOUGH) for one in found]

    def of_units(self, unit: NDArray[np.int64]) -> UnitRewards:
        """Return the rewards of some units."""
        sample, (values, place) = self.sample, self.values
        units, seen = int(unit.max()) + 1, np.where(sample.seen, sample.count, 0.0)
        slack = SAME * (values[-1] - values[0])
        equal = np.where(sample.within > slack**2, 0.0, seen)
        pairs, of_pair = np.unique(unit * len(values) + place, return_inverse=True)
        counts = np.bincount(of_pair, equal)
        order = np.argsort(counts, kind="stable")  # the last of each unit is the most frequent
        mode, same = np.zeros(units, dtype=np.int64), np.zeros(units)
        mode[pairs[order] // len(values)] = pairs[order] % len(values)
        same[pairs[order] // len(values)] = counts[order]
        number = sum_by(unit, seen, units)
        away = np.where(sample.seen, sample.reward - values[mode][unit], 0.0)
        squares = sum_by(unit, seen * (away**2 + sample.within), units)
        shift = sum_by(unit, seen * away, units) / np.maximum(number, 1.0)
        spread = np.maximum(squares / np.maximum(number, 1.0) - shift**2, 0.0)
        mean = float(seen @ sample.reward) / seen.sum()
        total = float(seen @ ((sample.reward - mean) ** 2 + sample.within))
        total = total + seen.sum() * (values - mean) ** 2
        others = total / np.maximum(seen.sum() - np.bincount(place, equal, len(values)), 1.0)
        return UnitRewards(number, number - same, squares, spread, others[mode])

    def variance(self, slopes: Vector) -> float:
        """Return what the squared error of an estimate lacks.

        Parameters
        ----------
        slopes
            The derivative of each decision's value in its reward.
        """
        squares = np.where(self.sample.seen, self.sample.count, 0.0) * slopes**2
        most = (
            float((sum_by(unit, squares, len(lacking)) * lacking).max())
            for unit, lacking in zip(self.units, self.lacking, strict=True)
        )
        return max(most) / self.sample.size**2
