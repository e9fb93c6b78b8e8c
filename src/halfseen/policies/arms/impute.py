"""Two common mistakes with missing rewards: imputing 0, and imputing the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.kernels.kullback_leibler import EXPONENTIAL
from halfseen.policies.arms import imed, kl_ucb
from halfseen.policies.arms.base import COUNT, TOTAL, Kernels, Policy, State, count_and_sum
from halfseen.policies.arms.families import FamilyPolicy
from halfseen.policies.arms.gamma_thompson import GammaThompson
from halfseen.policies.arms.ucb import UCB
from halfseen.problems.setting import Setting


def zero(state: State, arm: int, table: Vector) -> float:
    """Return 0 for a missing reward."""
    return 0.0


def mean(state: State, arm: int, table: Vector) -> float:
    """Return the arm's mean so far for a missing reward, NaN before there is one."""
    if state[arm, COUNT] == 0.0:
        return math.nan
    return state[arm, TOTAL] / state[arm, COUNT]


@dataclass(frozen=True)
class _Impute(Policy):
    base: Policy = field(default_factory=UCB)

    def __post_init__(self) -> None:
        if not isinstance(self.base, Policy) or self.base.fill is not None:
            raise InvalidInput(
                f"{type(self).__name__}.base",
                "must be a policy that leaves missing rewards missing",
                self.base,
                "Use for example UCB().",
            )
        object.__setattr__(self, "regularization", self.base.regularization)

    def table(self, setting: Setting) -> Vector:
        """Return the base policy's table."""
        return self.base.table(setting)

    @property
    def is_random(self) -> bool:
        """Whether chance may decide the base policy's choice."""
        return self.base.is_random

    def probabilities(
        self, state: State, playable: NDArray[Any], clock: int, table: Vector
    ) -> Vector | None:
        """Return the base policy's."""
        return self.base.probabilities(state, playable, clock, table)

    def without_imputation(self) -> Policy:
        """Return the base policy."""
        return self.base

    def check(self, setting: Setting) -> None:
        """Refuse what the base policy refuses."""
        self.base.check(setting)

    def kernels(self) -> Kernels:
        """Return the base policy's algorithm with missing rewards filled in."""
        return replace(self.base.kernels(), fill=self.fill)


@dataclass(frozen=True)
class ImputeZero(_Impute):
    """A mistake: impute a reward of 0 whenever feedback is missing.

    It biases rarely seen arms towards 0, with overconfidence.

    Parameters
    ----------
    base
        The base policy, which learns the imputed rewards.
    """

    kind: ClassVar[str] = "impute-zero"
    summary: ClassVar[str] = "A common mistake: imputes a reward of 0 where feedback is missing."
    imputed = "0"
    fill = staticmethod(zero)

    @property
    def replaces(self) -> bool:
        """Whether counts and sums are all the base keeps, so that a reward can replace a 0."""
        return self.base.kernels().learn in (count_and_sum, imed.learn, kl_ucb.learn)

    def check(self, setting: Setting) -> None:
        """Refuse what the base policy refuses, and indices that a reward of 0 makes infinite."""
        super().check(setting)
        base = self.base
        family = isinstance(base, FamilyPolicy) and base.family_in(setting) == EXPONENTIAL
        drawn = isinstance(base, GammaThompson) and setting.reward == "exponential"
        if family or drawn:
            instead = f"{type(base).__name__}(family='gaussian'), or UCB()" if family else "UCB()"
            raise InvalidInput(
                "ImputeZero.base",
                "must not be an index for exponential rewards: a 0, which is not one of them,"
                " rules an arm out for ever",
                base,
                f"Use {instead}.",
            )


@dataclass(frozen=True)
class ImputeMean(_Impute):
    """A mistake: impute the arm's mean so far whenever feedback is missing.

    It makes the policy overconfident about rarely seen arms.

    Parameters
    ----------
    base
        The base policy, which learns the imputed rewards.
    """

    kind: ClassVar[str] = "impute-mean"
    summary: ClassVar[str] = (
        "A common mistake: imputes the arm’s mean so far where feedback is missing."
    )
    imputed = "the arm’s mean so far"
    fill = staticmethod(mean)
