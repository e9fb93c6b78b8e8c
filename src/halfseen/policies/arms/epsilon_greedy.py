"""Epsilon-greedy: the best arm so far, or occasionally a random one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import Stream, uniform
from halfseen.policies.arms.base import COUNT, TOTAL, Policy, State
from halfseen.problems.setting import Setting

EPSILON, DECAY = 0, 1
COIN = (1 << 24) - 1  # a counter of the stream that no arm uses


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return the mean of what was seen, or, in a round of exploration, a random number."""
    if uniform(stream, clock, COIN) < table[arm, EPSILON] / clock ** table[arm, DECAY]:
        return uniform(stream, clock, arm)
    if state[arm, COUNT] == 0.0:
        return math.inf
    return state[arm, TOTAL] / state[arm, COUNT]


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    r"""Play the best mean seen so far, and with probability :math:`\varepsilon/t^{b}` any arm.

    An arm never seen counts as best.

    Parameters
    ----------
    epsilon
        Probability of exploring in the first round, in [0, 1].
    decay
        b, from 0 to 8; with 0 the probability is constant.
    """

    kind: ClassVar[str] = "epsilon-greedy"
    summary: ClassVar[str] = (
        "Plays the arm with the best observed mean, and sometimes a random arm."
    )
    epsilon: float = 0.1
    decay: float = 0.0
    index = staticmethod(index)

    def __post_init__(self) -> None:
        self._keep("epsilon", at_least=0.0, at_most=1.0)
        self._keep("decay", at_least=0.0, at_most=8.0)

    def table(self, setting: Setting) -> Vector:
        """Return epsilon and its decay."""
        return np.tile([self.epsilon, self.decay], (setting.arms, 1))

    def probabilities(
        self, state: State, playable: NDArray[Any], clock: int, table: Vector
    ) -> Vector:
        """Return epsilon over the number of arms on offer, and the rest for the best of them."""
        offered = np.flatnonzero(playable)
        count = state[offered, COUNT]
        means = np.where(count > 0.0, state[offered, TOTAL] / np.maximum(count, 1.0), np.inf)
        explores = min(1.0, self.epsilon / clock**self.decay)
        chances = np.zeros(playable.size)
        chances[offered] = explores / len(offered)
        chances[offered[np.argmax(means)]] += 1.0 - explores
        return chances
