"""Upper confidence bounds that count every missing reward as the best possible one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.errors import InvalidInput
from halfseen.policies.arms.base import COUNT, PULLED, TOTAL, Policy, State, count_pull
from halfseen.problems.setting import Setting


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return (S + N - n) / N + sqrt(beta / (2 N)), with N plays and n messages."""
    pulled = state[arm, PULLED]
    if pulled == 0.0:
        return math.inf
    hoped = state[arm, TOTAL] + pulled - state[arm, COUNT]
    return hoped / pulled + math.sqrt(table[arm, 0] / pulled)


def refuse_unbounded(name: str, setting: Setting) -> None:
    """Refuse rewards that may leave [0, 1]."""
    if not setting.unit_interval and setting.reward != "bernoulli":
        raise InvalidInput(
            name,
            "must be played with rewards in [0, 1]",
            f"{setting.reward} rewards that may leave it",
            'Use reward="bernoulli", scale means and noise, or use another policy.',
        )


@dataclass(frozen=True)
class HopefulUCB(Policy):
    r"""Play the arm that could be best if every missing reward were 1.

    .. math:: \frac{S_a + N_a - n_a}{N_a} + \sqrt{\frac{k\log T}{2N_a}}

    :math:`N_a` counts plays and :math:`n_a` messages. Its bound holds whatever decides which
    rewards are late or lost, the rewards themselves included. In return it favours arms whose
    feedback is rarely seen, and where some of it is lost the bound never closes. It assumes rewards
    in [0, 1].

    Parameters
    ----------
    exponent
        k: a bound fails with probability at most :math:`T^{-k}`.
    """

    kind: ClassVar[str] = "hopeful-ucb"
    summary: ClassVar[str] = "Plays the arm that could be best if every missing reward were 1."
    randomises: ClassVar[bool] = False
    exponent: float = 2.0
    statistics = 3
    index = staticmethod(index)
    pull = staticmethod(count_pull)

    def __post_init__(self) -> None:
        self._keep("exponent", above=0.0, fix="Use 2.0.")

    def check(self, setting: Setting) -> None:
        """Refuse rewards that leave [0, 1]."""
        refuse_unbounded("HopefulUCB", setting)

    def table(self, setting: Setting) -> Vector:
        """Return k log T / 2 of each arm."""
        return np.full((setting.arms, 1), 0.5 * self.exponent * math.log(setting.horizon))
