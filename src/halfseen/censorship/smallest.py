"""The smallest probability of being observed over the actions that can be played."""

from __future__ import annotations

from functools import lru_cache

from halfseen.censorship.base import Censorship
from halfseen.checks import Vector
from halfseen.problems.action_arrays import row_blocks
from halfseen.problems.base import LinearActions
from halfseen.problems.linear import LinearBandit


def smallest_observe(problem: LinearBandit, censorship: Censorship) -> float:
    """Return the smallest probability of being observed over the actions that can be played.

    NaN where it is not known, as for a Python function of actions that are drawn.
    """
    low, high = censorship.observe_range
    if low == high:
        return low
    if problem.actions.fixed is not None:
        return float(censorship.checked(problem.actions.fixed).min())
    if problem.actions.given is not None:
        return _smallest_of_sequence(problem.actions, censorship)
    return low


@lru_cache(maxsize=16)
def _smallest_of_sequence(actions: LinearActions, censorship: Censorship) -> float:
    given: Vector | None = actions.given
    assert given is not None
    rows = (block.reshape(-1, actions.dimension) for block in row_blocks(given))
    return min(float(censorship.checked(block).min()) for block in rows)
