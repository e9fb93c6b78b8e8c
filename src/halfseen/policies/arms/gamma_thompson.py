"""Thompson sampling with gamma posteriors, for counts and exponential rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import Stream, gamma, uniform
from halfseen.errors import InvalidInput
from halfseen.policies.arms.base import COUNT, TOTAL, Policy, State
from halfseen.problems.setting import Setting

WAITING_TIMES = 0  # column of the table: 1 for exponential rewards, 0 for counts
HALF = 0.5  # what Jeffreys' prior adds to a sum of counts


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return a draw from the posterior of the arm's mean, infinite before the first reward."""
    count, total = state[arm, COUNT], state[arm, TOTAL]
    if count == 0.0:
        return math.inf
    if table[arm, WAITING_TIMES] > 0.0:
        return total / gamma(count, stream, 2 * clock, arm)
    shape = total + HALF
    if shape >= 1.0:
        return gamma(shape, stream, 2 * clock, arm) / count
    power = uniform(stream, 2 * clock + 1, arm) ** (1.0 / shape)
    return gamma(shape + 1.0, stream, 2 * clock, arm) * power / count


@dataclass(frozen=True)
class GammaThompson(Policy):
    r"""Draw each mean of counts or of exponential rewards from its posterior, play the largest.

    With Jeffreys' prior and N observed rewards of sum S, the mean of Poisson rewards is
    :math:`\mathrm{Gamma}(S+1/2)/N` and that of exponential ones :math:`S/\mathrm{Gamma}(N)`. An
    arm that was never observed comes first.

    Notes
    -----
    Only for Poisson and exponential rewards, and for rewards of 0 and 1, which it takes for counts:
    `BernoulliThompson` draws them less widely.

    References
    ----------
    Korda, Kaufmann, Munos, *Thompson sampling for 1-dimensional exponential family bandits*, 2013:
    where all is seen, it is asymptotically optimal with Jeffreys' prior.
    """

    kind: ClassVar[str] = "gamma-thompson"
    steady: ClassVar[bool] = True
    summary: ClassVar[str] = "Samples each mean from its gamma posterior and plays the largest."
    index = staticmethod(index)

    def table(self, setting: Setting) -> Vector:
        """Return 1 for exponential rewards, 0 for counts."""
        return np.full((setting.arms, 1), float(setting.reward == "exponential"))

    def probabilities(
        self, state: State, playable: NDArray[Any], clock: int, table: Vector
    ) -> Vector:
        """Return the probability that each arm's draw is the largest."""
        from halfseen.policies.arms.largest_draw import largest_gamma

        offered = np.flatnonzero(playable)
        count, total = state[offered, COUNT], state[offered, TOTAL]
        chances = np.zeros(playable.size)
        if not np.all(count > 0.0):
            chances[offered[np.argmin(count > 0.0)]] = 1.0
        elif table[0, WAITING_TIMES] > 0.0:
            chances[offered] = largest_gamma(count, total, inverse=True)
        else:
            chances[offered] = largest_gamma(total + HALF, 1.0 / count)
        return chances

    def check(self, setting: Setting) -> None:
        """Refuse rewards that are neither counts nor exponential."""
        if setting.reward not in ("poisson", "exponential", "bernoulli"):
            raise InvalidInput(
                "reward",
                "must be 'poisson' or 'exponential' for GammaThompson",
                setting.reward,
                "Use GaussianThompson for other rewards.",
            )
