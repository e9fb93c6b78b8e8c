"""The regret that must be paid by a given round, by policies good on neighbouring problems."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.problems import ArmedBandit
from halfseen.theory.lower.arm_class import ArmClass, arm_class


@dataclass(frozen=True)
class FiniteLowerBound:
    """A regret that policies which are good on neighbouring problems exceed.

    Attributes
    ----------
    value
        The bound.
    terms
        The part of each arm.
    raised
        How far above the best mean each arm's mean is in the neighbouring problem that decides;
        0 for arms without a part.
    horizon
        The number of rounds it holds for.
    regret
        The regret a policy must not exceed on this and the neighbouring problems.
    """

    value: float
    terms: Vector
    raised: Vector
    horizon: float
    regret: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "value": self.value,
            "terms": self.terms.tolist(),
            "raised": self.raised.tolist(),
            "horizon": self.horizon,
            "regret": self.regret,
        }


def finite_lower_bound(
    problem: ArmedBandit,
    censorship: Censorship,
    horizon: float,
    regret: float,
    *,
    family: str | None = None,
) -> FiniteLowerBound:
    r"""Return the regret by round T of any policy that is good on neighbouring problems.

    A policy that loses at most B on this problem, and on every problem in which one worse arm's
    mean is raised to at most its gap above the best, loses here at least

    .. math:: R_T\ge\sum_{\Delta_a>0}\Delta_a\max_{0<\varepsilon\le\Delta_a}
              \frac{\log^+(T\varepsilon/8B)}{p_a\,d(\mu_a,\mu^\star+\varepsilon)} .

    Parameters
    ----------
    problem
        The arms, one of them the best.
    censorship
        The probability that each arm's reward is observed.
    horizon
        Number of rounds T.
    regret
        The regret B that the policy must not exceed on any of these problems.
    family
        The class of laws, as for `asymptotic_lower_bound`; left out, that of the rewards.

    Returns
    -------
    FiniteLowerBound
        The bound and the part of each arm.

    Notes
    -----
    This, unlike C log T, holds at every T. As T grows and B is of order log T it tends to C log T,
    but slowly.

    References
    ----------
    Lattimore, Szepesvari (2020), theorem 16.4, with p.

    Examples
    --------
    >>> from halfseen import ArmedBandit, PerArm
    >>> arms = ArmedBandit([0.5, 0.4, 0.3, 0.2, 0.1], noise=0.5)
    >>> seen = PerArm([0.3, 0.9, 0.1, 0.5, 0.2])
    >>> round(finite_lower_bound(arms, seen, 1e9, regret=1500).value, 6)
    249.315664
    """
    arms = arm_class(problem, censorship, family)
    time = checks.number("horizon", horizon, above=0.0, fix="Give the number of rounds.")
    most = checks.number(
        "regret", regret, above=0.0, fix="Give a regret the policy does not exceed, above 0."
    )
    terms, raised = np.zeros(len(arms.means)), np.zeros(len(arms.means))
    for place in arms.worse:
        gap = float(arms.gaps[place])
        ratio, raised[place] = _largest_ratio(arms, place, gap, math.log(time) - math.log(8 * most))
        terms[place] = gap / arms.observe[place] * ratio
    return FiniteLowerBound(
        value=math.fsum(terms),
        terms=arms.per_arm(terms, 0.0),
        raised=arms.per_arm(raised, 0.0),
        horizon=time,
        regret=most,
    )


def _largest_ratio(arms: ArmClass, place: int, gap: float, offset: float) -> tuple[float, float]:
    """Maximise (log e + offset)/d(m, M + e) over e up to the gap, for which the log is positive.

    A positive concave function over a convex one has one maximum.
    """
    best, divergence = float(arms.means.max()), arms.information(place)
    least = -offset
    if least >= math.log(gap):
        return 0.0, 0.0

    def negative(log_rise: float) -> float:
        return -(log_rise + offset) / divergence(best + math.exp(log_rise))

    found = _minimum(negative, least, math.log(gap))
    value = -negative(found)
    return (value, math.exp(found)) if value > 0.0 else (0.0, 0.0)


def _minimum(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import minimize_scalar

    inner = float(
        minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": 1e-11}).x
    )
    return high if function(high) <= function(inner) else inner
