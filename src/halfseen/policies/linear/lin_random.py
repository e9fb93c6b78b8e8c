"""Uniformly random actions: the baseline without learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream, uniform
from halfseen.policies.linear.base import BallKnowledge, LinearPolicy, LinearSetting
from halfseen.problems.action_sets import draw_action


def chance(
    mean: float,
    square: float,
    spread: float,
    shift: float,
    action: int,
    clock: int,
    stream: Stream,
    table: Vector,
) -> float:
    """Return a random number."""
    return uniform(stream, clock, action)


def anywhere(
    known: BallKnowledge, clock: int, stream: Stream, table: Vector, scratch: Vector, out: Vector
) -> None:
    """Write a random action, uniform on the unit sphere."""
    draw_action(stream, clock, 0, out)


@dataclass(frozen=True)
class LinRandom(LinearPolicy):
    """Play a uniformly random action."""

    kind: ClassVar[str] = "lin-random"
    summary: ClassVar[str] = "Plays a random action: the cost of not learning."
    index = staticmethod(chance)
    on_ball = staticmethod(anywhere)

    def table(self, setting: LinearSetting) -> Vector:
        """Return a placeholder: the kernels need no constants."""
        return np.zeros(1)

    def probabilities(self, rows: Vector, estimate: Vector, clock: int) -> Vector:
        """Return one over the number of actions."""
        return np.full(len(rows), 1.0 / len(rows))
