"""The largest potential at given rounds, where it can be computed quickly."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.problems import LinearBandit
from halfseen.theory.linear.worst_case import worst_case_potential
from halfseen.theory.linear.worst_case_finite import ceilings, seen_actions

STEPS = 16  # steps of the step function below a smooth model that replaces it
MANY_ACTIONS, MANY_COORDINATES = 60, 10  # up to these sizes a curve takes about a second


def worst_case_along(
    problem: LinearBandit, censorship: Any, regularization: float, rounds: Any
) -> Vector | None:
    r"""Return upper bounds on the largest continuous potential of a problem at given rounds.

    The maximum is over the problem's actions if they are a finite set, otherwise over the unit
    ball.

    Parameters
    ----------
    problem
        A linear bandit.
    censorship
        Its censorship.
    regularization
        The paper's lambda.
    rounds
        The horizons.

    Returns
    -------
    Vector or None
        One bound per horizon; None if only the bound by d/p_min is known, or if there are too many
        actions to compute a better one quickly.
    """
    times = np.atleast_1d(np.asarray(rounds, dtype=np.float64))
    if problem.actions.fixed is not None:
        rows, observe = seen_actions(censorship, problem.actions)
        if len(rows) > MANY_ACTIONS or rows.shape[1] > MANY_COORDINATES:
            return None
        return ceilings(rows, observe, regularization, times)
    d = problem.dimension
    if censorship.in_steps(d, 1) is None:
        return None
    return np.array(
        [
            worst_case_potential(
                censorship, d, regularization=regularization, horizon=time, regions=STEPS
            ).upper
            for time in times.tolist()
        ]
    )
