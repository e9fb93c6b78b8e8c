"""Upper confidence bounds for noise with few moments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.policies.arms.base import COUNT, TOTAL, Policy, State
from halfseen.problems.setting import Setting

SCALE, LOG, ROOT, RATE = 0, 1, 2, 3


def learn(state: State, arm: int, reward: float, table: Vector) -> None:
    """Add the reward unless it exceeds the truncation level of its observation number."""
    state[arm, COUNT] += 1.0
    level = table[arm, SCALE] * (state[arm, COUNT] / table[arm, LOG]) ** table[arm, ROOT]
    if abs(reward) <= level:
        state[arm, TOTAL] += reward


def width(state: State, arm: int, clock: int, table: Vector) -> float:
    """Return 4 rho (3 log T / N)^(q/(1+q))."""
    if state[arm, COUNT] == 0.0:
        return math.inf
    return 4.0 * table[arm, SCALE] * (table[arm, LOG] / state[arm, COUNT]) ** table[arm, RATE]


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return the truncated mean plus the width."""
    if state[arm, COUNT] == 0.0:
        return math.inf
    return state[arm, TOTAL] / state[arm, COUNT] + width(state, arm, clock, table)


@dataclass(frozen=True)
class RobustUCB(Policy):
    r"""UCB on a truncated mean, for noise that only has moments of order 1+q.

    With :math:`E|\varepsilon|^{1+q}\le u`, :math:`\rho = M + u^{1/(1+q)}` and
    :math:`\ell = 3\log T`, observation number s counts only if it is at most
    :math:`\rho (s/\ell)^{1/(1+q)}` in absolute value, and the index is

    .. math:: \frac1{N_a}\sum_{s\le N_a} Y_s 1\{|Y_s|\le\rho(s/\ell)^{1/(1+q)}\}
              + 4\rho\,(\ell/N_a)^{q/(1+q)}.

    Parameters
    ----------
    order
        q, in ]0, 1].
    moment
        u; left out, the (1+q)-th power of each arm's standard deviation.
    bound
        M, a number no mean exceeds in absolute value; left out, the setting's own bound.

    Notes
    -----
    The paper's remark on heavier tails is not a guarantee for all q; this estimator is. By
    Minkowski the raw moment of a reward is at most rho^(1+q), and with log(1/delta) = 3 log T the
    interval fails somewhere with probability at most 2d/T^2, as for `UCB`.

    References
    ----------
    Bubeck, Cesa-Bianchi, Lugosi, *Bandits with heavy tail*, 2013, Lemma 1.
    """

    kind: ClassVar[str] = "robust-ucb"
    summary: ClassVar[str] = "Plays the largest upper confidence bound, for heavy-tailed rewards."
    optimistic = True
    order: float = 1.0
    moment: float | None = None
    bound: float | None = None
    waits = True
    index = staticmethod(index)
    learn = staticmethod(learn)
    width = staticmethod(width)

    def __post_init__(self) -> None:
        self._keep("order", above=0.0, at_most=1.0, fix="Use 1.0.")
        self._keep("moment", at_least=0.0)
        self._keep("bound", at_least=0.0)

    def table(self, setting: Setting) -> Vector:
        """Return rho, 3 log T, 1/(1+q) and q/(1+q) of each arm."""
        power = 1.0 + self.order
        moment = setting.noise**power if self.moment is None else self.moment
        rows = np.empty((setting.arms, 4))
        bound = setting.bound if self.bound is None else self.bound
        rows[:, SCALE] = bound + moment ** (1.0 / power)
        rows[:, LOG] = 3.0 * math.log(max(setting.horizon, 2))
        rows[:, ROOT] = 1.0 / power
        rows[:, RATE] = self.order / power
        return rows
