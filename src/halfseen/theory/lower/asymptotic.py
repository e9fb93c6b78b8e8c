"""The asymptotic lower bound: liminf regret / log T is at least C for consistent policies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput, shorten
from halfseen.problems import (
    ArmedBandit,
    FiniteActions,
    GeneralizedLinearBandit,
    LinearBandit,
)
from halfseen.tables import show
from halfseen.theory import inputs
from halfseen.theory.lower.arm_class import TIED, ArmClass, arm_class, check_information
from halfseen.theory.lower.graves_lai import Allocation, graves_lai

UNCERTAIN = 1e-3  # largest relative distance of the certificate from the constant
NO_SLOPE = "no lower bound that grows with T is known: the least slope in log T is 0"


@dataclass(frozen=True, eq=False, repr=False)
class AsymptoticLowerBound(Shown, ByValue):
    """The least slope of the regret in log T, and the allocation that attains it.

    It is an asymptotic slope, not a bound at finite T, where good policies are below C log T.

    Attributes
    ----------
    constant
        The constant C.
    terms
        Contribution of each action to C.
    allocation
        Plays of each action per log T that attain C; infinite for the best one.
    certificate
        A proved lower bound on C: C itself in closed form, else the value of a dual point, which
        agrees with C to about 1e-12, to 1e-6 where probabilities are as small as 1e-12 or actions
        differ by as little as 1e-8, and always to 1e-3.
    ignoring
        The constant of a policy that is optimal when everything is observed and is run on the
        observed rewards, ignoring p.
    uncensored
        The constant when everything is observed.
    reference
        The statement it comes from.
    """

    constant: float
    terms: Vector
    allocation: Vector
    certificate: float
    ignoring: float
    uncensored: float
    reference: str

    @property
    def worth(self) -> float:
        """The value of knowing p: the ratio of `ignoring` to C."""
        return self.ignoring / self.constant if 0.0 < self.constant < math.inf else 1.0

    def _headline(self) -> str:
        if self.constant == 0.0:
            return NO_SLOPE
        least, seen = show(self.constant), show(self.uncensored)
        return f"regret grows at least like {least} log T, {seen} log T if all were observed"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; None for infinite values."""

        def plain(value: float) -> float | None:
            return float(value) if math.isfinite(value) else None

        return {
            "constant": plain(self.constant),
            "terms": [plain(term) for term in self.terms],
            "allocation": [plain(plays) for plays in self.allocation],
            "certificate": plain(self.certificate),
            "ignoring": plain(self.ignoring),
            "uncensored": plain(self.uncensored),
            "worth": plain(self.worth),
            "reference": self.reference,
        }

    def __str__(self) -> str:
        if self.constant == 0.0:
            return f"{NO_SLOPE[0].upper()}{NO_SLOPE[1:]} ({self.reference})."
        return (
            f"Regret grows at least like {self.constant:,.6g} log T ({self.reference});\n"
            f"{self.uncensored:,.6g} log T if everything were observed,\n"
            f"{self.ignoring:,.6g} log T if p is ignored: knowing it is worth"
            f" a factor of {self.worth:,.4g}."
        )


def asymptotic_lower_bound(
    problem: ArmedBandit | LinearBandit,
    censorship: Censorship,
    *,
    family: str | None = None,
) -> AsymptoticLowerBound:
    r"""Return the least slope of the regret in log T that any consistent policy can have.

    For every policy whose regret is :math:`o(T^s)` for all s > 0 on every problem of the class,

    .. math:: \liminf_{T\to\infty}\frac{R_T}{\log T}\ge C=\sum_{\Delta_a>0}\frac{\Delta_a}{p_aK_a},

    with :math:`K_a` the least divergence of arm a's law from laws of the class whose mean is
    above the best mean. For linear bandits with a fixed finite set,

    .. math:: C=\min_{\eta\ge0}\sum_a\eta_a\Delta_a\quad\text{s.t.}\quad
              \|a\|^2_{H^{-1}}\le\frac{\Delta_a^2}{2\sigma^2},\quad
              H=\sum_b\eta_bp_bbb^\top,\ \eta_{\text{best}}=\infty .

    Parameters
    ----------
    problem
        Arms with Gaussian, Bernoulli, Poisson or exponential rewards or any on [0, 1], or a
        linear bandit with `FiniteActions`. One action must be the best.
    censorship
        The probability that each action's reward is observed.
    family
        The class of laws for which the policy is consistent: ``"gaussian"``,
        ``"gaussian-unknown-variance"``, ``"bernoulli"``, ``"poisson"``, ``"exponential"`` or
        ``"bounded"`` (any law on [0, 1]). By default, that of the rewards.

    Returns
    -------
    AsymptoticLowerBound
        The constant with its terms, allocation and certificate, and the cost of ignoring p.

    Notes
    -----
    The bound is the same whether p is known or not. For arms there are policies that attain C
    without knowing p; for linear bandits `ignoring` is the cost of not using p. If several
    allocations are optimal for p = 1, it is that of one of them.

    References
    ----------
    Lai, Robbins (1985); Burnetas, Katehakis (1996); Graves, Lai (1997); Lattimore, Szepesvari
    (2017).

    Examples
    --------
    >>> from halfseen import ArmedBandit, FiniteActions, LinearBandit, PerAction, PerArm
    >>> arms = ArmedBandit([0.9, 0.8, 0.7, 0.5], noise=[0.1, 1, 2, 0.3])
    >>> round(asymptotic_lower_bound(arms, PerArm([0.5, 0.2, 0.8, 0.3])).constant, 9)
    151.5
    >>> actions = FiniteActions([[1, 0], [0, 1], [0.98, 0.04]])
    >>> linear = LinearBandit([1, 0], actions=actions)
    >>> bound = asymptotic_lower_bound(linear, PerAction([1, 0.01, 1]))
    >>> round(bound.constant, 9), round(bound.worth, 9)
    (100.0, 8.0)
    """
    if isinstance(problem, GeneralizedLinearBandit) or not isinstance(
        problem, ArmedBandit | LinearBandit
    ):
        raise InvalidInput(
            "problem",
            "must have arms or be linear for a lower bound",
            problem,
            "Use ArmedBandit or LinearBandit.",
        )
    if isinstance(problem, LinearBandit):
        return _linear(problem, censorship, family)
    return _arms(arm_class(problem, censorship, family))


def _arms(arms: ArmClass) -> AsymptoticLowerBound:
    gaps, observations = arms.gaps, np.zeros(len(arms.means))
    observations[arms.worse] = 1.0 / arms.information()
    with np.errstate(over="ignore"):
        terms = gaps / arms.observe * observations
        plays = observations / arms.observe
    plays[arms.best] = math.inf
    constant = math.fsum(terms)
    return AsymptoticLowerBound(
        constant=constant,
        terms=arms.per_arm(terms, 0.0),
        allocation=arms.per_arm(plays, 0.0),
        certificate=constant,
        ignoring=constant,
        uncensored=math.fsum(gaps * observations),
        reference="Lai, Robbins (1985); Burnetas, Katehakis (1996)",
    )


def _linear(problem: LinearBandit, censorship: Any, family: Any) -> AsymptoticLowerBound:
    if family not in (None, "gaussian"):
        raise InvalidInput("family", "must be gaussian for linear bandits", family, "Leave it out.")
    if problem.law != "gaussian":
        raise InvalidInput(
            "LinearBandit.reward",
            "must be gaussian for a lower bound",
            problem.law,
            "Leave it out: the bound is implemented for Gaussian rewards only.",
        )
    if not isinstance(problem.actions, FiniteActions):
        raise InvalidInput(
            "LinearBandit.actions",
            "must be a fixed finite set for a lower bound",
            problem.actions,
            "Use FiniteActions.",
        )
    rows = np.asarray(problem.actions.actions, dtype=np.float64)
    means = problem.means(rows)
    best, gaps = int(np.argmax(means)), means.max() - means
    size = problem.norm * np.linalg.norm(rows, axis=1).max()
    tied = np.flatnonzero(gaps <= TIED * size)
    if len(tied) > 1:
        names = ", ".join(str(action) for action in tied[:5])
        raise InvalidInput(
            "LinearBandit.actions",
            "must have one best action for a lower bound",
            f"actions {names} tied at {shorten(float(means.max()))}",
            "Leave all but one of them out, or change theta.",
        )
    if not isinstance(censorship, Censorship):
        raise InvalidInput(
            "censorship", "must be a censorship of actions", censorship, "Use PerAction."
        )
    check_information(censorship)
    observe = inputs.action_observation(censorship, rows)
    found = _allocation(rows, gaps, observe, problem.noise, best)
    free = graves_lai(rows, gaps, np.ones(len(rows)), problem.noise, best)
    worse = gaps > 0.0
    terms = np.where(worse, gaps, 0.0) * np.where(worse, found.plays, 0.0)
    without = np.where(worse, gaps, 0.0) * np.where(worse, free.plays, 0.0) / observe
    return AsymptoticLowerBound(
        constant=found.constant,
        terms=terms,
        allocation=found.plays,
        certificate=found.certificate,
        ignoring=max(found.constant, math.fsum(without)),  # equal or larger up to rounding
        uncensored=free.constant,
        reference="Graves, Lai (1997)",
    )


def _allocation(rows: Vector, gaps: Vector, observe: Vector, noise: float, best: int) -> Allocation:
    """Return the cheapest plays; raise if p is too small for a certificate of three digits."""
    try:
        with np.errstate(all="ignore"):
            found = graves_lai(rows, gaps, observe, noise, best)
        solved = found.certificate >= (1.0 - UNCERTAIN) * found.constant
    except np.linalg.LinAlgError:
        solved = False
    if not solved:
        raise InvalidInput(
            "censorship",
            "must have larger probabilities for a lower bound",
            f"probabilities from {observe.min():.3g}",
            "Use 1e-40 or more: with smaller ones the program may not be solved to three digits.",
        )
    return found
