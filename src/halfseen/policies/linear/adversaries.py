"""Policies that seek a large potential, to test the bounds on it.

They know how often each action is observed, which no learner does, and ignore rewards.
The simplest of them needs no such knowledge: `DesignExploration` always plays the widest
action.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.errors import InvalidInput
from halfseen.policies.linear.base import LinearPolicy, LinearSetting


def weighted_width(
    mean: float,
    square: float,
    spread: float,
    shift: float,
    action: int,
    clock: int,
    stream: Stream,
    table: Vector,
) -> float:
    """Return the action's squared width times its weight."""
    return square * table[action]


def width_in_time(
    mean: float,
    square: float,
    spread: float,
    shift: float,
    action: int,
    clock: int,
    stream: Stream,
    table: Vector,
) -> float:
    """Return the action's squared width between its first and its last round, otherwise -1."""
    if table[2 * action] < clock - 0.5 <= table[2 * action + 1]:
        return square
    return -1.0


@dataclass(frozen=True)
class Adversary(LinearPolicy):
    """A policy that knows how often each action of a finite set is observed.

    Parameters
    ----------
    regularization
        The ridge's lambda, above 0.
    """

    regularization: float = 1.0
    knows_observe = True

    def __post_init__(self) -> None:
        self._keep("regularization", above=0.0, fix="Use 1.0.")

    def _known(self, setting: LinearSetting) -> tuple[Vector, Vector]:
        if setting.actions is None or setting.observe is None:
            raise InvalidInput(
                "policy",
                "must not be an adversary, which knows how often each action is observed, unless"
                " every round of a study offers the same finite set",
                self,
                "Use FiniteActions, or another policy.",
            )
        return setting.actions, setting.observe


@dataclass(frozen=True)
class InformationGreedy(Adversary):
    r"""Play the largest gain per unit of information, :math:`\|a\|^2_{W^{-1}}/p(a)`.

    In the limit of many rounds this follows the paper's information path, whose potential grows
    like the paper's effective dimension times log T. That is not the maximum: `OptimalOrder` does
    better.

    Parameters
    ----------
    regularization
        The ridge's lambda, above 0.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section 4.3.
    """

    kind: ClassVar[str] = "information-greedy"
    summary: ClassVar[str] = "An adversary that knows p: most information per observation."
    waits = True
    index = staticmethod(weighted_width)

    def table(self, setting: LinearSetting) -> Vector:
        """Return 1/p of each action."""
        result: Vector = 1.0 / self._known(setting)[1]
        return result


@dataclass(frozen=True)
class MostCensored(Adversary):
    """Play the widest of the actions that are observed least often.

    Parameters
    ----------
    regularization
        The ridge's lambda, above 0.
    """

    kind: ClassVar[str] = "most-censored"
    summary: ClassVar[str] = "An adversary that knows p: explores only the most censored actions."
    waits = True
    index = staticmethod(weighted_width)

    def table(self, setting: LinearSetting) -> Vector:
        """Return 1 for actions of the smallest p, 0 for the others."""
        observe = self._known(setting)[1]
        return np.where(observe == observe.min(), 1.0, 0.0)


@dataclass(frozen=True)
class OptimalOrder(Adversary):
    """Play the most censored actions first, then the next: the plan with the largest potential.

    The rounds at which it moves on are those of `halfseen.theory.worst_case_potential` for this set
    and horizon; between them the widest action of the level is played.

    Parameters
    ----------
    regularization
        The ridge's lambda, above 0.

    Notes
    -----
    The expected potential V_1 comes out between J* and kappa J*.
    """

    kind: ClassVar[str] = "optimal-order"
    summary: ClassVar[str] = (
        "An adversary that knows p: the plan of largest potential, most censored actions first."
    )
    index = staticmethod(width_in_time)

    def table(self, setting: LinearSetting) -> Vector:
        """Return when each action's level begins and ends, in rounds."""
        from halfseen.theory.linear.worst_case import worst_case_potential

        actions, observe = self._known(setting)
        plan = worst_case_potential(
            observe,
            regularization=self.regularization,
            horizon=setting.horizon,
            actions=actions,
        )
        switches = np.array([0.0, *plan.switch_times, np.inf])
        level = np.unique(observe, return_inverse=True)[1]
        return np.stack([switches[level], switches[level + 1]], axis=1).ravel()
