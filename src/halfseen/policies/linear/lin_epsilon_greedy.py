"""Epsilon-greedy for linear rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream, uniform
from halfseen.kernels.ties import first_largest
from halfseen.policies.linear.base import BallKnowledge, LinearPolicy, LinearSetting, toward
from halfseen.problems.action_sets import draw_action

COIN = (1 << 24) - 1  # a counter of the stream that no action uses


def greedy_or_any(
    mean: float,
    square: float,
    spread: float,
    shift: float,
    action: int,
    clock: int,
    stream: Stream,
    table: Vector,
) -> float:
    """Return the estimated mean or, in a round of exploration, a random number."""
    if uniform(stream, clock, COIN) < table[0]:
        return uniform(stream, clock, action)
    return mean


def best_or_any(
    known: BallKnowledge, clock: int, stream: Stream, table: Vector, scratch: Vector, out: Vector
) -> None:
    """Write the best action under the estimate or, in a round of exploration, a random one."""
    if uniform(stream, clock, COIN) < table[0]:
        draw_action(stream, clock, 0, out)
    else:
        toward(known.estimate, out)


@dataclass(frozen=True)
class LinEpsilonGreedy(LinearPolicy):
    """Play the largest estimated mean, and with probability epsilon a random action.

    Parameters
    ----------
    epsilon
        Probability of exploring, in [0, 1].
    regularization
        The ridge's lambda, above 0.
    """

    kind: ClassVar[str] = "lin-epsilon-greedy"
    summary: ClassVar[str] = "Plays the best estimated mean, and sometimes a random action."
    epsilon: float = 0.1
    regularization: float = 1.0
    index = staticmethod(greedy_or_any)
    on_ball = staticmethod(best_or_any)

    def __post_init__(self) -> None:
        self._keep("epsilon", at_least=0.0, at_most=1.0)
        self._keep("regularization", above=0.0, fix="Use 1.0.")

    def table(self, setting: LinearSetting) -> Vector:
        """Return epsilon."""
        return np.array([self.epsilon])

    def probabilities(self, rows: Vector, estimate: Vector, clock: int) -> Vector:
        """Return epsilon over the number of actions, and the rest for the best of them."""
        chances = np.full(len(rows), self.epsilon / len(rows))
        chances[first_largest(rows @ estimate)] += 1.0 - self.epsilon
        return chances
