"""The slope of LinUCB's potential in log T, which depends on the best actions of a problem."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.policies import LinUCB
from halfseen.problems import LinearBandit, RandomActions
from halfseen.problems.action_sets import SCALES
from halfseen.theory.inputs import action_observation
from halfseen.theory.linear.potential import expected_slope

SETS = 20_000  # random action sets drawn to find where the best actions lie
NUMBERS, BLOCK = 8_000_000, 400_000  # coordinates drawn to find them: in total, and per block
TIED = 1e-12  # relative difference up to which two actions are equally good


def slope_law(problem: LinearBandit, censorship: Any, policy: Any) -> float | None:
    """Return the slope of the potential that LinUCB shows in simulations, or None if unknown.

    Parameters
    ----------
    problem, censorship, policy
        A linear bandit, its censorship and a policy.

    Returns
    -------
    float or None
        `expected_slope` at the problem's best actions; estimated from a sample if they are random.

    Examples
    --------
    >>> from halfseen import FiniteActions, LinearBandit, LinUCB, Uniform
    >>> problem = LinearBandit([0.6, 0.3], 0.5, FiniteActions([[1.0, 0.0], [0.0, 1.0]]))
    >>> slope_law(problem, Uniform(0.25), LinUCB())
    4.0
    """
    actions = problem.actions
    if type(policy) is not LinUCB:
        return None
    try:
        if actions.fixed is not None:
            best = best_of_finite(problem)
            rows = actions.fixed[best]
            seen = action_observation(censorship, actions.fixed)[best]
            if np.ptp(seen) > 0.0:
                return None
            return expected_slope("fixed", seen[0], ties=int(np.linalg.matrix_rank(rows)))
        if isinstance(actions, RandomActions):
            rows = best_of_random(problem)
            return expected_slope(rows, action_observation(censorship, rows))
    except InvalidInput:
        return None
    return None


def best_of_finite(problem: LinearBandit) -> NDArray[np.int64]:
    """Return the numbers of the best actions of a finite set, usually one."""
    regrets = problem.regrets(problem.actions.fixed)
    return np.flatnonzero(regrets <= TIED * (problem.norm or 1.0))


@lru_cache(maxsize=16)
def best_of_random(problem: LinearBandit) -> Vector:
    """Return the best actions of many sets drawn as the problem draws them."""
    actions = problem.actions
    assert isinstance(actions, RandomActions)
    scale = np.frompyfunc(lambda square: SCALES[actions.law](square, actions.dimension), 1, 1)
    size = actions.count * actions.dimension
    sets = max(1, min(SETS, NUMBERS // size))
    step = max(1, BLOCK // size)
    rng = np.random.default_rng(0)
    found = []
    for start in range(0, sets, step):
        count = min(step, sets - start)
        rows = rng.standard_normal((count, actions.count, actions.dimension))
        squares = np.square(rows).sum(axis=2, keepdims=True)
        rows *= scale(squares).astype(np.float64)
        best = (rows @ np.array(problem.theta)).argmax(axis=1)
        found.append(rows[np.arange(count), best])
    return np.concatenate(found)
