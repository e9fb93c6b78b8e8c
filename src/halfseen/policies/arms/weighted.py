"""Weighted learning from every round: inverse propensity and doubly robust."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput, counted_entries
from halfseen.policies.arms.base import COUNT, TOTAL, Policy, State
from halfseen.policies.arms.ucb import EXPLORATION, LAMBDA, LAMBDA_BOUND, index, width
from halfseen.problems.setting import Setting

OBSERVE = 3


def weigh(state: State, arm: int, reward: float, table: Vector) -> None:
    """Add reward / p; a missing one, taken for 0, adds 0."""
    state[arm, COUNT] += 1.0
    state[arm, TOTAL] += reward / table[arm, OBSERVE]


def nothing(state: State, arm: int, table: Vector) -> float:
    """Return 0 for a missing reward; the weights of the observed ones compensate for it."""
    return 0.0


def correct(state: State, arm: int, reward: float, table: Vector) -> None:
    """Add m + (reward - m) / p, m being the mean so far; a missing one, taken for m, adds m."""
    mean = 0.0
    if state[arm, COUNT] > 0.0:
        mean = state[arm, TOTAL] / state[arm, COUNT]
    state[arm, COUNT] += 1.0
    state[arm, TOTAL] += mean + (reward - mean) / table[arm, OBSERVE]


def guess(state: State, arm: int, table: Vector) -> float:
    """Return the mean so far for a missing reward, 0 before there is one."""
    if state[arm, COUNT] == 0.0:
        return 0.0
    return state[arm, TOTAL] / state[arm, COUNT]


@dataclass(frozen=True)
class _Weighted(Policy):
    observe: float | Sequence[float] = 1.0
    regularization: float = 1.0
    waits = True
    index = staticmethod(index)
    width = staticmethod(width)

    def __post_init__(self) -> None:
        self._keep("regularization", above=0.0, fix="Use 1.0.")
        field = f"{type(self).__name__}.observe"
        if isinstance(self.observe, int | float):
            object.__setattr__(self, "observe", checks.observation_probability(field, self.observe))
        else:
            object.__setattr__(
                self, "observe", checks.observation_probabilities(field, self.observe)
            )

    def check(self, setting: Setting) -> None:
        """Refuse a setting with another number of arms."""
        if not isinstance(self.observe, float) and len(self.observe) != setting.arms:
            raise InvalidInput(
                f"{type(self).__name__}.observe",
                f"must be one number or have {setting.arms} entries, one per arm",
                counted_entries(len(self.observe)),
                "Match the number of arms.",
            )

    @abstractmethod
    def variance(self, p: Vector, setting: Setting) -> Vector:
        """Return the variance per round."""

    def table(self, setting: Setting) -> Vector:
        """Return 6 log T times the variance, lambda, lambda M and p of each arm."""
        p = np.broadcast_to(np.asarray(self.observe, dtype=float), (setting.arms,))
        rows = np.empty((setting.arms, 4))
        rows[:, EXPLORATION] = 6.0 * self.variance(p, setting) * math.log(setting.horizon)
        rows[:, LAMBDA] = self.regularization
        rows[:, LAMBDA_BOUND] = self.regularization * setting.bound
        rows[:, OBSERVE] = p
        return rows


@dataclass(frozen=True, repr=False)
class InversePropensity(_Weighted):
    r"""UCB that learns r/p from a reward that was seen and 0 from one that was not.

    Unbiased if p is correct, but noisy: the variance per round is :math:`(\sigma^2 +
    (1-p)\mu^2)/p`, with the largest mean for :math:`\mu`.

    Parameters
    ----------
    observe
        The assumed probability of being observed, one number or one per arm.
    regularization
        The paper's lambda, above 0.
    """

    kind: ClassVar[str] = "inverse-propensity"
    summary: ClassVar[str] = (
        "Learns 0 where feedback is missing, and seen rewards divided by their probability."
    )
    learn = staticmethod(weigh)
    fill = staticmethod(nothing)

    def variance(self, p: Vector, setting: Setting) -> Vector:
        """Return (sigma^2 + (1 - p) M^2) / p."""
        return (setting.noise**2 + (1.0 - p) * setting.bound**2) / p


@dataclass(frozen=True, repr=False)
class DoublyRobust(_Weighted):
    r"""UCB that learns m + (r - m)/p from a reward that was seen and m from one that was not.

    m is the mean so far. Unbiased if p is correct, and the variance per round tends to
    :math:`\sigma^2/p`: that of skipping missing rewards, which needs no p.

    Parameters
    ----------
    observe
        The assumed probability of being observed, one number or one per arm.
    regularization
        The paper's lambda, above 0.
    """

    kind: ClassVar[str] = "doubly-robust"
    summary: ClassVar[str] = (
        "Learns the mean so far where feedback is missing, corrected by seen rewards."
    )
    learn = staticmethod(correct)
    fill = staticmethod(guess)

    def variance(self, p: Vector, setting: Setting) -> Vector:
        """Return sigma^2 / p."""
        return setting.noise**2 / p
