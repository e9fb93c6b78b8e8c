"""Thompson sampling with beta posteriors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import Stream, gamma
from halfseen.errors import InvalidInput
from halfseen.policies.arms.base import COUNT, TOTAL, Policy, State
from halfseen.problems.setting import Setting

SUCCESSES, FAILURES = 0, 1


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return a draw from the posterior of the arm's mean, as a ratio of gamma numbers."""
    total = state[arm, TOTAL]
    won = gamma(table[arm, SUCCESSES] + total, stream, 2 * clock, arm)
    lost = gamma(table[arm, FAILURES] + state[arm, COUNT] - total, stream, 2 * clock + 1, arm)
    return won / (won + lost)


@dataclass(frozen=True)
class BernoulliThompson(Policy):
    r"""Draw each success probability from its beta posterior and play the largest.

    Parameters
    ----------
    successes, failures
        The prior Beta(successes, failures), each at least 1.

    Notes
    -----
    Only for rewards that are 0 or 1.
    """

    kind: ClassVar[str] = "bernoulli-thompson"
    summary: ClassVar[str] = "Samples each mean from its beta posterior and plays the largest."
    steady: ClassVar[bool] = True
    successes: float = 1.0
    failures: float = 1.0
    index = staticmethod(index)

    def __post_init__(self) -> None:
        self._keep("successes", at_least=1.0, fix="Use 1.")
        self._keep("failures", at_least=1.0, fix="Use 1.")

    def table(self, setting: Setting) -> Vector:
        """Return the prior of each arm."""
        return np.tile([self.successes, self.failures], (setting.arms, 1))

    def probabilities(
        self, state: State, playable: NDArray[Any], clock: int, table: Vector
    ) -> Vector:
        """Return the probability that each arm's draw is the largest."""
        from halfseen.policies.arms.largest_draw import largest_beta

        offered = np.flatnonzero(playable)
        won = table[offered, SUCCESSES] + state[offered, TOTAL]
        lost = table[offered, FAILURES] + state[offered, COUNT] - state[offered, TOTAL]
        chances = np.zeros(playable.size)
        chances[offered] = largest_beta(won, lost)
        return chances

    def check(self, setting: Setting) -> None:
        """Refuse rewards that are not 0 or 1."""
        if setting.reward != "bernoulli":
            raise InvalidInput(
                "reward",
                "must be 'bernoulli' for BernoulliThompson",
                setting.reward,
                "Use GaussianThompson for other rewards.",
            )
