"""Bounds on the expected regret of GLMUCB and RidgeGLMUCB."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from halfseen import checks
from halfseen.censorship.smallest import smallest_observe
from halfseen.errors import InvalidInput
from halfseen.policies import GLMUCB, GLMPolicy, RidgeGLMUCB
from halfseen.policies.glm.base import GROWTH, GLMSetting
from halfseen.problems import FiniteActions, GeneralizedLinearBandit, RandomActions
from halfseen.theory.glm.exploration import Exploration, exploration
from halfseen.theory.glm.widths import glm_confidence_factor
from halfseen.theory.linear.bounds import (
    MEASURED,
    UNKNOWN,
    late_obstacle,
    linear_regret_bounds,
    measured,
    papers_potential_control,
    summed,
    trivial,
)
from halfseen.theory.linear.potential import expected_potential_bound
from halfseen.theory.linear.worst_case_along import worst_case_along
from halfseen.theory.proved_bounds import PAPER, Bound, RegretBounds

HALF = 0.5  # the lambda that turns the self-normalised bound into log(1 + 2T/d)


def glm_potential_bound(
    dimension: int,
    observe_min: float,
    horizon: float,
) -> float:
    r"""Return an upper bound on the expected potential of order 1 after exploration.

    .. math:: \mathbb E\sum_t\|a_t\|^2_{W^{-1}}\le\Big(1+\lambda\Big)\mathbb E\,V_1^{(\lambda)},
              \qquad \lambda=\tfrac12,

    because W at least I implies W at least :math:`(W+\lambda I)/(1+\lambda)`; the right-hand side
    is bounded as in the linear case.

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    observe_min
        The smallest probability of being observed, over the actions that can be played.
    horizon
        Number of rounds T.

    Returns
    -------
    float
        The bound; it also covers the rounds of exploration if their widths use I + W.

    References
    ----------
    Proved here; see `expected_potential_bound` for the right-hand side.

    Examples
    --------
    >>> round(glm_potential_bound(3, 0.5, 1000), 3)
    95.228
    """
    return (1.0 + HALF) * expected_potential_bound(dimension, observe_min, horizon, HALF)


def glm_regret_bounds(
    *,
    dimension: int,
    observe_min: float,
    horizon: int,
    largest_gap: float,
    steepest: float,
    kappa: float,
    explored: Exploration,
    noise: float = 0.5,
    delta: float | None = None,
    potential: float | None = None,
    lag: float = 1.0,
) -> RegretBounds:
    r"""Return every bound on the expected regret known for GLMUCB, in one table.

    .. math:: \mathbb E\,R\ \le\ \mathbb E\,R_{\rm init}+2L_\mu\,\frac{\sqrt3\,\sigma}\kappa
              \sqrt{\frac d2\log\Big(1+\frac{2T}d\Big)+\log\frac1\delta}\ \sqrt{T\,\mathbb E\,V_1}
              +\delta\,T\,\Delta_{\max}

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    observe_min
        The smallest probability of being observed, over the actions that can be played.
    horizon
        Number of rounds T, at least 1.
    largest_gap
        The largest regret of a round.
    steepest
        L, the largest slope of the link.
    kappa
        The smallest slope of the link.
    explored
        The cost of exploration, from `exploration`.
    noise
        Sub-Gaussian scale sigma of the rewards.
    delta
        The delta of GLMUCB's width, in ]0, 1]; by default the paper's 1 / T.
    potential
        The expected potential V_1 of this problem and policy, for example from a simulation.
    lag
        Largest ratio of the widths in use to the current ones: 1 for a fixed set, the root of 1.25
        if the likelihood is refitted only after the determinant has grown by a quarter.

    Returns
    -------
    RegretBounds
        The bounds by name, each with its terms, source, and whether it applies.

    Notes
    -----
    The paper's regret bound lacks the factor 2, and its width the factor sqrt(3).

    References
    ----------
    Guinet, Amin, Jaillet (2022), section "Extension to Generalized Linear Contextual Bandits".

    Examples
    --------
    >>> bounds = glm_regret_bounds(
    ...     dimension=2, horizon=10**8, observe_min=0.5, largest_gap=0.4, steepest=0.25,
    ...     kappa=0.2, explored=Exploration(2, 4.0, 1.0, True),
    ... )
    >>> bounds.smallest.name, round(bounds.smallest.value)
    ('potential', 1828653)
    """
    d = checks.whole("dimension", dimension, at_least=1)
    time = checks.whole("horizon", horizon, at_least=1)
    gap = checks.number("largest_gap", largest_gap, at_least=0.0)
    steep = checks.number("steepest", steepest, at_least=0.0)
    share = 1.0 / time if delta is None else delta
    beta = lag * glm_confidence_factor(d, time, noise, kappa, share)

    def terms(expected: float, start: float) -> Mapping[str, float]:
        return {
            "exploration": min(start, time * gap),
            "confidence widths": 2.0 * steep * beta * math.sqrt(time * expected),
            "optimism fails": share * time * gap,
        }

    control = papers_potential_control(d, observe_min, time, HALF, share)
    order = papers_order(d, observe_min, time, steep, kappa)
    rows = [
        summed(
            "potential",
            terms(glm_potential_bound(d, observe_min, time), explored.regret),
            "expected potential at most 3/2 kappa d/p_min log(1 + 2 p_min T/d)",
        ),
        measured(
            lambda value: terms(value, explored.regret),
            potential,
            "the same proof, with the potential given",
        ),
        summed(
            "paper's theorem",
            terms((1.0 + HALF) * control, explored.rounds * gap),
            f"{PAPER}, extension to GLCB, corrected",
            paper=True,
        ),
        Bound(
            "paper's order",
            order,
            applies=False,
            reason="L/kappa sqrt(d d_eff T), without constants and logarithms: not a bound",
        ),
        trivial(time, gap),
    ]
    return RegretBounds(time, tuple(rows))


def papers_order(
    dimension: int,
    observe_min: float,
    horizon: float,
    steepest: float,
    kappa: float,
) -> float:
    r"""Return the order of GLMUCB's regret in the paper, without constants and logarithms.

    .. math:: L_\mu\frac{\sqrt{d\cdot d_{\rm eff}}}\kappa\sqrt T,\qquad
              d_{\rm eff}=\frac d{p_{\min}}\ \text{in the worst case}

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    observe_min
        The smallest probability of being observed.
    horizon
        Number of rounds T.
    steepest, kappa
        The largest and the smallest slope of the link.

    Returns
    -------
    float
        The order, which is not a bound.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section "Extension to Generalized Linear Contextual Bandits".

    Examples
    --------
    >>> papers_order(4, 0.25, 10_000, 0.25, 0.2)
    1000.0
    """
    return steepest * dimension / kappa * math.sqrt(horizon / observe_min)


def bounds_of_glm(
    problem: GeneralizedLinearBandit,
    censorship: Any,
    policy: Any,
    horizon: int,
    rounds: Sequence[int],
    potential: float | None = None,
) -> list[RegretBounds]:
    """Return the tables for a policy tuned to `horizon`.

    GLMUCB and RidgeGLMUCB get more than the trivial bound.
    """
    if not isinstance(policy, GLMPolicy):
        raise InvalidInput(
            "policy", "must be a policy for generalized linear bandits", policy, "Use GLMUCB()."
        )
    setting = setting_of(problem, horizon)
    least = smallest_observe(problem, censorship)
    reason = obstacle(problem, policy, setting) or late_obstacle(censorship)
    if reason is None and math.isnan(least):
        reason = UNKNOWN
    gap = problem.largest_gap
    if reason:
        nothing = [
            Bound(name, math.inf, applies=False, reason=reason, paper=name.startswith("paper"))
            for name in ("potential", MEASURED, "paper's theorem")
        ]
        return [RegretBounds(time, (*nothing, trivial(time, gap))) for time in rounds]
    shared: dict[str, Any] = {
        "dimension": problem.dimension,
        "observe_min": least,
        "largest_gap": gap,
        "delta": policy.failure(setting),
        "potential": potential,
    }
    steepest = problem.curve.slopes(problem.reach * problem.norm)[1]
    lag = 1.0 if problem.actions.same_every_round else math.sqrt(1.0 + GROWTH)
    scale, kappa = policy.scale(setting), policy.curvature(setting)
    if isinstance(policy, GLMUCB):
        shared |= {"steepest": steepest, "kappa": kappa, "noise": scale, "lag": lag}
        explored = exploration(problem, censorship)
        return [glm_regret_bounds(**shared, horizon=time, explored=explored) for time in rounds]
    worst = worst_case_along(problem, censorship, policy.regularization, rounds)
    shared |= {
        "bound": problem.norm if policy.bound is None else policy.bound,
        "noise": scale / kappa,
        "regularization": policy.regularization,
    }
    tables = []
    for place, time in enumerate(rounds):
        largest = None if worst is None else float(worst[place])
        table = linear_regret_bounds(**shared, horizon=time, worst_case=largest)
        tables.append(RegretBounds(time, tuple(_steepened(b, lag * steepest) for b in table)))
    return tables


def setting_of(problem: GeneralizedLinearBandit, horizon: int) -> GLMSetting:
    """Return the setting passed to a policy for a problem."""
    return GLMSetting(
        problem.dimension, problem.noise, problem.norm, horizon, problem.curve, problem.reach
    )


def _steepened(bound: Bound, factor: float) -> Bound:
    """Turn a bound on the regret in <a, theta> into one on the regret in the mean."""
    widths = "confidence widths"
    if not bound.applies or widths not in bound.terms:
        return bound
    terms = dict(bound.terms) | {widths: factor * bound.terms[widths]}
    return replace(bound, terms=terms, value=math.fsum(terms.values()))


def obstacle(
    problem: GeneralizedLinearBandit, policy: GLMPolicy, setting: GLMSetting
) -> str | None:
    """Return why no bound is proved, or None; raise if the policy was given a wrong value."""
    name = type(policy).__name__
    if type(policy) not in (GLMUCB, RidgeGLMUCB):
        return f"proved for GLMUCB and RidgeGLMUCB, not for {name}"
    if problem.curve.law == "poisson":
        return "Poisson rewards are not sub-Gaussian"
    if isinstance(policy, GLMUCB):
        if policy.width != "proved":
            return "the paper's width is too narrow for a proof; use width='proved'"
        if not isinstance(problem.actions, FiniteActions | RandomActions):
            return "exploration may never end on a given sequence; use RidgeGLMUCB"
    least = problem.curve.bends(policy.limit(setting))[0]
    claims = (
        ("noise", policy.noise, problem.noise, 1.0),
        ("bound", policy.bound, problem.norm, 1.0),
        ("kappa", policy.kappa, least, -1.0),
    )
    for field, value, truth, sign in claims:
        if value is not None and sign * value < sign * truth * (1.0 - sign * 1e-12):
            limit = "at least" if sign > 0.0 else "at most"
            raise InvalidInput(
                f"{name}.{field}",
                f"must be {limit} the truth, {truth:g}, for any bound to hold",
                value,
                "Change it or leave it out.",
            )
    return None
