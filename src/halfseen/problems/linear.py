"""Bandits whose mean reward is linear in the action."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.kinds import register
from halfseen.phrases import counted, vector_in_words
from halfseen.problems.action_arrays import row_blocks
from halfseen.problems.action_sets import UnitBall
from halfseen.problems.arms import LARGEST, LARGEST_FIX
from halfseen.problems.base import LinearActions, Problem, is_kind, plain_fields


@register
@dataclass(frozen=True, repr=False)
class LinearBandit(Problem):
    r"""Actions are vectors of the unit ball and pay a linear reward plus Gaussian noise.

    .. math:: y=\langle a,\theta\rangle+\varepsilon,\qquad \varepsilon\sim N(0,\sigma^2)

    The regret of a round is the best available mean minus the mean played,
    :math:`\max_{b\in A_t}\langle b,\theta\rangle-\langle a,\theta\rangle`.

    Parameters
    ----------
    theta
        The vector the policy does not know.
    noise
        Standard deviation sigma of the rewards, also their sub-Gaussian scale.
    actions
        What may be played in each round: `FiniteActions`, `RandomActions`, `SampledActions`,
        `SequenceOfActions`, or `UnitBall`, the default.

    Examples
    --------
    >>> from halfseen import FiniteActions
    >>> bandit = LinearBandit([0.6, 0.8], noise=0.1, actions=FiniteActions([[1, 0], [0, 1]]))
    >>> bandit.dimension, bandit.regrets([[1, 0], [0, 1]]).round(3).tolist()
    (2, [0.2, 0.0])
    """

    kind: ClassVar[str] = "linear"
    linear: ClassVar[bool] = True
    theta: Sequence[float]
    noise: float = 1.0
    actions: LinearActions = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        theta = checks.vector(
            "LinearBandit.theta", self.theta, at_least=-LARGEST, at_most=LARGEST, fix=LARGEST_FIX
        )
        noise = checks.number(
            "LinearBandit.noise", self.noise, at_least=0.0, at_most=LARGEST, fix="Use 0 for none."
        )
        actions = UnitBall(len(theta)) if self.actions is None else self.actions
        if not is_kind(actions, LinearActions):
            raise InvalidInput(
                "LinearBandit.actions",
                "must be a set of vectors",
                actions,
                "Use FiniteActions(...), RandomActions(...), SampledActions(...),"
                " SequenceOfActions(...), UnitBall(...) or a dataclass of your own derived from"
                " LinearActions.",
            )
        for name in ("dimension", "count"):
            if not isinstance(getattr(actions, name, None), int):
                raise InvalidInput(
                    "LinearBandit.actions",
                    f"must have a whole number `{name}`",
                    actions,
                    f"Add a field or a property `{name}` to {type(actions).__name__}.",
                )
        if actions.dimension != len(theta):
            raise InvalidInput(
                "LinearBandit.actions",
                f"must have {len(theta)} coordinates each, like theta",
                f"{actions.dimension} coordinates",
                "Match the two dimensions.",
            )
        object.__setattr__(self, "theta", theta)
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "actions", actions)

    @property
    def dimension(self) -> int:
        """The number of coordinates of theta and of every action."""
        return len(self.theta)

    @property
    def norm(self) -> float:
        """The length of theta, which is the largest mean on the unit ball."""
        return math.hypot(*self.theta)

    @property
    def largest_gap(self) -> float:
        """An upper bound on the regret of a round: exact for given actions, else twice the norm."""
        fixed, given = self.actions.fixed, self.actions.given
        if fixed is not None:
            return float(np.ptp(self.means(fixed)))
        if given is not None:
            theta = np.array(self.theta)
            return max(float(np.ptp(block @ theta, axis=1).max()) for block in row_blocks(given))
        return 2.0 * self.norm

    def bandit(self) -> LinearBandit:
        """Return the bandit itself."""
        return self

    def decisive(self) -> Any:
        """Return the fields and the code of a set of actions of your own."""
        return self.kind, plain_fields(self) | self.actions.decisive()

    def pays(self) -> str:
        """Return what an action pays, as reports say it."""
        return f"⟨a, θ⟩ plus normal noise of {self.noise:.4g}"

    def in_words(self) -> str:
        """Return a sentence on what an action pays and which actions there are."""
        return (
            f"An action a pays {self.pays()}; {counted('dimension', self.dimension)},"
            f" θ = {vector_in_words(self.theta)}, of length {self.norm:.3g};"
            f" {self.actions.in_words()}."
        )

    def means(self, actions: Any) -> Vector:
        """Return the mean reward of each row of an array (n, d)."""
        rows = np.asarray(actions, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.dimension:
            raise InvalidInput(
                "actions",
                f"must be an array (n, {self.dimension}), one action per row",
                rows.shape,
                "Match the dimension of theta.",
            )
        return rows @ np.array(self.theta)

    def best_mean(self, actions: Any = None) -> float:
        """Return the largest mean among the rows of an array, or on the unit ball if left out."""
        return self.norm if actions is None else float(self.means(actions).max())

    def regrets(self, actions: Any) -> Vector:
        """Return how much worse each row of an array is than the best of them."""
        means = self.means(actions)
        return means.max() - means
