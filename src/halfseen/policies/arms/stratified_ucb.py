"""Upper confidence bounds from means within the values of a covariate that is always seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.policies.arms.base import COUNT, PULLED, STRATUM, TOTAL, Policy, State
from halfseen.policies.arms.hopeful_ucb import refuse_unbounded
from halfseen.problems.setting import Setting

WIDTHS = ("hoeffding", "variance")
FIRST, EACH = 4, 3  # column of the first value of the covariate, and how many each has
PLAYED, SEEN, SUM = range(3)  # of each value: rounds, seen rewards and their sum


def pull(state: State, arm: int, table: Vector) -> None:
    """Count a round of the arm, and of the value its covariate has."""
    state[arm, PULLED] += 1.0
    state[arm, FIRST + EACH * int(state[arm, STRATUM]) + PLAYED] += 1.0


def learn(state: State, arm: int, reward: float, table: Vector) -> None:
    """Add a seen reward to the arm, and to the value its covariate has."""
    state[arm, COUNT] += 1.0
    state[arm, TOTAL] += reward
    place = FIRST + EACH * int(state[arm, STRATUM])
    state[arm, place + SEEN] += 1.0
    state[arm, place + SUM] += reward


def stratified(state: State, arm: int) -> tuple[float, float, float]:
    """Return the stratified mean, its variance a round, and 1/N + sum of q^2/n.

    The last two are infinite while some value of the covariate was played and never seen.
    """
    pulled = state[arm, PULLED]
    mean = 0.0
    squares = 0.0
    spread = 0.0
    factor = 1.0 / pulled
    for place in range(FIRST, state.shape[1], EACH):
        if state[arm, place + PLAYED] == 0.0:
            continue
        count = state[arm, place + SEEN]
        if count == 0.0:
            return 1.0, math.inf, math.inf
        share = state[arm, place + PLAYED] / pulled
        own = state[arm, place + SUM] / count
        mean += share * own
        squares += share * own * own
        spread += share * own * (1.0 - own) * state[arm, place + PLAYED] / count
        factor += share * share / count
    return mean, max(squares - mean * mean, 0.0) + spread, factor


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return the stratified mean plus the width chosen."""
    pulled = state[arm, PULLED]
    if pulled == 0.0:
        return math.inf
    mean, variance, factor = stratified(state, arm)
    if factor == math.inf:
        return math.inf
    budget = table[arm, 0]
    if table[arm, 1] == 1.0:
        return mean + 2.0 * math.sqrt(budget * variance / pulled) + 6.0 * budget / pulled
    return mean + math.sqrt(budget * factor)


@dataclass(frozen=True)
class CovariatePolicy(Policy):
    """A policy that observes a covariate in every round, under the censorship `WithCovariate`.

    Under any other censorship the covariate has one value only. Live agents do not play it.
    """

    randomises: ClassVar[bool] = False
    uses_covariate: ClassVar[bool] = True
    levels: int = 2
    exponent: float = 2.0
    learn = staticmethod(learn)
    pull = staticmethod(pull)

    def __post_init__(self) -> None:
        field = f"{type(self).__name__}.levels"
        levels = checks.whole(field, self.levels, at_least=1, at_most=1000)
        object.__setattr__(self, "levels", levels)
        self._keep("exponent", above=0.0, fix="Use 2.0.")

    @property
    def statistics(self) -> int:  # type: ignore[override]
        """How many numbers are kept per arm."""
        return FIRST + EACH * self.levels


@dataclass(frozen=True)
class StratifiedUCB(CovariatePolicy):
    r"""Play the largest upper confidence bound of a mean averaged over an always-seen covariate.

    Valid if, given the arm and the covariate M, being seen does not depend on the reward:

    .. math:: \hat\mu_a=\sum_m\frac{N_{am}}{N_a}\frac{S_{am}}{n_{am}},\qquad
              \text{width }\sqrt{\frac{k\log T}{2}\Big(\frac1{N_a}+\sum_m\frac{q_m^2}{n_{am}}\Big)}

    with :math:`q_m=N_{am}/N_a`; an arm of which some value was played and never seen comes first.
    It assumes rewards in [0, 1].

    Without `WithCovariate` in the study M has one value, and this is an upper confidence bound on
    the mean of the seen rewards.

    Parameters
    ----------
    levels
        How many values the covariate has.
    exponent
        k: a bound fails with probability at most about :math:`T^{-k}`.
    form
        The width: ``"hoeffding"``, or ``"variance"`` for
        :math:`\sqrt{2\beta V/N_a}+3\beta/N_a` with :math:`\beta=k\log T` and
        :math:`V=\sum_m q_m((\mu_m-\mu)^2+\mu_m(1-\mu_m)/p_m)`.
    """

    kind: ClassVar[str] = "stratified-ucb"
    summary: ClassVar[str] = (
        "Plays the largest upper confidence bound of a mean averaged over an always-seen covariate."
    )
    form: str = "hoeffding"
    index = staticmethod(index)

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.one_of("StratifiedUCB.form", self.form, WIDTHS)

    def check(self, setting: Setting) -> None:
        """Refuse rewards that leave [0, 1]."""
        refuse_unbounded("StratifiedUCB", setting)

    def table(self, setting: Setting) -> Vector:
        """Return k log T / 2 and 1 for widths from variances, for each arm."""
        budget = 0.5 * self.exponent * math.log(setting.horizon)
        return np.tile([budget, float(self.form == "variance")], (setting.arms, 1))
