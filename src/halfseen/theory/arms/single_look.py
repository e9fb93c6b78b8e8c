"""The largest expected potential with one look at which rewards are missing."""

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
from halfseen.theory.arms.adaptivity import adaptive_potential, offline_potential
from halfseen.theory.arms.late_look import look_gain
from halfseen.theory.arms.looks import monitored_potential
from halfseen.theory.arms.monitoring import monitoring_constant
from halfseen.theory.arms.potential import fluid_potential

LONGEST_EXACT = 1000
FEW_COUNTS = 1e5  # with three arms or more, states up to which the value is exact (about a second)
LONGEST_BRACKET = 200_000


@dataclass(frozen=True, eq=False, repr=False)
class MonitoredPotential(Shown, ByValue):
    """The largest expected potential with one look.

    Attributes
    ----------
    value
        The largest expected potential.
    error
        Bound on the error of `value`; 0 when the value is exact to rounding.
    first
        Rounds to give each arm before the look.
    """

    value: float
    error: float
    first: Vector


def single_monitoring_potential(
    observe: Sequence[float] | Vector,
    horizon: float,
    alpha: float,
    regularization: float | Sequence[float] | Vector,
    at: float,
) -> MonitoredPotential:
    r"""Return the largest expected potential with one look after a share `at` of the rounds.

    .. math:: \max_{\sum\tau_a=\lfloor\beta T\rfloor}\ \sum_a\sum_{n<\tau_a}e_a(n)
              + \mathbb E\max_{\sum m_a=T-\lfloor\beta T\rfloor}\sum_a\sum_{n<m_a}
              \mathbb E\big[(N_a+\mathrm{Bin}(n,p_a)+\lambda_a)^{-\alpha}\mid N_a\big]

    with :math:`N_a\sim\mathrm{Bin}(\tau_a,p_a)` the counts seen at the look.

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
        `look_gain`, with a proved error bound: the exact value lies between offline and adaptive
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
        exact = monitored_potential(p, time, order, lam, [early])
        return MonitoredPotential(exact.value, 0.0, np.array(exact.first, dtype=np.float64))
    return _bracketed(p, time, order, lam, early)


def _bracketed(
    p: Vector, horizon: int, alpha: float, lam: Vector, early: int
) -> MonitoredPotential:
    """Return the offline value plus the asymptotic gain, with an error bound."""
    low = offline_potential(p, horizon, alpha, lam).value
    ceiling = adaptive_potential if horizon <= LONGEST_BRACKET else fluid_potential
    high = max(low, ceiling(p, horizon, alpha, lam))
    value = min(high, low + look_gain(p, horizon, alpha, early))
    shares = monitoring_constant(p, alpha, early / horizon).shares
    return MonitoredPotential(value, max(value - low, high - value), shares * horizon)
