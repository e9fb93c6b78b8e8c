"""Confidence bounds that allow missing rewards to differ from seen ones, up to an odds ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.errors import InvalidInput
from halfseen.policies.arms.base import COUNT, PULLED, TOTAL, Policy, State, count_pull
from halfseen.policies.arms.hopeful_ucb import refuse_unbounded
from halfseen.problems.setting import Setting

OBJECTIVES = ("upper", "lower")
BUDGET, INVERSE, LOWER = range(3)  # columns of the table: k log T / 2, 1/Gamma, 1 for `lower`
FIRST, EACH = 3, 2  # column of the first bin, and how many each has
SEEN, SUM = range(2)  # of each bin: seen rewards and their sum


def learn(state: State, arm: int, reward: float, table: Vector) -> None:
    """Add a seen reward to the arm and, if it keeps bins, to the bin it lies in."""
    state[arm, COUNT] += 1.0
    state[arm, TOTAL] += reward
    bins = (state.shape[1] - FIRST) // EACH - 1
    if bins > 0:
        place = FIRST + EACH * min(bins, max(0, int(reward * bins)))
        state[arm, place + SEEN] += 1.0
        state[arm, place + SUM] += reward


def highest_expectile(state: State, arm: int, reach: float, inverse: float) -> float:
    """Return an upper bound of the largest mean the missing rewards may have.

    It is the v at which the mean of max(r - v, (r - v) / Gamma), plus `reach` times its range
    1 - v + v / Gamma, is 0: the largest root over all numbers of rewards called larger than v.
    Rewards within a bin count as at its two ends, with the mean they have.
    """
    bins = (state.shape[1] - FIRST) // EACH - 1
    width = state[arm, COUNT] * reach
    sums = inverse * state[arm, TOTAL] + width
    slope = inverse * state[arm, COUNT] + (1.0 - inverse) * width
    best = sums / slope if slope > 0.0 else 0.0
    for j in range(bins, -1, -1):
        count = state[arm, FIRST + EACH * j + SEEN]
        if count == 0.0:
            continue
        excess = state[arm, FIRST + EACH * j + SUM] - count * j / bins
        upper = min(count, max(0.0, excess * bins)) if j < bins else 0.0
        sums += (1.0 - inverse) * upper * (j + 1) / bins
        slope += (1.0 - inverse) * upper
        if slope > 0.0:
            best = max(best, sums / slope)
        sums += (1.0 - inverse) * (count - upper) * j / bins
        slope += (1.0 - inverse) * (count - upper)
        best = max(best, sums / slope)
    return min(1.0, best)


def lowest_expectile(state: State, arm: int, reach: float, inverse: float) -> float:
    """Return an upper bound of the smallest mean the missing rewards may have.

    As `highest_expectile` with min((r - v) / Gamma, r - v) and the smallest root; rewards within
    a bin count as at their mean.
    """
    width = state[arm, COUNT] * reach
    sums = state[arm, TOTAL] + inverse * width
    slope = state[arm, COUNT] - (1.0 - inverse) * width
    best = sums / slope if slope > 0.0 else 1.0
    for place in range(state.shape[1] - EACH, FIRST - 1, -EACH):
        if state[arm, place + SEEN] > 0.0:
            sums -= (1.0 - inverse) * state[arm, place + SUM]
            slope -= (1.0 - inverse) * state[arm, place + SEEN]
            if slope > 0.0:
                best = min(best, sums / slope)
    return min(1.0, max(0.0, best))


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return an upper confidence bound of the largest or the smallest mean Gamma allows."""
    pulled = state[arm, PULLED]
    if pulled == 0.0:
        return math.inf
    count = state[arm, COUNT]
    if count == 0.0:
        return 1.0
    width = math.sqrt(table[arm, BUDGET] / count)
    share = state[arm, TOTAL] / count + width
    if share >= 1.0:
        return 1.0
    reach = math.sqrt(table[arm, BUDGET] / pulled)
    inverse = table[arm, INVERSE]
    binary = state.shape[1] == FIRST
    if table[arm, LOWER] == 1.0:
        seen = min(1.0, count / pulled + reach)
        if binary:
            missing = share * inverse / (share * inverse + 1.0 - share)
        else:
            missing = lowest_expectile(state, arm, width, inverse)
    else:
        seen = max(0.0, count / pulled - reach)
        if binary:
            missing = share / (share + (1.0 - share) * inverse)
        else:
            missing = highest_expectile(state, arm, width, inverse)
    return seen * share + (1.0 - seen) * missing


@dataclass(frozen=True)
class GammaUCB(Policy):
    r"""Play the arm that could be best if missing rewards differ from seen ones by odds Gamma.

    If the odds of being seen differ at most :math:`\Gamma`-fold between a reward of 0 and one of
    1, the mean of an arm seen with probability p, whose seen rewards have mean s, lies between

    .. math:: L = ps + (1-p)\frac{s}{s+\Gamma(1-s)},\qquad
              U = ps + (1-p)\frac{\Gamma s}{\Gamma s+1-s}.

    The index puts :math:`s^+=\min(1, S_a/n_a+\sqrt{k\log T/(2n_a)})` in place of s and
    :math:`n_a/N_a\mp\sqrt{k\log T/(2N_a)}` in place of p, minus for U and plus for L.

    For other rewards in [0, 1], given `bins`, the largest mean of the missing is the expectile v of
    the seen rewards with :math:`\Gamma E(R-v)^+=E(v-R)^+`, the smallest that with
    :math:`1/\Gamma`. In the index v is the root of

    .. math:: \frac1{n_a}\sum_i\big(\Gamma(r_i-v)^+-(v-r_i)^+\big)
              + (\Gamma(1-v)+v)\sqrt{\frac{k\log T}{2n_a}} = 0.

    Parameters
    ----------
    gamma
        The odds ratio, at least 1; infinite to assume nothing.
    objective
        ``"upper"`` settles on the arm with the largest U: it gives up no arm that could be best.
        ``"lower"`` settles on the one with the largest L, the safe choice.
    exponent
        k: a bound fails with probability at most :math:`T^{-k}`.
    bins
        None for rewards of 0 and 1. For others in [0, 1], into how many bins of equal length they
        are counted, for example 50: exact for rewards that are multiples of 1/bins (5 for ratings
        of 0 to 5 divided by 5); else the bound is too high by a fraction of a bin, never too low.

    Notes
    -----
    No policy can tell which arm is best where the intervals [L, U] overlap; the two objectives
    fail in opposite worlds.

    References
    ----------
    Rosenbaum, *Observational studies*, 2002, and Manski, *Partial identification of probability
    distributions*, 2003, for the intervals.
    """

    kind: ClassVar[str] = "gamma-ucb"
    summary: ClassVar[str] = (
        "Plays the arm that could be best if missing rewards differ from seen ones by odds Gamma."
    )
    randomises: ClassVar[bool] = False
    gamma: float = 2.0
    objective: str = "upper"
    exponent: float = 2.0
    bins: int | None = None
    index = staticmethod(index)
    learn = staticmethod(learn)
    pull = staticmethod(count_pull)

    def __post_init__(self) -> None:
        if self.gamma != math.inf:
            fix = "1 assumes that rewards are missing at random, inf assumes nothing."
            self._keep("gamma", at_least=1.0, fix=fix)
        checks.one_of("GammaUCB.objective", self.objective, OBJECTIVES)
        self._keep("exponent", above=0.0, fix="Use 2.0.")
        if self.bins is not None:
            bins = checks.whole("GammaUCB.bins", self.bins, at_least=1, at_most=1000)
            object.__setattr__(self, "bins", bins)

    @property
    def statistics(self) -> int:  # type: ignore[override]
        """How many numbers are kept per arm."""
        return FIRST if self.bins is None else FIRST + EACH * (self.bins + 1)

    def check(self, setting: Setting) -> None:
        """Refuse rewards that may leave [0, 1], and without bins all but 0 and 1."""
        if self.bins is not None or not setting.unit_interval:
            refuse_unbounded("GammaUCB", setting)
        elif setting.reward != "bernoulli":
            raise InvalidInput(
                "GammaUCB.bins",
                "must be given where rewards are not only 0 or 1",
                f"None with {setting.reward} rewards",
                "Use for example bins=50.",
            )

    def table(self, setting: Setting) -> Vector:
        """Return k log T / 2, 1 over gamma and the objective, for each arm."""
        budget = 0.5 * self.exponent * math.log(setting.horizon)
        lower = 1.0 if self.objective == "lower" else 0.0
        return np.tile([budget, 1.0 / self.gamma, lower], (setting.arms, 1))
