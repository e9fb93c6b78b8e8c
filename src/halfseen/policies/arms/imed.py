"""Indexed minimum empirical divergence: optimal, without a horizon, a clock or a solver."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.kernels.compile_hints import shared
from halfseen.kernels.kullback_leibler import GAUSSIAN, divergence
from halfseen.policies.arms.base import COUNT, TOTAL, State
from halfseen.policies.arms.families import FamilyPolicy
from halfseen.problems.setting import Setting

MEAN, LOG, WEIGHT = 2, 3, 4  # LOG: 1 + log N, so that an arm never seen, all 0, comes first
FAMILY, SCALE = 0, 1
LESS = 1.0 - 1e-12  # logarithms of whole numbers tie, and rounding must not break the tie


def learn(state: State, arm: int, reward: float, table: Vector) -> None:
    """Add one observed reward; keep the mean and 1 + log N."""
    count = state[arm, COUNT] + 1.0
    total = state[arm, TOTAL] + reward
    state[arm, COUNT] = count
    state[arm, TOTAL] = total
    state[arm, MEAN] = total / count
    state[arm, LOG] = 1.0 + math.log(count)
    state[arm, WEIGHT] = count * table[arm, SCALE]


def choose(
    state: State, plays: Vector, playable: NDArray[Any], clock: int, stream: Stream, table: Vector
) -> int:
    """Return the arm with the smallest N K(mean, largest mean) + log N, one never seen first."""
    lead = -math.inf
    for arm in range(playable.size):
        if playable[arm] == 1:
            mean = state[arm, MEAN]
            lead = mean if mean > lead else lead  # no branch: half the time
    if table[0, FAMILY] != GAUSSIAN:
        return least_surprising(state, playable, lead, table)
    chosen = -1
    edge = math.inf
    for arm in range(playable.size):
        if playable[arm] == 1:
            gap = lead - state[arm, MEAN]
            value = state[arm, WEIGHT] * (gap * gap) + state[arm, LOG]
            if value < edge:
                chosen = arm
                edge = LESS * value
    return chosen


@shared
def least_surprising(state: State, playable: NDArray[Any], lead: float, table: Vector) -> int:
    """Return the same arm for families whose divergence is no square."""
    chosen = -1
    edge = math.inf
    for arm in range(playable.size):
        if playable[arm] == 1:
            if state[arm, COUNT] == 0.0:
                return arm
            cost = divergence(table[0, FAMILY], state[arm, MEAN], lead, table[arm, SCALE])
            value = state[arm, COUNT] * cost + state[arm, LOG]
            if value < edge:
                chosen = arm
                edge = LESS * value
    return chosen


@dataclass(frozen=True)
class IMED(FamilyPolicy):
    r"""Play the arm whose being best would be the least surprising.

    The arm with the least

    .. math:: N_a\,K(\hat\mu_a, \max_b\hat\mu_b) + \log N_a

    is played; K is the divergence of the rewards' family. Its regret is asymptotically optimal,
    :math:`\sum_a \Delta_a/(p_a K_a)\,\log T`, and it needs neither the horizon nor the
    probabilities of being observed.

    Parameters
    ----------
    family
        ``"gaussian"`` (any sub-Gaussian rewards), ``"bernoulli"``, ``"poisson"`` or
        ``"exponential"``; left out, the law of the problem's rewards.

    References
    ----------
    Honda, Takemura, *Non-asymptotic analysis of a new bandit algorithm for semi-bounded rewards*,
    2015.
    """

    kind: ClassVar[str] = "imed"
    summary: ClassVar[str] = "Plays the arm whose being best would be the least surprising."
    statistics = 5
    learn = staticmethod(learn)
    choose = staticmethod(choose)

    def table(self, setting: Setting) -> Vector:
        """Return the family and 1/(2 sigma^2) of each arm."""
        family = np.full(setting.arms, float(self.family_in(setting)))
        return np.column_stack([family, self.scales(setting)])
