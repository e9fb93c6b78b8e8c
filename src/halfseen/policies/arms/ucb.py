"""The paper's regularized upper confidence bound policy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.policies.arms.base import COUNT, TOTAL, Policy, State
from halfseen.problems.setting import Setting

EXPLORATION, LAMBDA, LAMBDA_BOUND = 0, 1, 2


def width(state: State, arm: int, clock: int, table: Vector) -> float:
    """Return sqrt(6 sigma^2 log T / (N + lambda)) + lambda M / (N + lambda)."""
    weight = 1.0 / (state[arm, COUNT] + table[arm, LAMBDA])
    return math.sqrt(table[arm, EXPLORATION] * weight) + table[arm, LAMBDA_BOUND] * weight


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return S / (N + lambda) plus the width."""
    mean = state[arm, TOTAL] * (1.0 / (state[arm, COUNT] + table[arm, LAMBDA]))
    return mean + width(state, arm, clock, table)


@dataclass(frozen=True)
class UCB(Policy):
    r"""Play the arm that could be best, judged on observed rewards alone.

    .. math:: \frac{S_a}{N_a+\lambda} + \sqrt{\frac{6\sigma_a^2\log T}{N_a+\lambda}}
              + \frac{\lambda M}{N_a+\lambda}

    Parameters
    ----------
    regularization
        The paper's lambda, above 0.
    bound
        M, a number no mean exceeds in absolute value; left out, the setting's own bound.

    Notes
    -----
    The paper prints the estimate of round t with the count of round t-1; both are of t-1.
    """

    kind: ClassVar[str] = "ucb"
    summary: ClassVar[str] = (
        "Plays the arm with the largest upper confidence bound, from observed rewards alone."
    )
    optimistic = True
    regularization: float = 1.0
    bound: float | None = None
    waits = True
    index = staticmethod(index)
    width = staticmethod(width)

    def __post_init__(self) -> None:
        self._keep("regularization", above=0.0, fix="Use 1.0.")
        self._keep("bound", at_least=0.0)

    def table(self, setting: Setting) -> Vector:
        """Return 6 sigma^2 log T, lambda and lambda M of each arm."""
        bound = setting.bound if self.bound is None else self.bound
        rows = np.empty((setting.arms, 3))
        rows[:, EXPLORATION] = 6.0 * setting.noise**2 * math.log(setting.horizon)
        rows[:, LAMBDA] = self.regularization
        rows[:, LAMBDA_BOUND] = self.regularization * bound
        return rows
