"""Feedback seen with the same probability everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.censorship.base import Censorship, Profile
from halfseen.censorship.multi_threshold import MultiThreshold, first_axis, observe_probability
from halfseen.checks import Vector


@dataclass(frozen=True)
class Uniform(Censorship):
    """Every reward comes back with the same probability, whatever the arm and its value.

    Parameters
    ----------
    observe
        Probability of being observed, in ]0, 1]; 1 is a world without censorship.

    Examples
    --------
    >>> Uniform(0.5).probabilities(3).tolist()
    [0.5, 0.5, 0.5]
    """

    kind: ClassVar[str] = "uniform"
    observe: float

    def __post_init__(self) -> None:
        value = checks.observation_probability("Uniform.observe", self.observe)
        object.__setattr__(self, "observe", value)

    @property
    def observe_range(self) -> tuple[float, float]:
        """The probability of being observed, as both ends of the range."""
        return self.observe, self.observe

    def profile(self, dimension: int) -> Profile:
        """Return the same probability along any direction."""
        return Profile(observe_probability, np.zeros(dimension), np.array([self.observe]))

    def probabilities(self, actions: Any) -> Vector:
        """Return the probability of being observed of each arm, or row of an array (n, d)."""
        count = actions if isinstance(actions, Integral) else len(actions)
        return np.full(int(count), self.observe)

    def in_steps(self, dimension: int, regions: int) -> tuple[MultiThreshold, float]:
        """Return one region, along the first axis."""
        return MultiThreshold([], [self.observe], first_axis(dimension)), 0.0

    def in_words(self) -> str:
        """Return a sentence on how likely a reward is to be observed."""
        if self.sees_everything:
            return "Every reward is seen."
        return f"Every reward is seen with probability {self.observe:g}."
