"""Checks that a policy chooses actions as often as it says that it does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.agents.arms import Agent
from halfseen.agents.linear import LinearAgent
from halfseen.checks import Vector
from halfseen.engine.arguments import ESTIMATE
from halfseen.errors import shorten

_DRAWS = 1000
_ERRORS = 6.0  # standard errors: a correct policy fails with probability 2e-9
_LATER = (1, 1000)  # rounds later


def check_arm_chances(agent: Agent, offered: Sequence[int]) -> None:
    """Raise AssertionError unless an agent's policy chooses arms as often as it says.

    It is tried on the arms on offer and on all of them but the first, in the agent's state.
    """
    policy, name, clock = agent.policy, type(agent.policy).__name__, agent.decisions + 1
    if not policy.is_random:
        return
    for some in (list(offered), list(offered)[1:] or list(offered)):
        playable = np.zeros(len(agent._everything), agent._everything.dtype)
        playable[some] = 1

        def choose(key: int, clock: int, playable: NDArray[Any] = playable) -> int:
            state, plays = agent._state.copy(), agent._plays
            chosen: int = agent._select(state, plays, playable, clock, key, 1, agent._table)
            return chosen

        told = policy.probabilities(agent._state, playable, clock, agent._table)
        if told is None:
            continue
        check_chances(name, told, playable, partial(choose, clock=clock))
        for later in _LATER if policy.steady else ():
            again = policy.probabilities(agent._state, playable, clock + later, agent._table)
            assert again is not None and np.array_equal(told, again), (  # noqa: PT018
                f"{name}.steady must be False: without an observation the probabilities of choices"
                f" change between rounds {clock} and {clock + later}"
            )


def check_row_chances(agent: LinearAgent, rows: Vector) -> None:
    """Raise AssertionError unless an agent's policy chooses vectors as often as it says."""
    policy, clock = agent.policy, agent.decisions + 1
    if not policy.is_random:
        return
    told = policy.probabilities(rows, agent._vectors[ESTIMATE], clock)
    if told is not None:
        everything = np.ones(len(rows), np.uint8)
        check_chances(
            type(policy).__name__,
            told,
            everything,
            lambda key: agent._chosen(rows, clock, (key, 1)),
        )


def check_chances(
    name: str, told: Any, playable: NDArray[Any], choose: Callable[[int], int]
) -> None:
    """Raise AssertionError unless probabilities are valid and those of choices by many keys."""
    what, count = f"{name}.probabilities", len(playable)
    chances = np.asarray(told)
    assert chances.shape == (count,) and chances.dtype.kind in "fiu", (  # noqa: PT018
        f"{what} must return {count} numbers, one per action, not {shorten(told)}"
    )
    assert (chances >= 0.0).all() and math.isclose(chances.sum(), 1.0, abs_tol=1e-6), (  # noqa: PT018
        f"{what} must be at least 0 and sum to 1; they are {chances.tolist()}"
    )
    assert (chances[playable == 0] == 0.0).all(), (
        f"{what} must be 0 for what is not on offer; they are {chances.tolist()}, where"
        f" {playable.tolist()} says what is"
    )
    drawn = np.bincount([choose(key) for key in range(_DRAWS)], minlength=count) / _DRAWS
    error = _ERRORS * np.sqrt(chances * (1.0 - chances) / _DRAWS) + 10.0 / _DRAWS
    wrong = np.flatnonzero(np.abs(drawn - chances) > error)
    assert not len(wrong), (
        f"{what} must be how often each action is chosen: action {wrong[0]} is chosen in"
        f" {drawn[wrong[0]]:.1%} of {_DRAWS:,} draws, and it says {chances[wrong[0]]:.1%}"
    )
