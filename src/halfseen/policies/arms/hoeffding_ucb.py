"""Upper confidence bounds at a level determined by the horizon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.policies.arms.base import COUNT, TOTAL, Policy, State
from halfseen.problems.setting import Setting


def width(state: State, arm: int, clock: int, table: Vector) -> float:
    """Return sqrt(2 sigma^2 beta / N), infinite before an observation."""
    count = state[arm, COUNT]
    return math.sqrt(table[arm, 0] / count) if count > 0.0 else math.inf


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return S / N plus the width."""
    count = state[arm, COUNT]
    if count == 0.0:
        return math.inf
    return state[arm, TOTAL] / count + width(state, arm, clock, table)


@dataclass(frozen=True)
class HoeffdingUCB(Policy):
    r"""Play the arm with the largest upper confidence bound at level :math:`T^{-k}`.

    .. math:: \frac{S_a}{N_a} + \sqrt{\frac{2\sigma_a^2\,k\log T}{N_a}}

    For rewards in [0, 1] (sigma = 1/2) the width is Hoeffding's, :math:`\sqrt{k\log T/(2N_a)}`.
    With late feedback this is the delayed UCB of Joulani, Gyorgy and Szepesvari: it never waits,
    and its regret is at most that without delays plus the gaps times the largest number of pending
    decisions.

    Parameters
    ----------
    exponent
        k: a bound fails with probability at most :math:`T^{-k}`.

    References
    ----------
    Joulani, Gyorgy, Szepesvari, *Online learning under delayed feedback*, 2013.
    """

    kind: ClassVar[str] = "hoeffding-ucb"
    summary: ClassVar[str] = (
        "Plays the largest upper confidence bound, from observed rewards alone."
    )
    exponent: float = 2.0
    waits = True
    index = staticmethod(index)
    width = staticmethod(width)

    def __post_init__(self) -> None:
        self._keep("exponent", above=0.0, fix="Use 2.0.")

    def table(self, setting: Setting) -> Vector:
        """Return 2 sigma^2 k log T of each arm."""
        beta = self.exponent * math.log(setting.horizon)
        return np.reshape(2.0 * setting.noise**2 * beta, (-1, 1))
