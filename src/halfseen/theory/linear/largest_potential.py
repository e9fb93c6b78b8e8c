"""The result of computing the largest potential: its value, plan and certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.theory.linear import best_shares as simplex

ROUNDING = 1e-13  # relative rounding error of a value


@dataclass(frozen=True, repr=False)
class WorstCase(Shown):
    """The largest continuous potential, a plan that attains it, and a certificate.

    Attributes
    ----------
    value
        J*, as attained by the plan.
    durations
        Number of rounds the plan spends in each region, or on each action of a finite set, by
        number and in playing order; those that are not played are omitted.
    switch_times
        When the plan passes from one level of observation to the next.
    lower, upper
        Certified bounds on J*.
    residual
        Violation of the optimality conditions, relative to the largest slope.
    slope
        Upper bound on the gain from one more round.
    """

    value: float
    durations: Mapping[int, float]
    switch_times: tuple[float, ...]
    lower: float
    upper: float
    residual: float
    slope: float

    @property
    def gap(self) -> float:
        """The width of the certificate."""
        return self.upper - self.lower


def assembled(
    found: simplex.Optimum, numbers: tuple[int, ...], observe: Vector, time: float, ceiling: float
) -> WorstCase:
    """Return the worst case from shares of the rounds, sorted by the probability of observation."""
    used = [place for place, share in enumerate(found.shares) if share > 0.0]
    durations = {numbers[place]: time * float(found.shares[place]) for place in used}
    ends = time * np.cumsum(found.shares)
    changes = np.flatnonzero(np.diff(observe) > 0.0)
    return WorstCase(
        value=found.value,
        durations=MappingProxyType(durations),
        switch_times=tuple(float(ends[place]) for place in changes),
        lower=found.value * (1.0 - ROUNDING),
        upper=max(min(found.value * (1.0 + ROUNDING) + found.gap, ceiling), found.value),
        residual=found.residual,
        slope=float(found.slopes.max()) / time,
    )


def level_weights(observe: Vector) -> Vector:
    """Return 1/p_n - 1/p_{n+1} of increasing probabilities, the last 1/p_n.

    >>> level_weights(np.array([0.25, 0.5])).tolist()
    [2.0, 2.0]
    """
    weights = 1.0 / observe
    weights[:-1] *= np.diff(observe) / observe[1:]
    return weights
