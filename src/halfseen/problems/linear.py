"""Bandits whose mean reward is linear in the action."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput, InWords
from halfseen.kinds import register
from halfseen.phrases import counted, vector_in_words
from halfseen.problems.action_arrays import row_blocks
from halfseen.problems.action_sets import UnitBall
from halfseen.problems.arms import LARGEST, LARGEST_FIX, ROUNDING
from halfseen.problems.base import LinearActions, Problem, is_kind, plain_fields

REWARDS = ("gaussian", "bernoulli")


@register
@dataclass(frozen=True, repr=False)
class LinearBandit(Problem):
    r"""Actions are vectors of the unit ball and pay a linear reward plus Gaussian noise, or 0 or 1.

    .. math:: y=\langle a,\theta\rangle+\varepsilon,\quad \varepsilon\sim N(0,\sigma^2)
              \qquad\text{or}\qquad P(y=1)=1-P(y=0)=\langle a,\theta\rangle

    The regret of a round is the best available mean minus the mean played,
    :math:`\max_{b\in A_t}\langle b,\theta\rangle-\langle a,\theta\rangle`.

    Parameters
    ----------
    theta
        The vector the policy does not know.
    noise
        Standard deviation sigma of normal rewards, also their sub-Gaussian scale; 1 if left out.
        The scale of rewards of 0 or 1 is 1/2.
    actions
        What may be played in each round: `FiniteActions`, `RandomActions`, `SampledActions`,
        `SequenceOfActions`, or `UnitBall`, the default.
    reward
        ``"bernoulli"`` for rewards of 0 or 1, on `FiniteActions` or `SequenceOfActions` whose means
        are all in [0, 1]; left out, ``"gaussian"``.

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
    noise: float = None  # type: ignore[assignment]
    actions: LinearActions = None  # type: ignore[assignment]
    reward: str = "gaussian"

    def __post_init__(self) -> None:
        theta = checks.vector(
            "LinearBandit.theta", self.theta, at_least=-LARGEST, at_most=LARGEST, fix=LARGEST_FIX
        )
        checks.one_of("LinearBandit.reward", self.reward, REWARDS)
        noise = self._scale()
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
        if self.reward == "bernoulli":
            self._check_probabilities()

    @property
    def law(self) -> str:
        """The law of the rewards: ``"gaussian"``, or ``"bernoulli"`` for rewards of 0 or 1."""
        return self.reward

    def _scale(self) -> float:
        """Return the scale of the rewards, checked."""
        if self.reward == "bernoulli":
            if self.noise not in (None, 0.5):
                raise InvalidInput(
                    "LinearBandit.noise",
                    "is 1/2 for rewards of 0 or 1",
                    self.noise,
                    "Leave it out.",
                )
            return 0.5
        given = 1.0 if self.noise is None else self.noise
        return checks.number(
            "LinearBandit.noise", given, at_least=0.0, at_most=LARGEST, fix="Use 0 for none."
        )

    def _check_probabilities(self) -> None:
        """Refuse means that are not probabilities."""
        fixed, given, theta = self.actions.fixed, self.actions.given, np.array(self.theta)
        if fixed is None and given is None:
            raise InvalidInput(
                "LinearBandit.actions",
                "must be given beforehand for rewards of 0 or 1: their means are probabilities",
                self.actions,
                "Use FiniteActions or SequenceOfActions, or a GeneralizedLinearBandit.",
            )
        for block in row_blocks(given) if fixed is None else [fixed[None]]:  # type: ignore[arg-type]
            means = block @ theta
            outside = np.maximum(-means, means - 1.0)
            if outside.max() > ROUNDING:
                place = np.unravel_index(outside.argmax(), outside.shape)
                raise InvalidInput(
                    "LinearBandit.theta",
                    "must give every action a mean in [0, 1] for rewards of 0 or 1",
                    InWords(f"mean {means[place]:.4g} of action {block[place].tolist()}"),
                    "Scale theta or the actions, or use a GeneralizedLinearBandit.",
                )

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
        decisive = plain_fields(self) | self.actions.decisive()
        if self.reward == "gaussian":  # as before there were others
            decisive.pop("reward", None)
        return self.kind, decisive

    def pays(self) -> str:
        """Return what an action pays, as reports say it."""
        if self.law == "bernoulli":
            return "1 with probability ⟨a, θ⟩ and 0 otherwise"
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
