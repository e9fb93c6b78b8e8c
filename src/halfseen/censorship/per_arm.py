"""Feedback seen with a probability of its own for each arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput


@dataclass(frozen=True)
class PerArm:
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
    observe: Sequence[float]

    def __post_init__(self) -> None:
        values = checks.observation_probabilities("PerArm.observe", self.observe)
        object.__setattr__(self, "observe", values)

    def probabilities(self, arms: int) -> Vector:
        """Return the probability of being observed of each of `arms` arms."""
        if len(self.observe) != arms:
            raise InvalidInput(
                "PerArm.observe",
                f"must have {arms} entries, one per arm",
                f"{len(self.observe)} entries",
                "Match the problem's means.",
            )
        return np.array(self.observe)
