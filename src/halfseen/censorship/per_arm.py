"""Feedback seen with a probability of its own for each arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.censorship.base import Censorship, arm_count
from halfseen.checks import Vector
from halfseen.errors import InvalidInput, counted_entries
from halfseen.phrases import values_in_words


@dataclass(frozen=True, repr=False)
class PerArm(Censorship):
    """The reward of arm a comes back with probability ``observe[a]``, whatever its value.

    Parameters
    ----------
    observe
        Probability of being observed, one number in ]0, 1] per arm.

    Notes
    -----
    The paper's notation table calls p the probability of being censored; its formulas, and this
    class, use the probability of being observed.

    Examples
    --------
    >>> PerArm([0.9, 0.1]).probabilities(2).tolist()
    [0.9, 0.1]
    """

    kind: ClassVar[str] = "per-arm"
    by_place: ClassVar[bool] = True
    observe: Sequence[float]

    def __post_init__(self) -> None:
        values = checks.observation_probabilities("PerArm.observe", self.observe)
        object.__setattr__(self, "observe", values)

    @property
    def observe_range(self) -> tuple[float, float]:
        """The smallest and the largest probability of being observed."""
        return min(self.observe), max(self.observe)

    def in_words(self) -> str:
        """Return a sentence on how likely a reward is to be observed."""
        return f"An arm’s reward is seen with probability {values_in_words(self.observe)}."

    def probabilities(self, actions: Any) -> Vector:
        """Return the probability of being observed of each arm, given their number."""
        arms = arm_count("PerArm", actions)
        if len(self.observe) != arms:
            raise InvalidInput(
                "PerArm.observe",
                f"must have {arms} entries, one per arm",
                counted_entries(len(self.observe)),
                "Match the problem's means.",
            )
        return np.array(self.observe)
