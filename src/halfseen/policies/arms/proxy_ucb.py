"""Upper confidence bounds under reward-dependent missingness, by a proxy of the reward."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.errors import InvalidInput
from halfseen.policies.arms.base import COUNT, PULLED, TOTAL, State
from halfseen.policies.arms.stratified_ucb import EACH, FIRST, PLAYED, SEEN, SUM, CovariatePolicy
from halfseen.problems.setting import Setting

SINGULAR = 1e-12  # determinant relative to the product of the diagonal


def missing_odds(state: State, arm: int) -> tuple[float, float, float, float, float]:
    """Return the odds of missing a 0 and a 1, and the Gram matrix of the seen shares.

    The odds o solve A o = b in least squares, with A[m, r] the share of rounds with M = m in which
    R = r was seen and b[m] of those in which nothing was; they are NaN where A'A is singular.
    """
    pulled = state[arm, PULLED]
    zeros, both, ones, first, second = 0.0, 0.0, 0.0, 0.0, 0.0
    for place in range(FIRST, state.shape[1], EACH):
        one = state[arm, place + SUM] / pulled
        zero = state[arm, place + SEEN] / pulled - one
        missing = (state[arm, place + PLAYED] - state[arm, place + SEEN]) / pulled
        zeros += zero * zero
        both += zero * one
        ones += one * one
        first += zero * missing
        second += one * missing
    determinant = zeros * ones - both * both
    if not determinant > SINGULAR * zeros * ones:
        return math.nan, math.nan, zeros, both, ones
    odds_zero = (ones * first - both * second) / determinant
    odds_one = (zeros * second - both * first) / determinant
    return odds_zero, odds_one, zeros, both, ones


def proxied(state: State, arm: int) -> tuple[float, float]:
    """Return the mean by the proxy and its variance a round; NaN where it is not identified."""
    pulled = state[arm, PULLED]
    odds_zero, odds_one, zeros, both, ones = missing_odds(state, arm)
    if not (odds_zero >= 0.0 and odds_one >= 0.0):
        return math.nan, math.nan
    seen_ones = state[arm, TOTAL] / pulled
    mean = seen_ones * (1.0 + odds_one)
    determinant = zeros * ones - both * both
    for_zero, for_one = -both * seen_ones / determinant, zeros * seen_ones / determinant
    variance = 0.0
    for place in range(FIRST, state.shape[1], EACH):
        one = state[arm, place + SUM] / pulled
        zero = state[arm, place + SEEN] / pulled - one
        missing = (state[arm, place + PLAYED] - state[arm, place + SEEN]) / pulled
        lift = zero * for_zero + one * for_one
        variance += zero * (lift * odds_zero + mean) ** 2
        variance += one * (1.0 + odds_one - lift * odds_one - mean) ** 2
        variance += missing * (lift - mean) ** 2
    return mean, variance


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return the mean by the proxy plus its width, at most the assumption-free bound."""
    pulled = state[arm, PULLED]
    if pulled == 0.0:
        return math.inf
    budget = table[arm, 0]
    hoped = state[arm, TOTAL] + pulled - state[arm, COUNT]
    highest = hoped / pulled + math.sqrt(budget / pulled)
    mean, variance = proxied(state, arm)
    if mean != mean:
        return highest
    bound = mean + 2.0 * math.sqrt(budget * variance / pulled) + 6.0 * budget / pulled
    return min(bound, highest)


@dataclass(frozen=True)
class ProxyUCB(CovariatePolicy):
    r"""Play the largest upper confidence bound of a mean recovered by a proxy of the reward.

    Valid if, given the arm and the reward (0 or 1), being seen does not depend on the covariate M,
    and M is informative about the reward in every arm. The odds :math:`o_r` of missing a reward r
    solve

    .. math:: \sum_r P(M=m, R=r, \text{seen})\,o_r = P(M=m, \text{missing})\quad\text{for all } m,

    and :math:`\mu_a=P(R=1,\text{seen})(1+o_1)`. The width is :math:`\sqrt{2\beta V/N}+3\beta/N`
    with :math:`\beta=k\log T` and V the variance of the influence function. Where the equations
    are singular, or an odds is negative, the bound of `HopefulUCB` is taken, and it is never
    exceeded.

    Without `WithCovariate` in the study M has one value and no information: the bound is always
    that of `HopefulUCB`.

    Parameters
    ----------
    levels
        How many values the covariate has.
    exponent
        k: a bound fails with probability at most about :math:`T^{-k}`.
    """

    kind: ClassVar[str] = "proxy-ucb"
    summary: ClassVar[str] = (
        "Plays the largest upper confidence bound of a mean recovered by a proxy of the reward."
    )
    index = staticmethod(index)

    def check(self, setting: Setting) -> None:
        """Refuse rewards other than 0 and 1."""
        if setting.reward != "bernoulli":
            raise InvalidInput(
                "ProxyUCB",
                "must be played with rewards of 0 or 1",
                f"{setting.reward} rewards",
                'Use reward="bernoulli", or another policy.',
            )

    def table(self, setting: Setting) -> Vector:
        """Return k log T / 2 of each arm."""
        return np.full((setting.arms, 1), 0.5 * self.exponent * math.log(setting.horizon))
