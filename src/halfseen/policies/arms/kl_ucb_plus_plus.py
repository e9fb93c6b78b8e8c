"""KL-UCB++: optimal on every instance and in the worst case."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.kernels.kullback_leibler import own_term, upper_mean
from halfseen.policies.arms.base import COUNT, TOTAL, Kernels, State
from halfseen.policies.arms.families import FamilyPolicy
from halfseen.policies.arms.horizon_share import (
    LEARNED,
    check_dimension,
    checked_dimension,
    learned_dimension,
    share,
)
from halfseen.problems.setting import Setting

FAMILY, SCALE, SHARE = 0, 1, 2


def score(state: State, arm: int, observations: float, table: Vector) -> float:
    """Return the largest q with N K(mean, q) <= log+(x (log+(x)^2 + 1)), x = observations/N."""
    count = state[arm, COUNT]
    if count == 0.0:
        return math.inf
    x = observations / count
    log = math.log(x) if x > 1.0 else 0.0
    x *= log * log + 1.0
    level = math.log(x) if x > 1.0 else 0.0
    family, mean = table[arm, FAMILY], state[arm, TOTAL] / count
    return upper_mean(family, mean, own_term(family, mean), level / count, table[arm, SCALE], 0.0)


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
class KLUCBPlusPlus(FamilyPolicy):
    r"""KL-UCB with a level that falls as the arm is seen, relative to its share of the horizon.

    .. math:: \max\{q : N_a K(\hat\mu_a, q) \le \log^+(x(\log^+(x)^2+1))\},\quad x=\frac{T}{D N_a}

    Parameters
    ----------
    family
        ``"gaussian"`` (any sub-Gaussian rewards), ``"bernoulli"``, ``"poisson"`` or
        ``"exponential"``; left out, the law of the problem's rewards.
    dimension
        D, the sum of 1/p over the arms: a number; ``"learned"``, from how often the arms were
        played and seen; or ``"arms"`` for K, as without missing feedback.

    References
    ----------
    Menard, Garivier, *A minimax and asymptotically optimal algorithm for stochastic bandits*,
    2017.
    """

    kind: ClassVar[str] = "kl-ucb++"
    optimistic = True
    dimension: float | str = LEARNED
    index = staticmethod(index)
    choose = staticmethod(choose)

    def __post_init__(self) -> None:
        super().__post_init__()
        given = checked_dimension("KLUCBPlusPlus.dimension", self.dimension)
        object.__setattr__(self, "dimension", given)

    def kernels(self) -> Kernels:
        """Return the algorithm: an index unless D is learned."""
        kernels = super().kernels()
        learned = self.dimension == LEARNED
        return replace(kernels, index=None) if learned else replace(kernels, choose=None)

    def check(self, setting: Setting) -> None:
        """Refuse what does not fit the rewards, and a dimension below the number of arms."""
        super().check(setting)
        check_dimension("KLUCBPlusPlus.dimension", self.dimension, setting)

    def table(self, setting: Setting) -> Vector:
        """Return the family, 1/(2 sigma^2) and the share of the horizon of each arm."""
        rows = np.empty((setting.arms, 3))
        rows[:, FAMILY] = self.family_in(setting)
        rows[:, SCALE] = self.scales(setting)
        rows[:, SHARE] = share(self.dimension, setting)
        return rows
