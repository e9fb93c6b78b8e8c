"""Feedback seen with a probability of its own for each action of a finite set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.censorship.base import Censorship
from halfseen.censorship.directions import action_rows
from halfseen.checks import Vector
from halfseen.errors import InvalidInput, counted_entries
from halfseen.phrases import values_in_words


@dataclass(frozen=True, repr=False)
class PerAction(Censorship):
    """The reward of action number k of a finite set comes back with probability ``observe[k]``.

    Parameters
    ----------
    observe
        Probability of being observed, one number in ]0, 1] per action, in their order.

    Examples
    --------
    >>> PerAction([0.9, 0.1]).probabilities([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [0.9, 0.1]
    """

    kind: ClassVar[str] = "per-action"
    by_place: ClassVar[bool] = True
    observe: Sequence[float]

    def __post_init__(self) -> None:
        values = checks.observation_probabilities("PerAction.observe", self.observe)
        object.__setattr__(self, "observe", values)

    @property
    def observe_range(self) -> tuple[float, float]:
        """The smallest and the largest probability of being observed."""
        return min(self.observe), max(self.observe)

    def in_words(self) -> str:
        """Return a sentence on how likely a reward is to be observed."""
        return f"An action’s reward is seen with probability {values_in_words(self.observe)}."

    def probabilities(self, actions: Any) -> Vector:
        """Return the probability of being observed of each row of an array (n, d)."""
        rows = len(action_rows("actions", actions))
        if rows != len(self.observe):
            raise InvalidInput(
                "PerAction.observe",
                f"must have {rows} entries, one per action",
                counted_entries(len(self.observe)),
                "Match the number of actions.",
            )
        return np.array(self.observe)
