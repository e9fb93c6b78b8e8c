"""Thompson sampling with normal posteriors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import Stream, normal
from halfseen.policies.arms.base import COUNT, TOTAL, Policy, State
from halfseen.problems.setting import Setting

NOISE, PRIOR = 0, 1


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return a draw from the posterior of the arm's mean."""
    draw = normal(stream, clock, arm)
    count = state[arm, COUNT]
    if count == 0.0:
        return table[arm, PRIOR] * draw
    ratio = table[arm, NOISE] / table[arm, PRIOR]
    weight = 1.0 / (count + ratio * ratio)
    return state[arm, TOTAL] * weight + table[arm, NOISE] * math.sqrt(weight) * draw


@dataclass(frozen=True)
class GaussianThompson(Policy):
    r"""Draw each mean from its posterior and play the largest.

    With prior :math:`N(0,\tau^2)` and noise of known scale the posterior after N observed rewards
    of sum S is :math:`N(S w, \sigma^2 w)`, :math:`w = 1/(N+\sigma^2/\tau^2)`.

    Parameters
    ----------
    prior
        tau, the standard deviation of the prior.
    """

    kind: ClassVar[str] = "gaussian-thompson"
    summary: ClassVar[str] = "Samples each mean from its normal posterior and plays the largest."
    steady: ClassVar[bool] = True
    prior: float = 1.0
    index = staticmethod(index)

    def __post_init__(self) -> None:
        self._keep("prior", above=0.0, fix="Use 1.0.")

    def table(self, setting: Setting) -> Vector:
        """Return sigma and tau of each arm."""
        return np.column_stack([setting.noise, np.full(setting.arms, self.prior)])

    def probabilities(
        self, state: State, playable: NDArray[Any], clock: int, table: Vector
    ) -> Vector:
        """Return the probability that each arm's draw is the largest."""
        from halfseen.policies.arms.largest_draw import largest_normal

        offered = np.flatnonzero(playable)
        count, total = state[offered, COUNT], state[offered, TOTAL]
        noise, prior = table[offered, NOISE], table[offered, PRIOR]
        weight = 1.0 / np.where(count > 0.0, count + (noise / prior) ** 2, 1.0)
        mean = np.where(count > 0.0, total * weight, 0.0)
        scale = np.where(count > 0.0, noise * np.sqrt(weight), prior)
        chances = np.zeros(playable.size)
        chances[offered] = largest_normal(mean, scale)
        return chances
