"""Upper confidence bounds by the rewards' own divergence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.kernels.kullback_leibler import (
    GAUSSIAN,
    divergence,
    level_term,
    own_term,
    slope_term,
    upper_mean,
)
from halfseen.kernels.ties import tie_edge
from halfseen.policies.arms.base import COUNT, TOTAL, Kernels, State
from halfseen.policies.arms.families import FamilyPolicy
from halfseen.problems.setting import Setting

MEAN, OWN, BOUND, POINT, SLOPE, OFFSET = range(2, 8)
FAMILY, SCALE = 0, 1
CLOCKS = ("observed", "rounds")
EQUAL = (
    1.0 + 1e-9
)  # bounds of equal arms differ by rounding, which depends on where the search began
LARGE = 1e6  # mean above which the sum of K's terms loses too many digits
BELOW = 1.0 / 64.0  # how far below the last largest bound the search for the next one starts


def learn(state: State, arm: int, reward: float, table: Vector) -> None:
    """Add one observed reward; keep the mean and the part of K that depends on it alone."""
    count = state[arm, COUNT] + 1.0
    total = state[arm, TOTAL] + reward
    state[arm, COUNT] = count
    state[arm, TOTAL] = total
    state[arm, MEAN] = total / count
    state[arm, OWN] = own_term(table[arm, FAMILY], total / count)


def choose_observed(
    state: State, plays: Vector, playable: NDArray[Any], clock: int, stream: Stream, table: Vector
) -> int:
    """Return the arm with the largest bound, the clock being the number of observations."""
    count = 0.0
    for arm in range(playable.size):
        if playable[arm] == 1:
            count += state[arm, COUNT]
    return largest_bound(state, playable, math.log(max(count, 1.0)), table)


def choose_rounds(
    state: State, plays: Vector, playable: NDArray[Any], clock: int, stream: Stream, table: Vector
) -> int:
    """Return the arm with the largest bound, the clock being the round."""
    return largest_bound(state, playable, math.log(clock), table)


def largest_bound(state: State, playable: NDArray[Any], log: float, table: Vector) -> int:
    """Return the arm with the largest M such that N K(mean, M) <= log, one never seen first.

    Above every mean, an arm's bound exceeds M if N K(mean, M) < log. Mostly one arm alone exceeds
    an M that lies a little below the last largest bound, and no equation has to be solved.
    """
    leader = -1
    lead = -math.inf
    for arm in range(playable.size):
        if playable[arm] == 1:
            if state[arm, COUNT] == 0.0:
                return arm
            mean = state[arm, MEAN]
            leader = arm if mean > lead else leader
            lead = mean if mean > lead else lead
    if table[0, FAMILY] == GAUSSIAN:
        return largest_normal_bound(state, playable, log, table)
    if not state[leader, POINT] > lead or lead > LARGE:
        return solved(state, playable, leader, log, table)
    slope, offset = state[leader, SLOPE], state[leader, OFFSET]
    above = -1
    others = -1
    for arm in range(playable.size):
        if playable[arm] == 1:
            cost = state[arm, OWN] + state[arm, MEAN] * slope + offset
            exceeds = state[arm, COUNT] * cost < log
            above = arm if exceeds else above
            others += 1 if exceeds else 0
    if others == 0:
        return above
    return solved(state, playable, leader, log, table)


def solved(state: State, playable: NDArray[Any], leader: int, log: float, table: Vector) -> int:
    """Return the arm with the largest bound, solving for those that exceed the largest so far."""
    family = table[0, FAMILY]
    chosen = leader
    top = bound(state, leader, log, table)
    for arm in range(playable.size):
        if playable[arm] == 1 and arm != leader:
            cost = divergence(family, state[arm, MEAN], top, 0.0)
            if not state[arm, COUNT] * cost > EQUAL * log:
                value = bound(state, arm, log, table)
                if value > tie_edge(top) or (tie_edge(value) >= top and arm < chosen):
                    top = value
                    chosen = arm
    below = top - BELOW * (top - state[leader, MEAN])
    state[leader, POINT] = below
    state[leader, SLOPE] = slope_term(family, below)
    state[leader, OFFSET] = level_term(family, below)
    return chosen


def largest_normal_bound(state: State, playable: NDArray[Any], log: float, table: Vector) -> int:
    """Return the arm with the largest mean + sigma sqrt(2 log / N)."""
    chosen = -1
    top = -math.inf
    for arm in range(playable.size):
        if playable[arm] == 1:
            value = state[arm, MEAN] + math.sqrt(log / (state[arm, COUNT] * table[arm, SCALE]))
            if value > top or chosen < 0:
                top = value
                chosen = arm
    return chosen


def bound(state: State, arm: int, log: float, table: Vector) -> float:
    """Return the largest M such that N K(mean, M) <= log, and keep it as the next guess."""
    family, mean, level = table[arm, FAMILY], state[arm, MEAN], log / state[arm, COUNT]
    value = upper_mean(family, mean, state[arm, OWN], level, table[arm, SCALE], state[arm, BOUND])
    state[arm, BOUND] = value
    return value


@dataclass(frozen=True)
class KLUCB(FamilyPolicy):
    r"""Play the arm with the largest upper confidence bound, by Kullback-Leibler divergence K.

    .. math:: \max\{q : N_a K(\hat\mu_a, q) \le \log n\}

    Parameters
    ----------
    family
        ``"gaussian"`` (any sub-Gaussian rewards), ``"bernoulli"``, ``"poisson"`` or
        ``"exponential"``; left out, the law of the problem's rewards.
    clock
        What n counts: ``"observed"`` rewards, so that rounds can be skipped and the regret is
        that of the uncensored bandit with gaps divided by p, or ``"rounds"``.

    References
    ----------
    Cappe, Garivier, Maillard, Munos, Stoltz, *Kullback-Leibler upper confidence bounds for optimal
    sequential allocation*, 2013.
    """

    kind: ClassVar[str] = "kl-ucb"
    summary: ClassVar[str] = (
        "Plays the arm with the largest upper confidence bound, by Kullback-Leibler divergence."
    )
    optimistic = True
    clock: str = "observed"
    statistics = 8
    learn = staticmethod(learn)
    choose = staticmethod(choose_observed)

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.one_of("KLUCB.clock", self.clock, CLOCKS)

    def kernels(self) -> Kernels:
        """Return the algorithm; with rounds as the clock, its choice may change in every round."""
        kernels = super().kernels()
        if self.clock == "observed":
            return kernels
        return replace(kernels, choose=choose_rounds, waits=False)

    def table(self, setting: Setting) -> Vector:
        """Return the family and 1/(2 sigma^2) of each arm."""
        family = np.full(setting.arms, float(self.family_in(setting)))
        return np.column_stack([family, self.scales(setting)])
