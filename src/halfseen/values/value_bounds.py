"""Bounds of a value, or of a difference, with the intervals of their ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.values.influence import Influence, normal_interval
from halfseen.values.rare_rewards import RareRewards


@dataclass(frozen=True)
class GammaBounds:
    """Bounds of a value, or of a difference of values.

    Attributes
    ----------
    gamma
        How many times the odds of being seen differ at most between two rewards of a cell;
        infinite if missing rewards can be anything between the least and the largest seen.
    low, high
        The smallest and the largest value the model allows.
    low_error, high_error
        Their standard errors.
    freedom
        Degrees of freedom of each.
    skew
        Skewness of each.
    """

    gamma: float
    low: float
    high: float
    low_error: float
    high_error: float
    freedom: tuple[float, float] = (math.inf, math.inf)
    skew: tuple[float, float] = (0.0, 0.0)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the lower end of `low` and the upper end of `high`."""
        least, most = zip(self.freedom, self.skew, strict=True)
        return (
            normal_interval(self.low, self.low_error, level, *least)[0],
            normal_interval(self.high, self.high_error, level, *most)[1],
        )


@dataclass(frozen=True, order=True)
class Bound:
    """One end of the bounds.

    Attributes
    ----------
    value, error
        It and its standard error.
    freedom, skew
        Degrees of freedom of the error, and skewness of the estimate.
    """

    value: float
    error: float
    freedom: float
    skew: float

    @classmethod
    def of(
        cls, found: Influence, lacking: float, rare: RareRewards, unit: NDArray[np.int64]
    ) -> Bound:
        """Return an estimate with its error.

        Parameters
        ----------
        found
            The values of the decisions.
        lacking
            What their variance lacks for rewards that chance may have left out.
        rare
            These rewards.
        unit
            The cell, or arm, of each group.
        """
        sample = rare.sample
        error = math.hypot(found.error(sample), math.sqrt(lacking))
        skew = 0.0 if rare.two_values else found.asymmetry(sample, error)
        return cls(found.estimate(sample), error, found.freedom(sample, unit), skew)


def both_bounds(gamma: float, low: Bound, high: Bound) -> GammaBounds:
    """Return two ends as bounds."""
    return GammaBounds(
        gamma,
        low.value,
        high.value,
        low.error,
        high.error,
        (low.freedom, high.freedom),
        (low.skew, high.skew),
    )


class Bounded(Protocol):
    """What a value, or a difference of values, can be."""

    @property
    def given(self) -> str:
        """What rewards of an arm agree in, for the odds of being seen to differ so much."""

    @property
    def weight(self) -> Vector:
        """Weights of the value or of the difference."""

    def at(self, gamma: float) -> GammaBounds:
        """Bound it at one Gamma."""

    def tipping(self) -> float:
        """Return the smallest Gamma at which it may be 0."""
