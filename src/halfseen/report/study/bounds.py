"""Proved bounds beside what was measured: one table, and curves along the rounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.censorship.smallest import smallest_observe
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.policies import GLMUCB, UCB, LinUCB, RidgeGLMUCB
from halfseen.policies.linear.base import LinearSetting
from halfseen.problems import GeneralizedLinearBandit, LinearBandit
from halfseen.report.study.measures import Place
from halfseen.theory import (
    Bound,
    RegretBounds,
    fluid_potential,
    joint_potential,
    regret_bounds,
)
from halfseen.theory.arms import bound_terms
from halfseen.theory.arms.dimension import has_fixed_arms
from halfseen.theory.glm.bounds import bounds_of_glm, glm_potential_bound
from halfseen.theory.glm.exploration import exploration
from halfseen.theory.linear.bounds import linear_regret_bounds
from halfseen.theory.linear.potential import expected_potential_bound, potential_control_factor
from halfseen.theory.linear.potential_limits import worst_case_along

SMALLEST, PAPER = "smallest bound", "paper’s bound"
MEASURED = "measured potential"  # the name of the bound that needs a measurement


@dataclass(frozen=True, eq=False)
class Midway(bound_terms.World):
    """The numbers of a bound at a round before the horizon the policy was told."""

    told: int = 1

    @property
    def confidence(self) -> float:
        """The logarithm of the horizon the policy was told: its widths have it, at every round."""
        return math.log(self.told)


def proved(place: Place) -> bool:
    """Tell whether something is proved of the policy, and what it was told is true."""
    if place.generalized:
        try:
            table = bounds_of_glm(place.problem, place.censorship, place.policy, 2)
        except InvalidInput:
            return False
        return any(bound.applies and bound.name != "trivial" for bound in table)
    if place.linear:
        if type(place.policy) is not LinUCB:
            return False
        told = (place.policy.noise, place.problem.noise), (place.policy.bound, place.problem.norm)
        return all(given is None or given >= truth for given, truth in told)
    if type(place.policy) is not UCB or not place.problem.law.sub_gaussian:
        return False
    largest = float(np.abs(np.array(place.problem.means)[place.problem.playable]).max())
    return place.policy.bound is None or place.policy.bound >= largest


def bounded_policies(problem: Any) -> tuple[type[Any], ...]:
    """Return the policies whose regret is bounded in problems of this kind."""
    if isinstance(problem, GeneralizedLinearBandit):
        return GLMUCB, RidgeGLMUCB
    return (LinUCB,) if isinstance(problem, LinearBandit) else (UCB,)


def in_words(policies: tuple[type[Any], ...]) -> str:
    """Write the names of some policies.

    >>> in_words((LinUCB,)), in_words((GLMUCB, RidgeGLMUCB))
    ('the policy LinUCB', 'the policies GLMUCB and RidgeGLMUCB')
    """
    names = " and ".join(policy.__name__ for policy in policies)
    return f"the polic{'y' if len(policies) == 1 else 'ies'} {names}"


def bounds_at_horizon(
    place: Place, horizon: int, potential: float | None = None
) -> RegretBounds | str:
    """Return every bound, or a sentence that says why there is none.

    Parameters
    ----------
    place
        A problem, a censorship and a policy.
    horizon
        The number of rounds.
    potential
        The mean potential of order 1 of a linear bandit, if it was measured.
    """
    wanted = bounded_policies(place.problem)
    if type(place.policy) not in wanted:
        return f"The bounds are proved for {in_words(wanted)}."
    try:
        return regret_bounds(place.problem, place.censorship, place.policy, horizon, potential)
    except InvalidInput as error:
        return str(error)


def bounds_along(place: Place, horizon: int, rounds: NDArray[np.int64]) -> dict[str, Vector]:
    """Return the smallest bound and the paper's smallest, at each of some rounds.

    At round t the policy still explores as the horizon T told it to, with log T in its widths.
    So each bound is evaluated for t rounds but with log T, not log t.

    Parameters
    ----------
    place
        A problem, a censorship and a policy.
    horizon
        The horizon the policy was told.
    rounds
        Where to evaluate the bounds.

    Returns
    -------
    dict
        Curves by name; empty where no bound is proved.
    """
    if not proved(place):
        return {}
    if place.generalized:
        return _generalized_along(place, horizon, rounds)
    if place.linear:
        return _linear_along(place, horizon, rounds)
    fixed = has_fixed_arms(place.problem)
    sharp = [_own_gaps, bound_terms.trivial]
    paper = [bound_terms.papers_theorem]
    if fixed:
        sharp += [bound_terms.instance, bound_terms.instance_in_horizon]
        paper += [bound_terms.papers_instance]
    worlds = [_world(place, int(time), horizon) for time in rounds]
    return {
        name: np.array([min(_value(terms, w) for terms in kinds) for w in worlds])
        for name, kinds in ((SMALLEST, sharp + paper), (PAPER, paper))
    }


def potential_along(place: Place, alpha: float, rounds: NDArray[np.int64]) -> Vector:
    """Return the bound on the expected potential at each of some rounds, exact for arms.

    Infinite where the smallest probability of being observed is not known.
    """
    lam = float(place.policy.regularization)
    if place.linear:
        least = smallest_observe(place.problem, place.censorship)
        d = place.problem.dimension
        if math.isnan(least):
            return np.full(len(rounds), np.inf)
        if place.generalized and place.policy.explores:
            return np.array([glm_potential_bound(d, float(t), least) for t in rounds])
        worst = worst_case_along(place.problem, place.censorship, lam, rounds)
        if worst is not None:
            return potential_control_factor(lam) * worst
        return np.array([expected_potential_bound(d, float(t), lam, least) for t in rounds])
    observe = place.observe
    return np.array([fluid_potential(observe, float(t), alpha, lam) for t in rounds])


def smallest_proved(table: RegretBounds) -> Bound:
    """Return the smallest bound that needs no measurement."""
    return min((b for b in table if b.applies and b.name != MEASURED), key=lambda b: b.value)


def failure_of(place: Place, horizon: int) -> float:
    """Return the delta LinUCB's width was made with."""
    problem = place.problem
    setting = LinearSetting(problem.dimension, problem.noise, problem.norm, horizon)
    return float(place.policy.failure(setting))


def _linear_along(place: Place, told: int, rounds: NDArray[np.int64]) -> dict[str, Vector]:
    """Evaluate LinUCB's bounds for fewer rounds, with the delta of the horizon it was told."""
    problem, policy = place.problem, place.policy
    least = smallest_observe(problem, place.censorship)
    if math.isnan(least):
        return {}
    gap, delta = problem.largest_gap, failure_of(place, told)
    worst = worst_case_along(problem, place.censorship, policy.regularization, rounds)
    tables = [
        linear_regret_bounds(
            dimension=problem.dimension,
            horizon=int(time),
            observe_min=least,
            largest_gap=gap,
            norm=problem.norm if policy.bound is None else policy.bound,
            noise=problem.noise if policy.noise is None else policy.noise,
            regularization=policy.regularization,
            delta=delta,
            worst_case=None if worst is None else float(worst[at]),
        )
        for at, time in enumerate(rounds)
    ]
    return _curves(tables)


def _generalized_along(place: Place, told: int, rounds: NDArray[np.int64]) -> dict[str, Vector]:
    """Evaluate the bounds of generalized linear policies for fewer rounds than they were told."""
    triple = (place.problem, place.censorship, place.policy)
    explored = worst = None
    if place.policy.explores:
        explored = exploration(*triple[:2])
    else:
        worst = worst_case_along(*triple[:2], float(place.policy.regularization), rounds)
    return _curves(
        [
            bounds_of_glm(
                *triple,
                int(time),
                told=told,
                explored=explored,
                worst=None if worst is None else worst[at : at + 1],
            )
            for at, time in enumerate(rounds)
        ]
    )


def _curves(tables: list[RegretBounds]) -> dict[str, Vector]:
    return {
        SMALLEST: np.array([smallest_proved(table).value for table in tables]),
        PAPER: np.array([min(b.value for b in table if b.paper) for table in tables]),
    }


def _world(place: Place, time: int, told: int) -> Midway:
    problem, policy = place.problem, place.policy
    bound = getattr(policy, "bound", None)
    return Midway(
        observe=place.observe,
        noise=problem.scale[problem.playable],
        gaps=problem.gaps[problem.playable],
        regularization=float(policy.regularization),
        bound=problem.setting(told).bound if bound is None else float(bound),
        horizon=time,
        told=told,
    )


def _value(compute: Callable[[bound_terms.World], dict[str, float]], world: Midway) -> float:
    return math.fsum(bound_terms.evaluated(compute, world).values())


def _own_gaps(world: bound_terms.World) -> dict[str, float]:
    """Fill the rounds with cells of cost min(the arm's gap, twice the width): never above joint."""
    rounds = joint_potential(
        world.observe,
        world.horizon,
        world.regularization,
        world.noise,
        world.bound,
        world.gaps,
        confidence=world.confidence,
    )
    return {"rounds": rounds, "optimism fails": world.optimism_fails}
