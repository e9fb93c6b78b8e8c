"""Thompson sampling with linear rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.policies.linear.base import BallKnowledge, LinearPolicy, LinearSetting, toward


def sampled(
    mean: float,
    square: float,
    spread: float,
    shift: float,
    action: int,
    clock: int,
    stream: Stream,
    table: Vector,
) -> float:
    """Return the action's value under a theta drawn from the posterior."""
    return mean + table[0] * shift


def best_for_sampled(
    known: BallKnowledge, clock: int, stream: Stream, table: Vector, scratch: Vector, out: Vector
) -> None:
    """Write the best action under a theta drawn from the posterior."""
    for i in range(out.size):
        scratch[0, i] = known.estimate[i] + table[0] * known.shake[i]
    toward(scratch[0], out)


@dataclass(frozen=True)
class LinThompson(LinearPolicy):
    r"""Draw theta from :math:`N(\hat\theta, c^2\sigma^2 W^{-1})` and play its best action.

    Parameters
    ----------
    regularization
        The ridge's lambda, above 0.
    inflation
        c; with 1 and lambda = sigma^2 / tau^2 this is the posterior of a N(0, tau^2) prior.
    """

    kind: ClassVar[str] = "lin-thompson"
    summary: ClassVar[str] = "Samples θ from its posterior and plays the best action for it."
    regularization: float = 1.0
    inflation: float = 1.0
    samples = True
    index = staticmethod(sampled)
    on_ball = staticmethod(best_for_sampled)

    def __post_init__(self) -> None:
        self._keep("regularization", above=0.0, fix="Use 1.0.")
        self._keep("inflation", at_least=0.0)

    def table(self, setting: LinearSetting) -> Vector:
        """Return c sigma."""
        return np.array([self.inflation * setting.noise])
