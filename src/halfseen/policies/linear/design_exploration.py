"""Pure exploration: always the most uncertain action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.policies.linear.base import BallKnowledge, LinearPolicy, LinearSetting


def squared_width(
    mean: float,
    square: float,
    spread: float,
    shift: float,
    action: int,
    clock: int,
    stream: Stream,
    table: Vector,
) -> float:
    """Return how uncertain the action's mean is."""
    return square


def widest(
    known: BallKnowledge, clock: int, stream: Stream, table: Vector, scratch: Vector, out: Vector
) -> None:
    """Write the most uncertain action: the eigenvector of the smallest eigenvalue of W."""
    for i in range(out.size):
        out[i] = known.vectors[i, 0]


@dataclass(frozen=True)
class DesignExploration(LinearPolicy):
    """Always play the most uncertain action: the greedy path to a G-optimal design.

    Parameters
    ----------
    regularization
        The ridge's lambda, above 0.
    """

    kind: ClassVar[str] = "design"
    summary: ClassVar[str] = "Always plays the most uncertain action: the cost of pure exploration."
    regularization: float = 1.0
    waits = True
    index = staticmethod(squared_width)
    on_ball = staticmethod(widest)
    spectral = True

    def __post_init__(self) -> None:
        self._keep("regularization", above=0.0, fix="Use 1.0.")

    def table(self, setting: LinearSetting) -> Vector:
        """Return a placeholder: the kernels need no constants."""
        return np.zeros(1)
