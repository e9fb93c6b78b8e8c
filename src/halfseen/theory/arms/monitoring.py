"""The value of a single look at which rewards are missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.theory import inputs
from halfseen.theory.arms.adaptivity import (
    adaptive_potential,
    adaptivity_constant,
    offline_potential,
)
from halfseen.theory.arms.potential import fluid_potential

LONGEST_EXACT = 1000
FEW_COUNTS = 1e5  # with three arms or more, states up to which the value is exact (about a second)
LONGEST_BRACKET = 200_000


@dataclass(frozen=True, eq=False, repr=False)
class MonitoringConstant(Shown, ByValue):
    """The constant of the gain from one look.

    Attributes
    ----------
    value
        The true constant: single monitoring - offline ~ value / T^alpha.
    papers_claim
        The paper's beta * gamma, too small unless all arms are observed equally often.
    shares
        Share of all rounds to give each arm before the look.
    """

    value: float
    papers_claim: float
    shares: Vector


@dataclass(frozen=True, eq=False, repr=False)
class MonitoredPotential(Shown, ByValue):
    """The largest expected potential with one look.

    Attributes
    ----------
    value
        The largest expected potential.
    error
        The truth is no farther from `value` than this; 0 when the value is exact to rounding.
    first
        Rounds to give each arm before the look.
    """

    value: float
    error: float
    first: Vector


def monitoring_constant(
    observe: Sequence[float] | Vector, alpha: float, at: float
) -> MonitoringConstant:
    r"""Return the constant of the gain from one look after a share `at` of the rounds.

    .. math:: \frac\alpha2\,d_{\rm eff}^{1+\alpha}\,\max\Big\{\sum_a x_a w_a:\ \sum_a x_a=\beta,\
              0\le x_a\le\frac{1}{p_a d_{\rm eff}}\Big\},\qquad
              w_a=(1-p_a)\Big(1-\frac{1}{p_a d_{\rm eff}}\Big)

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    alpha
        Order of the potential, above 0.
    at
        beta, the share of the rounds played before the look, in [0, 1].

    Returns
    -------
    MonitoringConstant
        The constant, the paper's, and the shares x that reach it.

    Notes
    -----
    The paper prints beta * gamma. That is the gain when the first rounds are forced to be spread in
    proportion to 1/p; it is better to look at the arms of largest w first, a fractional knapsack.
    The truth is concave and piecewise linear in beta, and several times the paper's when beta is
    small and a rarely played arm is far from always observed.

    References
    ----------
    Corrects Guinet, Amin, Jaillet (2022), proposition 3.7, second display.

    Examples
    --------
    >>> look = monitoring_constant([0.1, 0.5, 0.9], alpha=1.0, at=0.25)
    >>> round(look.value, 6), round(look.papers_claim, 6)
    (7.344444, 5.055556)
    """
    p, order = inputs.observation(observe), inputs.order(alpha)
    beta = checks.number("at", at, at_least=0.0, at_most=1.0, fix="Give a share of the rounds.")
    dimension = float((1.0 / p).sum())
    room = 1.0 / (p * dimension)
    worth = (1.0 - p) * (1.0 - room)
    best = np.argsort(-worth, kind="stable")
    before = np.cumsum(room[best]) - room[best]
    shares = np.empty(len(p))
    shares[best] = np.clip(beta - before, 0.0, room[best])
    value = 0.5 * order * dimension ** (1.0 + order) * float(shares @ worth)
    shares.flags.writeable = False
    return MonitoringConstant(value, beta * adaptivity_constant(p, order), shares)


def single_monitoring_potential(
    observe: Sequence[float] | Vector,
    horizon: float,
    alpha: float,
    regularization: float | Sequence[float] | Vector,
    at: float,
) -> MonitoredPotential:
    r"""Return the largest expected potential with one look after `at` of the rounds.

    .. math:: \max_{\sum\tau_a=\lfloor\beta T\rfloor}\ \sum_a\sum_{n<\tau_a}e_a(n)
              + \mathbb E\max_{\sum m_a=T-\lfloor\beta T\rfloor}\sum_a\sum_{n<m_a}
              \mathbb E\big[(N_a+\mathrm{Bin}(n,p_a)+\lambda_a)^{-\alpha}\mid N_a\big]

    with :math:`N_a\sim\mathrm{Bin}(\tau_a,p_a)` what the look shows.

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    horizon
        Number of rounds T, a whole number.
    alpha
        Order of the potential, above 0.
    regularization
        The paper's lambda, one number or one per arm.
    at
        beta, the share of the rounds played before the look, in [0, 1].

    Returns
    -------
    MonitoredPotential
        Exact for one arm, for a look before the first or after the last round, for two arms and at
        most 1000 rounds, and for more arms and few rounds. Otherwise the offline value plus
        `look_gain`, with an error that is proved: the truth lies between offline and adaptive
        (beyond 200 000 rounds, between offline and fluid).

    References
    ----------
    Guinet, Amin, Jaillet (2022), proposition 3.7.

    Examples
    --------
    >>> look = single_monitoring_potential([0.3, 0.7], 12, 0.5, 1.0, at=0.5)
    >>> round(look.value, 6), look.error, look.first.tolist()
    (9.316088, 0.0, [4.0, 2.0])
    """
    p, order = inputs.observation(observe), inputs.order(alpha)
    lam = inputs.regularization(regularization, len(p))
    time = checks.whole("horizon", horizon, at_least=1)
    beta = checks.number("at", at, at_least=0.0, at_most=1.0, fix="Give a share of the rounds.")
    early = min(time, math.floor(beta * time + 1e-9))
    if len(p) == 1 or early in (0, time):
        best = offline_potential(p, time, order, lam)
        first = best.allocation.astype(np.float64) if early == time else np.zeros(len(p))
        first = np.array([float(early)]) if len(p) == 1 else first
        return MonitoredPotential(best.value, 0.0, first)
    if (len(p) == 2 and time <= LONGEST_EXACT) or (time + 1.0) ** len(p) <= FEW_COUNTS:
        from halfseen.theory.arms.looks import monitored_potential

        exact = monitored_potential(p, time, order, lam, [early])
        return MonitoredPotential(exact.value, 0.0, np.array(exact.first, dtype=np.float64))
    return _bracketed(p, time, order, lam, early)


def _bracketed(
    p: Vector, horizon: int, alpha: float, lam: Vector, early: int
) -> MonitoredPotential:
    """Return the offline value plus the asymptotic gain, with an error bound."""
    from halfseen.theory.arms.late_look import look_gain

    low = offline_potential(p, horizon, alpha, lam).value
    ceiling = adaptive_potential if horizon <= LONGEST_BRACKET else fluid_potential
    high = max(low, ceiling(p, horizon, alpha, lam))
    value = min(high, low + look_gain(p, horizon, alpha, early))
    shares = monitoring_constant(p, alpha, early / horizon).shares
    return MonitoredPotential(value, max(value - low, high - value), shares * horizon)
