"""Proved bounds beside what was measured: one table, and curves along the rounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.report.study.measures import Place
from halfseen.theory import Bound, RegretBounds, regret_bounds
from halfseen.theory.along_a_run import bounded_policies
from halfseen.theory.arms.bounds import regret_bounds_along
from halfseen.theory.linear.bounds import MEASURED

SMALLEST, PAPER = "smallest bound", "paper’s bound"


def in_words(policies: tuple[type, ...]) -> str:
    """Write the names of some policies.

    >>> from halfseen import GLMUCB, LinUCB, RidgeGLMUCB
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

    Parameters
    ----------
    place
        A problem, a censorship and a policy.
    horizon
        The horizon the policy was tuned to.
    rounds
        Where to evaluate the bounds.

    Returns
    -------
    dict
        Curves by name; empty where no bound is proved.
    """
    if type(place.policy) not in bounded_policies(place.problem):
        return {}
    try:
        tables = regret_bounds_along(
            place.problem, place.censorship, place.policy, horizon, rounds.tolist()
        )
    except InvalidInput:
        return {}
    if not any(bound.applies and bound.paper for bound in tables[0]):
        return {}
    return {
        SMALLEST: np.array([smallest_proved(table).value for table in tables]),
        PAPER: np.array([min(b.value for b in table if b.paper) for table in tables]),
    }


def smallest_proved(table: RegretBounds) -> Bound:
    """Return the smallest bound that needs no measurement."""
    return min((b for b in table if b.applies and b.name != MEASURED), key=lambda b: b.value)
