"""Upper confidence bounds without a horizon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.policies.arms.base import COUNT, TOTAL, Policy, State
from halfseen.problems.setting import Setting


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return S / N + sqrt(c sigma^2 log t / N)."""
    count = state[arm, COUNT]
    if count == 0.0:
        return math.inf
    return state[arm, TOTAL] / count + math.sqrt(table[arm, 0] * math.log(clock) / count)


@dataclass(frozen=True)
class UCB1(Policy):
    r"""The anytime policy of Auer, Cesa-Bianchi and Fischer, counting what was observed.

    .. math:: \frac{S_a}{N_a} + \sqrt{\frac{c\,\sigma_a^2 \log t}{N_a}}

    Its index moves with the clock, so that every round is played one by one.

    Parameters
    ----------
    exploration
        The constant c. With 8 and rewards in [0, 1] (sigma = 1/2) this is the textbook's
        sqrt(2 log t / N).

    References
    ----------
    Auer, Cesa-Bianchi, Fischer, *Finite-time analysis of the multiarmed bandit problem*, 2002.
    """

    kind: ClassVar[str] = "ucb1"
    summary: ClassVar[str] = (
        "Plays the arm with the largest upper confidence bound, which grows with the round."
    )
    randomises: ClassVar[bool] = False
    optimistic = True
    exploration: float = 8.0
    index = staticmethod(index)

    def __post_init__(self) -> None:
        self._keep("exploration", at_least=0.0, fix="Use 8.0.")

    def table(self, setting: Setting) -> Vector:
        """Return c sigma^2 of each arm."""
        return np.reshape(self.exploration * setting.noise**2, (-1, 1))
