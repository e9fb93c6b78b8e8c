"""A lower bound on the regret at a given round, for policies good on neighbouring problems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.problems import ArmedBandit
from halfseen.tables import show
from halfseen.theory.lower.arm_class import BOUNDED, ArmClass, arm_class

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
SECTIONS = 60
REGRET_FIX = "Give an upper bound on the policy's regret, above 0."


@dataclass(frozen=True, eq=False, repr=False)
class FiniteLowerBound(Shown, ByValue):
    """A lower bound on the regret of policies that are good on neighbouring problems.

    Attributes
    ----------
    value
        The bound.
    terms
        Contribution of each arm.
    raised
        Distance of each arm's mean above the best mean in the neighbouring problem that gives the
        bound; 0 for arms that do not contribute.
    horizon
        The number of rounds it holds for.
    regret
        The largest regret allowed on this and the neighbouring problems.
    silent_until
        The number of rounds up to which the bound is 0 for that regret: 8 times it, divided by the
        largest possible rise of an arm, at most its gap; infinite if no arm can be raised, such as
        arms without noise.
    """

    value: float
    terms: Vector
    raised: Vector
    horizon: float
    regret: float
    silent_until: float

    @property
    def possible(self) -> bool:
        """Whether a policy can have a regret of at most `regret` on all these problems.

        False if `value` exceeds `regret`: then the regret of every policy exceeds `regret` on one
        of the problems, and `value` is not a bound for any policy.
        """
        return self.value <= self.regret

    @property
    def says_something(self) -> bool:
        """Whether the bound is above 0; for few rounds or a large `regret` it is not."""
        return self.value > 0.0

    def __str__(self) -> str:
        rounds, most = show(float(self.horizon)), show(self.regret)
        problems = "here and wherever one worse arm is raised above the best"
        if not self.possible:
            return (
                f"By round {rounds} no policy loses at most {most} {problems}: on one of these"
                " problems every policy loses more."
            )
        if not self.says_something:
            said = f"By round {rounds} there is no bound for policies that lose at most {most}"
            if math.isinf(self.silent_until):
                return f"{said} {problems}."
            less = self.regret * self.horizon / self.silent_until
            return (
                f"{said} {problems}; there is one after more than {show(self.silent_until)} rounds,"
                f" or for those that lose less than {show(less)}."
            )
        return (
            f"By round {rounds} it is at least {show(self.value)} for any policy that loses at most"
            f" {most} {problems}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "value": self.value,
            "possible": self.possible,
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
    r"""Return a lower bound on the regret at round T of policies good on neighbouring problems.

    A policy with a regret of at most B on this problem, and on every problem in which one worse
    arm's mean is raised to at most its gap above the best, satisfies on this problem

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
        B, an upper bound on the policy's regret on all of these problems.
    family
        The class of laws, as for `asymptotic_lower_bound`; by default that of the rewards.

    Returns
    -------
    FiniteLowerBound
        The bound and the contribution of each arm.

    Notes
    -----
    If the value exceeds B itself, no policy satisfies the condition (`possible` is False); if it is
    0, there is no bound (`says_something` is False). The printed sentence mentions both cases.

    Unlike C log T, this bound holds at every T. If B is of order log T, it tends to C log T as T
    grows, but slowly.

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
    most = checks.number("regret", regret, above=0.0, fix=REGRET_FIX)
    terms, raised = np.zeros(len(arms.means)), np.zeros(len(arms.means))
    ratios, rises = _largest_ratios(arms, math.log(time) - math.log(8.0 * most))
    terms[arms.worse] = arms.gaps[arms.worse] / arms.observe[arms.worse] * ratios
    raised[arms.worse] = rises
    rise = _largest_rise(arms)
    return FiniteLowerBound(
        value=math.fsum(terms),
        terms=arms.per_arm(terms, 0.0),
        raised=arms.per_arm(raised, 0.0),
        horizon=time,
        regret=most,
        silent_until=8.0 * most / rise if rise > 0.0 else math.inf,
    )


def _largest_rise(arms: ArmClass) -> float:
    """Return how far any arm can be raised above the best by a finite divergence, 0 if none can."""
    raisable = arms.worse[np.isfinite(arms.information())]
    room = 1.0 - arms.means.max() if arms.family in ("bernoulli", BOUNDED) else math.inf
    return float(min(arms.gaps[raisable].max(initial=0.0), room))


def _largest_ratios(arms: ArmClass, offset: float) -> tuple[Vector, Vector]:
    """Maximise (log e + offset)/d(m, M + e) for each worse arm, over e up to its gap.

    In log e the numerator is linear and the divergence convex, for every class here (that of
    exponential laws is not convex in e), so there is a single maximum, found by golden-section
    search in log e for all arms at once.
    """
    most = np.log(arms.gaps[arms.worse])
    least = np.minimum(np.full(len(most), -offset), most)

    def ratio(log_rise: Vector) -> Vector:
        return (log_rise + offset) / arms.information(np.exp(log_rise))

    low, high = least, most
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = ratio(left), ratio(right)
    for _ in range(SECTIONS):
        rising = at_left < at_right
        low, high = np.where(rising, left, low), np.where(rising, high, right)
        new = np.where(rising, low + GOLDEN * (high - low), high - GOLDEN * (high - low))
        at_new = ratio(new)
        left, right = np.where(rising, right, new), np.where(rising, new, left)
        at_left, at_right = np.where(rising, at_right, at_new), np.where(rising, at_new, at_left)
    tried = np.array([ratio(left), ratio(right), ratio(most)])
    best = tried.argmax(axis=0)
    column = np.arange(len(most))
    value = tried[best, column]
    rises = np.exp(np.array([left, right, most])[best, column])
    paid = (value > 0.0) & (least < most)
    return np.where(paid, value, 0.0), np.where(paid, rises, 0.0)
