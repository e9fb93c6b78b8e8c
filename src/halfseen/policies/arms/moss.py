"""The minimax-optimal index, with the effective dimension in place of the number of arms."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.policies.arms.base import COUNT, TOTAL, Kernels, Policy, State
from halfseen.policies.arms.families import check_variance
from halfseen.policies.arms.horizon_share import (
    LEARNED,
    check_dimension,
    checked_dimension,
    learned_dimension,
    share,
)
from halfseen.problems.setting import Setting

VARIANCE, SHARE = 0, 1


def score(state: State, arm: int, observations: float, table: Vector) -> float:
    """Return S/N + sqrt(4 sigma^2 max(0, log(observations/N)) / N)."""
    count = state[arm, COUNT]
    if count == 0.0:
        return math.inf
    log = math.log(observations / count) if observations > count else 0.0
    return state[arm, TOTAL] / count + math.sqrt(table[arm, VARIANCE] * log / count)


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return the score with the arm's share of the horizon."""
    return score(state, arm, table[arm, SHARE], table)


def choose(
    state: State, plays: Vector, playable: NDArray[Any], clock: int, stream: Stream, table: Vector
) -> int:
    """Return the arm with the largest score, its share of the horizon learned."""
    dimension = learned_dimension(state, plays, playable)
    chosen = -1
    top = -math.inf
    for arm in range(playable.size):
        if playable[arm] == 1:
            value = score(state, arm, table[arm, SHARE] / dimension, table)
            if value > top or chosen < 0:
                top = value
                chosen = arm
    return chosen


@dataclass(frozen=True)
class MOSS(Policy):
    r"""Explore an arm less the more it was seen, relative to its share of the horizon.

    .. math:: \hat\mu_a + \sqrt{\frac{4\sigma_a^2}{N_a}\log^+\frac{T}{D N_a}}

    The textbook has T/K. Where feedback goes missing an arm's share of the horizon is T/D
    observations, :math:`D = \sum_a 1/p_a`, and the regret is at most of order
    :math:`\sigma\sqrt{DT}`, whatever the gaps: no policy can do better than a constant times that.

    Parameters
    ----------
    dimension
        D, a number; ``"learned"``, from how often the arms were played and seen; or ``"arms"``
        for K.

    References
    ----------
    Audibert, Bubeck, *Minimax policies for adversarial and stochastic bandits*, 2009. Lattimore,
    Szepesvari, *Bandit algorithms*, 2020, Theorem 9.1.
    """

    kind: ClassVar[str] = "moss"
    optimistic = True
    dimension: float | str = LEARNED
    waits = True
    index = staticmethod(index)
    choose = staticmethod(choose)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", checked_dimension("MOSS.dimension", self.dimension))

    def kernels(self) -> Kernels:
        """Return the algorithm: an index unless D is learned."""
        kernels = super().kernels()
        learned = self.dimension == LEARNED
        return replace(kernels, index=None) if learned else replace(kernels, choose=None)

    def check(self, setting: Setting) -> None:
        """Refuse rewards without a variance, and a dimension below the number of arms."""
        check_variance("MOSS", setting)
        check_dimension("MOSS.dimension", self.dimension, setting)

    def table(self, setting: Setting) -> Vector:
        """Return 4 sigma^2 and the share of the horizon of each arm."""
        rows = np.empty((setting.arms, 2))
        rows[:, VARIANCE] = 4.0 * setting.noise**2
        rows[:, SHARE] = share(self.dimension, setting)
        return rows
