"""Two elimination policies, as references for researchers; UCB has less regret."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.policies.arms.base import COUNT, PULLED, TOTAL, Policy, State, count_pull
from halfseen.policies.arms.hopeful_ucb import refuse_unbounded
from halfseen.problems.setting import Setting

DROPPED = 3


def seen_bounds(state: State, arm: int, table: Vector) -> tuple[float, float]:
    """Return S/n minus and plus sqrt(beta / (2 n)), n being messages."""
    count = state[arm, COUNT]
    if count == 0.0:
        return -math.inf, math.inf
    mean, reach = state[arm, TOTAL] / count, math.sqrt(table[arm, 0] / count)
    return mean - reach, mean + reach


def possible_bounds(state: State, arm: int, table: Vector) -> tuple[float, float]:
    """Return the bounds if all rewards that have not arrived are 0, and if they are 1."""
    pulled = state[arm, PULLED]
    if pulled == 0.0:
        return -math.inf, math.inf
    reach, total = math.sqrt(table[arm, 0] / pulled), state[arm, TOTAL]
    return total / pulled - reach, (total + pulled - state[arm, COUNT]) / pulled + reach


def choose_seen(
    state: State, plays: Vector, playable: NDArray[Any], clock: int, stream: Stream, table: Vector
) -> int:
    """Drop arms by what was seen; return the remaining arm with the fewest plays."""
    drop(state, playable.size, table, False)
    return fewest_plays(state, playable)


def choose_possible(
    state: State, plays: Vector, playable: NDArray[Any], clock: int, stream: Stream, table: Vector
) -> int:
    """Drop arms by what is possible; return the remaining arm with the fewest plays."""
    drop(state, playable.size, table, True)
    return fewest_plays(state, playable)


def drop(state: State, arms: int, table: Vector, possible: bool) -> None:
    """Drop every arm whose upper bound is below the largest lower bound of those remaining."""
    lead = -math.inf
    for arm in range(arms):
        if state[arm, DROPPED] == 0.0:
            low, _ = bounds(state, arm, table, possible)
            lead = low if low > lead else lead
    for arm in range(arms):
        _, high = bounds(state, arm, table, possible)
        if high < lead:
            state[arm, DROPPED] = 1.0


def bounds(state: State, arm: int, table: Vector, possible: bool) -> tuple[float, float]:
    """Return an arm's bounds from the possible rewards, or from those seen."""
    return possible_bounds(state, arm, table) if possible else seen_bounds(state, arm, table)


def fewest_plays(state: State, playable: NDArray[Any]) -> int:
    """Return the playable arm with the fewest plays, one that was not dropped if there is any."""
    chosen = -1
    fewest = math.inf
    for arm in range(playable.size):
        if playable[arm] == 1:
            plays = state[arm, PULLED] + (2.0**53 if state[arm, DROPPED] == 1.0 else 0.0)
            chosen = arm if plays < fewest else chosen
            fewest = plays if plays < fewest else fewest
    return chosen


@dataclass(frozen=True)
class _Elimination(Policy):
    exponent: float = 2.0
    statistics = 4
    pull = staticmethod(count_pull)

    def __post_init__(self) -> None:
        self._keep("exponent", above=0.0, fix="Use 2.0.")

    def check(self, setting: Setting) -> None:
        """Refuse rewards that leave [0, 1]."""
        refuse_unbounded(type(self).__name__, setting)

    def table(self, setting: Setting) -> Vector:
        """Return k log T / 2 of each arm."""
        return np.full((setting.arms, 1), 0.5 * self.exponent * math.log(setting.horizon))


@dataclass(frozen=True)
class SuccessiveElimination(_Elimination):
    r"""Play arms in turn and drop one whose upper bound is below another's lower bound.

    The bounds are :math:`S_a/n_a \pm \sqrt{k\log T/(2n_a)}` with :math:`n_a` messages. It assumes
    rewards in [0, 1] and delays that do not depend on them. Its regret is several times that of
    UCB: a reference for researchers.

    Parameters
    ----------
    exponent
        k: a bound fails with probability at most :math:`T^{-k}`.

    References
    ----------
    Lancewicki, Segal, Koren, Mansour, *Stochastic multi-armed bandits with unrestricted delay
    distributions*, 2021.
    """

    kind: ClassVar[str] = "successive-elimination"
    summary: ClassVar[str] = "Plays arms in turn and drops those that are worse."
    randomises: ClassVar[bool] = False
    choose = staticmethod(choose_seen)


@dataclass(frozen=True)
class OptimisticElimination(_Elimination):
    r"""Drop an arm only if it is worse whatever the missing rewards are.

    The bounds are :math:`S_a/N_a - w` and :math:`(S_a+N_a-n_a)/N_a + w` with
    :math:`w=\sqrt{k\log T/(2N_a)}`, :math:`N_a` plays and :math:`n_a` messages. They hold if delays
    depend on the rewards; where rewards are lost they never close. It assumes rewards in [0, 1].

    Parameters
    ----------
    exponent
        k: a bound fails with probability at most :math:`T^{-k}`; the paper has 4.

    References
    ----------
    Lancewicki, Segal, Koren, Mansour, *Stochastic multi-armed bandits with unrestricted delay
    distributions*, 2021.
    """

    kind: ClassVar[str] = "optimistic-elimination"
    summary: ClassVar[str] = "Drops an arm only if it is worse whatever is missing."
    randomises: ClassVar[bool] = False
    choose = staticmethod(choose_possible)
