"""Other ways to choose among vectors: sampling, greed, chance and pure exploration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream, uniform
from halfseen.policies.linear.base import LinearPolicy, LinearSetting, toward
from halfseen.problems.action_sets import draw_action

COIN = (1 << 24) - 1  # a place in the stream that no action has


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


def greedy_or_any(
    mean: float,
    square: float,
    spread: float,
    shift: float,
    action: int,
    clock: int,
    stream: Stream,
    table: Vector,
) -> float:
    """Return the estimated mean or, in a round of exploration, a random number."""
    if uniform(stream, clock, COIN) < table[0]:
        return uniform(stream, clock, action)
    return mean


def chance(
    mean: float,
    square: float,
    spread: float,
    shift: float,
    action: int,
    clock: int,
    stream: Stream,
    table: Vector,
) -> float:
    """Return a random number."""
    return uniform(stream, clock, action)


def squared_width(
    mean: float,
    square: float,
    spread: float,
    shift: float,
    action: int,
    clock: int,
    stream: Stream,
    table: Vector,
) -> float:
    """Return how uncertain the action's mean is."""
    return square


def best_for_sampled(
    estimate: Vector,
    shake: Vector,
    lengths: Vector,
    vectors: Vector,
    spread: float,
    clock: int,
    stream: Stream,
    table: Vector,
    scratch: Vector,
    out: Vector,
) -> None:
    """Write the best action under a theta drawn from the posterior."""
    for i in range(out.size):
        scratch[0, i] = estimate[i] + table[0] * shake[i]
    toward(scratch[0], out)


def best_or_any(
    estimate: Vector,
    shake: Vector,
    lengths: Vector,
    vectors: Vector,
    spread: float,
    clock: int,
    stream: Stream,
    table: Vector,
    scratch: Vector,
    out: Vector,
) -> None:
    """Write the best action under the estimate or, in a round of exploration, a random one."""
    if uniform(stream, clock, COIN) < table[0]:
        draw_action(stream, clock, 0, out)
    else:
        toward(estimate, out)


def anywhere(
    estimate: Vector,
    shake: Vector,
    lengths: Vector,
    vectors: Vector,
    spread: float,
    clock: int,
    stream: Stream,
    table: Vector,
    scratch: Vector,
    out: Vector,
) -> None:
    """Write a random action, uniform on the unit sphere."""
    draw_action(stream, clock, 0, out)


def widest(
    estimate: Vector,
    shake: Vector,
    lengths: Vector,
    vectors: Vector,
    spread: float,
    clock: int,
    stream: Stream,
    table: Vector,
    scratch: Vector,
    out: Vector,
) -> None:
    """Write the most uncertain action: the eigenvector of the smallest eigenvalue of W."""
    for i in range(out.size):
        out[i] = vectors[i, 0]


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


@dataclass(frozen=True)
class LinEpsilonGreedy(LinearPolicy):
    """Play the largest estimated mean, and with probability epsilon any action.

    Parameters
    ----------
    epsilon
        Probability of exploring, in [0, 1].
    regularization
        The ridge's lambda, above 0.
    """

    kind: ClassVar[str] = "lin-epsilon-greedy"
    epsilon: float = 0.1
    regularization: float = 1.0
    index = staticmethod(greedy_or_any)
    on_ball = staticmethod(best_or_any)

    def __post_init__(self) -> None:
        self._keep("epsilon", at_least=0.0, at_most=1.0)
        self._keep("regularization", above=0.0, fix="Use 1.0.")

    def table(self, setting: LinearSetting) -> Vector:
        """Return epsilon."""
        return np.array([self.epsilon])


@dataclass(frozen=True)
class LinRandom(LinearPolicy):
    """Play any action."""

    kind: ClassVar[str] = "lin-random"
    index = staticmethod(chance)
    on_ball = staticmethod(anywhere)

    def table(self, setting: LinearSetting) -> Vector:
        """Return nothing of use."""
        return np.zeros(1)


@dataclass(frozen=True)
class DesignExploration(LinearPolicy):
    """Always play the most uncertain action: the greedy path to a G-optimal design.

    Parameters
    ----------
    regularization
        The ridge's lambda, above 0.
    """

    kind: ClassVar[str] = "design"
    regularization: float = 1.0
    waits = True
    index = staticmethod(squared_width)
    on_ball = staticmethod(widest)
    spectral = True

    def __post_init__(self) -> None:
        self._keep("regularization", above=0.0, fix="Use 1.0.")

    def table(self, setting: LinearSetting) -> Vector:
        """Return nothing of use."""
        return np.zeros(1)
