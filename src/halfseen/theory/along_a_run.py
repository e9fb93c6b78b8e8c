"""Bounds along a run: on the potential at given rounds, and on the failure of optimism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.censorship.smallest import smallest_observe
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.policies import GLMUCB, UCB, LinUCB, RidgeGLMUCB
from halfseen.theory.arms import bounds as of_arms
from halfseen.theory.arms.potential import fluid_potential
from halfseen.theory.events import optimism_failure_probability
from halfseen.theory.glm import bounds as of_glm
from halfseen.theory.linear import bounds as of_linear
from halfseen.theory.linear.potential import expected_potential_bound, potential_control_factor
from halfseen.theory.linear.worst_case_along import worst_case_along


def bounded_policies(problem: Any) -> tuple[type[Any], ...]:
    """Return the policies to which all regret bounds for this kind of problem apply."""
    if problem.generalized:
        return GLMUCB, RidgeGLMUCB
    return (LinUCB,) if problem.linear else (UCB,)


def potential_bound_along(
    problem: Any, censorship: Any, policy: Any, alpha: float, rounds: Sequence[int] | NDArray[Any]
) -> Vector:
    """Return an upper bound on the expected potential at each of the given rounds.

    Parameters
    ----------
    problem, censorship, policy
        A bandit, its censorship and a policy.
    alpha
        Order of the potential; ignored for linear bandits, where it is 1.
    rounds
        The numbers of rounds.

    Returns
    -------
    Vector
        One bound per entry of `rounds`; infinite if feedback is delayed or the smallest probability
        of being observed is unknown.
    """
    lam = float(policy.regularization)
    if censorship.comes_late:
        return np.full(len(rounds), np.inf)
    if not problem.linear:
        observe = censorship.rates(problem)[problem.playable]
        return np.array([fluid_potential(observe, float(t), alpha, lam) for t in rounds])
    least, d = smallest_observe(problem, censorship), problem.dimension
    if math.isnan(least):
        return np.full(len(rounds), np.inf)
    if problem.generalized and policy.explores:
        return np.array([of_glm.glm_potential_bound(d, least, float(t)) for t in rounds])
    worst = worst_case_along(problem, censorship, lam, rounds)
    if worst is not None:
        return potential_control_factor(lam) * worst
    return np.array([expected_potential_bound(d, least, float(t), lam) for t in rounds])


def optimism_failure(problem: Any, censorship: Any, policy: Any, horizon: int) -> float | None:
    """Return a bound on the probability that the policy's confidence set ever misses the truth.

    Parameters
    ----------
    problem, censorship, policy
        A bandit, its censorship and a policy.
    horizon
        Number of rounds T.

    Returns
    -------
    float or None
        None if no bound is proved, for example because the policy was given a wrong noise or bound.
    """
    if type(policy) not in bounded_policies(problem):
        return None
    if problem.linear and of_linear.late_obstacle(censorship):
        return None
    try:
        if problem.generalized:
            unknown = math.isnan(smallest_observe(problem, censorship))
            setting = of_glm.setting_of(problem, horizon)
            if unknown or of_glm.obstacle(problem, policy, setting):
                return None
            return float(policy.failure(setting))
        if problem.linear:
            of_linear.obstacle(problem, policy)
            return of_linear.failure_probability(problem, policy, horizon)
        if of_arms.obstacle(problem, policy, censorship):
            return None
    except InvalidInput:
        return None
    return optimism_failure_probability(len(problem.playable), horizon)
