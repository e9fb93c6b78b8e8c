"""Uniformly random arms: the baseline without learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import Stream, uniform
from halfseen.policies.arms.base import Policy, State
from halfseen.problems.setting import Setting


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return a random number."""
    return uniform(stream, clock, arm)


@dataclass(frozen=True)
class RandomChoice(Policy):
    """Play each playable arm with the same probability."""

    kind: ClassVar[str] = "random"
    summary: ClassVar[str] = "Plays a random arm: the cost of not learning."
    index = staticmethod(index)

    def table(self, setting: Setting) -> Vector:
        """Return a placeholder: the kernels need no constants."""
        return np.zeros((setting.arms, 1))

    def probabilities(
        self, state: State, playable: NDArray[Any], clock: int, table: Vector
    ) -> Vector:
        """Return one over the number of arms on offer."""
        return playable / np.sum(playable)
