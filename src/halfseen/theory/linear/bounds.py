"""Bounds on the expected regret of LinUCB: those of the paper and sharper ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from halfseen import checks
from halfseen.censorship.smallest import smallest_observe
from halfseen.errors import InvalidInput
from halfseen.policies import LinearPolicy, LinUCB
from halfseen.policies.linear.base import LinearSetting
from halfseen.problems import LinearBandit
from halfseen.theory.linear.potential import (
    censoring_factor,
    continuous_potential_bracket,
    expected_potential_bound,
    papers_censoring_factor,
    potential_control_factor,
)
from halfseen.theory.linear.worst_case_along import worst_case_along
from halfseen.theory.proved_bounds import PAPER, Bound, RegretBounds

MEASURED = "measured potential"  # the bound that needs a measurement
LATE = "not proved for delayed feedback"
UNKNOWN = "needs the smallest probability of being observed, unknown for a Python function"


def confidence_factor(
    dimension: int,
    horizon: float,
    regularization: float,
    noise: float,
    bound: float,
    delta: float,
) -> float:
    r"""Return the largest width factor LinUCB can reach in T rounds.

    .. math:: \tilde\beta=\sigma\sqrt{d\log\Big(1+\frac{T}{d\lambda}\Big)+2\log\frac1\delta}
              +\sqrt\lambda\,\|\theta\|

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    horizon
        Number of rounds T.
    regularization
        The paper's lambda.
    noise
        Sub-Gaussian scale sigma of the rewards.
    bound
        Upper bound on the length of theta.
    delta
        Probability that the confidence ellipsoid ever misses theta, in ]0, 1].

    Returns
    -------
    float
        The factor, at least :math:`\sigma\sqrt{\log\det W-d\log\lambda+2\log(1/\delta)}
        +\sqrt\lambda\|\theta\|` in every round.

    Notes
    -----
    The paper's lemma on optimism prints 2 log(1/delta) without the sigma^2.

    References
    ----------
    Guinet, Amin, Jaillet (2022), proof of theorem 4.1; Abbasi-Yadkori, Pál,
    Szepesvári (2011), theorem 2.

    Examples
    --------
    >>> round(confidence_factor(2, 100, 1.0, 1.0, 1.0, delta=0.01), 6)
    5.132069
    """
    d = checks.whole("dimension", dimension, at_least=1)
    time = checks.number("horizon", horizon, at_least=0.0)
    sigma = checks.number("noise", noise, at_least=0.0)
    lam = checks.number("regularization", regularization, above=0.0, fix="Use 1.0.")
    length = checks.number("bound", bound, at_least=0.0)
    share = checks.number("delta", delta, above=0.0, at_most=1.0, fix="Use for example 0.01.")
    inside = d * math.log1p(time / (d * lam)) - 2.0 * math.log(share)
    return sigma * math.sqrt(inside) + math.sqrt(lam) * length


def papers_potential_control(
    dimension: int,
    observe_min: float,
    horizon: float,
    regularization: float,
    delta: float,
    *,
    factor: float | None = None,
) -> float:
    r"""Return the paper's upper bound on the expected potential of order 1, corrected.

    .. math:: \mathbb E\,V_1\ \le\ \frac{\delta T}{\lambda}
              + c_\delta\Big(1+\frac1\lambda\Big)J^\star(T),\qquad
              J^\star\le\frac{d}{p_{\min}}\log\Big(1+\frac{p_{\min}T}{d\lambda}\Big)

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    observe_min
        The smallest probability of being observed, over the actions that can be played.
    horizon
        Number of rounds T.
    regularization
        The paper's lambda.
    delta
        Probability of the event that far fewer rewards are observed than expected, in ]0, 1].
    factor
        The factor c; by default the paper's (`papers_censoring_factor`).

    Returns
    -------
    float
        The bound; `expected_potential_bound` is always smaller.

    Notes
    -----
    In the paper the failure term lacks the factor T.

    References
    ----------
    Guinet, Amin, Jaillet (2022), proposition 4.3.

    Examples
    --------
    >>> round(papers_potential_control(3, 0.5, 1000, 1.0, delta=3e-6), 3)
    6793.226
    """
    upper = continuous_potential_bracket(dimension, observe_min, horizon, regularization).upper
    c = papers_censoring_factor(dimension, regularization, delta) if factor is None else factor
    c = checks.number("factor", c, above=0.0)
    return delta * horizon / regularization + c * (1.0 + 1.0 / regularization) * upper


def linear_regret_bounds(
    *,
    dimension: int,
    observe_min: float,
    horizon: int,
    regularization: float = 1.0,
    largest_gap: float,
    bound: float = 1.0,
    noise: float = 1.0,
    delta: float | None = None,
    potential: float | None = None,
    worst_case: float | None = None,
) -> RegretBounds:
    r"""Return every bound on the expected regret known for LinUCB, in one table.

    .. math:: \mathbb E\,R\ \le\ 2\tilde\beta\sqrt{T\,\mathbb E\,V_1}+\delta\,T\,\Delta_{\max}

    with :math:`\mathbb E\,V_1` bounded in different ways: by :math:`\kappa J^\star`, by
    :math:`\kappa\frac{d}{p_{\min}}\log(1+\frac{p_{\min}T}{d\lambda})`, by the paper's
    :math:`\frac{\delta T}\lambda+c_\delta(1+\frac1\lambda)J^\star`, or measured.

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    observe_min
        The smallest probability of being observed, over the actions that can be played.
    horizon
        Number of rounds T, at least 1.
    regularization
        The paper's lambda.
    largest_gap
        The largest regret of a round.
    bound
        LinUCB's upper bound on the length of theta, which must hold.
    noise
        Sub-Gaussian scale sigma of the rewards.
    delta
        The delta of LinUCB's width, in ]0, 1]; by default the paper's d / T^2.
    potential
        The expected potential V_1 of this problem and policy, for example from a simulation.
    worst_case
        J*, the largest continuous potential (`worst_case_potential`); by default its upper bound
        from `observe_min`.

    Returns
    -------
    RegretBounds
        The bounds by name, each with its terms, source, and whether it applies.

    Notes
    -----
    None of this holds if the probability of being observed depends on the reward. The bounds are
    for the worst case, and actual regret is often far below them.

    References
    ----------
    Guinet, Amin, Jaillet (2022), lemma 4.2 and theorem 4.1; the corrections are listed in the
    errata.

    Examples
    --------
    >>> bounds = linear_regret_bounds(
    ...     dimension=3, horizon=100_000, observe_min=0.5, largest_gap=2.0
    ... )
    >>> bounds.smallest.name, round(bounds.smallest.value, 1)
    ('potential', 56078.3)
    >>> bounds["trivial"].value
    200000.0
    """
    d = checks.whole("dimension", dimension, at_least=1)
    time = checks.whole("horizon", horizon, at_least=1)
    gap = checks.number("largest_gap", largest_gap, at_least=0.0)
    share = min(1.0, d / time**2) if delta is None else delta
    beta = confidence_factor(d, time, regularization, noise, bound, share)

    def terms(expected: float) -> Mapping[str, float]:
        return {
            "confidence widths": 2.0 * beta * math.sqrt(time * expected),
            "optimism fails": share * time * gap,
        }

    sharper = censoring_factor(d, regularization, share)
    controls = (d, observe_min, time, regularization, share)
    alone = expected_potential_bound(d, observe_min, time, regularization)
    rows = [
        _worst(terms, alone, worst_case, regularization),
        summed(
            "potential from d/p_min",
            terms(alone),
            "expected potential at most kappa d/p_min log(1 + p_min T/(d lambda))",
        ),
        measured(terms, potential, "lemma 4.2, with the potential given"),
        summed(
            "paper's theorem, sharper factor",
            terms(papers_potential_control(*controls, factor=sharper)),
            "the paper's theorem with the smallest factor its proof allows",
        ),
        summed(
            "paper's theorem",
            terms(papers_potential_control(*controls)),
            f"{PAPER}, theorem 4.1, corrected, with J at most d/p_min log(...)",
            paper=True,
        ),
        trivial(time, gap),
    ]
    return RegretBounds(time, tuple(rows))


def summed(name: str, terms: Mapping[str, float], reference: str, *, paper: bool = False) -> Bound:
    """Return a bound that is the sum of its terms."""
    return Bound(name, math.fsum(terms.values()), terms, reference, paper)


def trivial(rounds: int, gap: float) -> Bound:
    """Return the bound that holds for every policy."""
    return summed("trivial", {"largest gap": rounds * gap}, "the largest gap in every round")


def _worst(
    compute: Callable[[float], Mapping[str, float]],
    alone: float,
    worst_case: float | None,
    regularization: float,
) -> Bound:
    if worst_case is None:
        reference = "expected potential at most kappa J*, with J* at most d/p_min log(...)"
        return summed("potential", compute(alone), reference)
    value = checks.number("worst_case", worst_case, at_least=0.0, fix="Leave it out.")
    expected = min(potential_control_factor(regularization) * value, alone)
    reference = "expected potential at most kappa J*, J* the worst case for this model"
    return summed("potential", compute(expected), reference)


def measured(
    compute: Callable[[float], Mapping[str, float]], potential: float | None, reference: str
) -> Bound:
    """Return the bound based on the given expected potential, if there is one."""
    if potential is None:
        return Bound(MEASURED, math.inf, applies=False, reason="needs the expected potential")
    value = checks.number("potential", potential, at_least=0.0, fix="Give the mean of V_1.")
    return summed(MEASURED, compute(value), reference)


def bounds_of_linear(
    problem: LinearBandit,
    censorship: Any,
    policy: Any,
    horizon: int,
    rounds: Sequence[int],
    potential: float | None = None,
) -> list[RegretBounds]:
    """Return the tables for a policy tuned for `horizon`; only LinUCB gets more than one bound."""
    if not isinstance(policy, LinearPolicy):
        raise InvalidInput("policy", "must be a linear policy", policy, "Use LinUCB().")
    reason = obstacle(problem, policy) or late_obstacle(censorship)
    noise, bound, delta = problem.noise, problem.norm, None
    if isinstance(policy, LinUCB):
        noise = noise if policy.noise is None else policy.noise
        bound = bound if policy.bound is None else policy.bound
        delta = failure_probability(problem, policy, horizon)
    worst = worst_case_along(problem, censorship, policy.regularization, rounds)
    least = smallest_observe(problem, censorship)
    known = not math.isnan(least)
    tables = [
        linear_regret_bounds(
            dimension=problem.dimension,
            horizon=time,
            observe_min=least if known else 1.0,
            largest_gap=problem.largest_gap,
            bound=bound,
            noise=noise,
            regularization=policy.regularization,
            delta=delta,
            potential=potential,
            worst_case=None if worst is None else float(worst[place]),
        )
        for place, time in enumerate(rounds)
    ]
    if reason is not None:
        return [_without(table, {"trivial"}, reason) for table in tables]
    if not known:
        return [_without(table, {"trivial", MEASURED}, UNKNOWN) for table in tables]
    return tables


def _without(table: RegretBounds, kept: Collection[str], reason: str) -> RegretBounds:
    rows = [
        bound
        if bound.name in kept
        else replace(bound, value=math.inf, terms={}, applies=False, reason=reason)
        for bound in table
    ]
    return RegretBounds(table.horizon, tuple(rows))


def obstacle(problem: LinearBandit, policy: Any) -> str | None:
    """Return why no bound is proved, or None if one is; raise if LinUCB was given a wrong value."""
    if type(policy) is not LinUCB:  # nor for subclasses
        return f"proved for LinUCB, not for {type(policy).__name__}"
    told = (("noise", policy.noise, problem.noise), ("bound", policy.bound, problem.norm))
    for field, value, truth in told:
        if value is not None and value < truth:
            raise InvalidInput(
                f"LinUCB.{field}",
                f"must be at least the truth, {truth:g}, for any bound to hold",
                value,
                "Raise it or leave it out.",
            )
    return None


def late_obstacle(censorship: Any) -> str | None:
    """Return why no bound is proved with delayed feedback, or None if it is not delayed."""
    return LATE if censorship.comes_late else None


def failure_probability(problem: LinearBandit, policy: Any, horizon: int) -> float:
    """Return the delta of a policy's confidence width."""
    setting = LinearSetting(problem.dimension, problem.noise, problem.norm, horizon)
    return float(policy.failure(setting))
