"""Feedback seen with a probability that a Python function gives for each action."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.censorship.base import Censorship
from halfseen.censorship.directions import action_rows
from halfseen.checks import Vector
from halfseen.errors import InvalidInput


@dataclass(frozen=True, repr=False)
class AnyFunction(Censorship):
    """Feedback comes back with the probability a Python function gives for the action.

    Parameters
    ----------
    function
        Takes an action, an array of d numbers, and returns a probability in ]0, 1]. It is called
        again whenever it is needed, so the same action must always give the same answer.
    vectorized
        True for a function that takes an array (n, d) and returns n probabilities.

    Notes
    -----
    Unless vectorized it is called once per action, in Python; the other models are much faster.
    In a study it is called before a replication is played, on every action on offer, so that it
    does not work on the unit ball. A stored study is keyed by the function's code; to read it
    back, give the study again.

    Examples
    --------
    >>> AnyFunction(lambda action: 1.0 - 0.5 * action[0] ** 2).probabilities([[1.0], [0.0]])
    array([0.5, 1. ])
    """

    kind: ClassVar[str] = "function"
    function: Callable[[Vector], Any]
    vectorized: bool = False

    def __post_init__(self) -> None:
        checks.yes_or_no("AnyFunction.vectorized", self.vectorized)
        if not callable(self.function):
            raise InvalidInput(
                "AnyFunction.function",
                "must be a function of the action",
                self.function,
                "Give for example lambda action: 0.5.",
            )

    def in_words(self) -> str:
        """Return a sentence on how likely a reward is to be observed."""
        return "How often a reward is seen is a Python function of the action."

    def probabilities(self, actions: Any) -> Vector:
        """Return the probability of being observed of each row of an array (n, d)."""
        rows = action_rows("actions", actions)
        if not self.vectorized:
            return np.array(
                [
                    checks.observation_probability(
                        f"AnyFunction.function(actions[{place}])", self.function(row.copy())
                    )
                    for place, row in enumerate(rows)
                ]
            )
        field = "AnyFunction.function(actions)"
        values = np.asarray(self.function(rows.copy()))
        if values.shape != (len(rows),):
            raise InvalidInput(
                field,
                f"must return {len(rows)} probabilities, one per action",
                values.shape,
                "Leave vectorized out for a function of one action.",
            )
        return np.array(checks.observation_probabilities(field, values))
