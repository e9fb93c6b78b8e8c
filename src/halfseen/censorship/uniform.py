"""Feedback seen with the same probability everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector


@dataclass(frozen=True)
class Uniform:
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

    def probabilities(self, arms: int) -> Vector:
        """Return the probability of being observed of each of `arms` arms."""
        return np.full(arms, self.observe)
