"""How rarely any action that can be played is observed."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from halfseen.censorship.per_action import AnyFunction
from halfseen.censorship.uniform import Uniform
from halfseen.problems.action_arrays import row_blocks
from halfseen.problems.action_sets import FiniteActions, SequenceOfActions
from halfseen.problems.linear import LinearBandit


def smallest_observe(problem: LinearBandit, censorship: Any) -> float:
    """Return the smallest probability of being observed over the actions that can be played.

    NaN where it is not known: a Python function of actions that are drawn.
    """
    if isinstance(censorship, Uniform):
        return censorship.observe
    if isinstance(problem.actions, FiniteActions):
        return float(censorship.probabilities(problem.actions.actions).min())
    if isinstance(problem.actions, SequenceOfActions):
        return _smallest_of_sequence(problem.actions, censorship)
    return math.nan if isinstance(censorship, AnyFunction) else float(censorship.observe_range[0])


@lru_cache(maxsize=16)
def _smallest_of_sequence(actions: SequenceOfActions, censorship: Any) -> float:
    rows = (block.reshape(-1, actions.dimension) for block in row_blocks(actions.array))
    return min(float(censorship.probabilities(block).min()) for block in rows)
