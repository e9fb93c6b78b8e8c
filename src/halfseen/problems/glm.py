"""Bandits whose mean reward is an increasing function of a linear one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.kinds import register
from halfseen.problems.action_arrays import row_blocks
from halfseen.problems.base import LinearActions
from halfseen.problems.linear import LinearBandit
from halfseen.problems.links import Link, link_named

MEANS = {
    "logistic": "1/(1 + exp(−⟨a, θ⟩))",
    "probit": "Φ(⟨a, θ⟩)",
    "poisson": "exp⟨a, θ⟩",
    "identity": "⟨a, θ⟩",
}
REWARDS = {
    "bernoulli": "of 0 or 1",
    "poisson": "that are Poisson counts",
    "gaussian": "that are normal with noise {noise}",
}


@register
@dataclass(frozen=True, init=False, repr=False)
class GeneralizedLinearBandit(LinearBandit):
    r"""Actions are vectors of the unit ball; mean rewards increase with a linear function.

    .. math:: \mathbb E[y\mid a]=\mu(\langle a,\theta\rangle),\qquad \mu\ \text{increasing}

    The regret of a round is the best available mean minus the mean played,
    :math:`\max_{b\in A_t}\mu(\langle b,\theta\rangle)-\mu(\langle a,\theta\rangle)`.

    Parameters
    ----------
    theta
        The vector the policy does not know.
    noise
        The scale of rewards around their mean, as passed to policies: the standard deviation of
        normal rewards. Left out, 1 for those, 1/2 for rewards 0 or 1, and the square root of the
        largest mean for counts, which have no sub-Gaussian scale.
    link
        The curve and the law of the rewards: ``"logistic"`` or ``"probit"`` (rewards 0 or 1),
        ``"poisson"`` (counts, with mean exp<a, theta>), ``"identity"`` (normal rewards), or a
        `Link` of your own, which is registered under its name.
    actions
        What may be played in each round: `FiniteActions`, `RandomActions` or
        `SequenceOfActions`.

    Examples
    --------
    >>> from halfseen import FiniteActions
    >>> bandit = GeneralizedLinearBandit(
    ...     [0.6, 0.8], link="logistic", actions=FiniteActions([[1, 0], [0, 1], [0, -1]])
    ... )
    >>> bandit.noise, bandit.regrets([[1, 0], [0, 1]]).round(4).tolist()
    (0.5, [0.0443, 0.0])
    """

    kind: ClassVar[str] = "generalized-linear"
    generalized: ClassVar[bool] = True
    reward: ClassVar[str] = "gaussian"  # type: ignore[misc]  # no field here: the link decides
    link: str = "logistic"

    def __init__(
        self,
        theta: Sequence[float],
        noise: float | None = None,
        *,
        link: str | Link = "logistic",
        actions: LinearActions | None = None,
    ) -> None:
        name = "GeneralizedLinearBandit"
        chosen = link_named(f"{name}.link", link)
        object.__setattr__(self, "theta", theta)
        object.__setattr__(self, "noise", 1.0 if noise is None else noise)
        object.__setattr__(self, "actions", actions)
        object.__setattr__(self, "link", chosen.name)
        object.__setattr__(self, "_curve", chosen)
        try:
            super().__post_init__()
        except InvalidInput as error:
            field = f"{name}.{error.field.partition('.')[2]}"
            raise InvalidInput(field, error.requirement, error.value, error.fix) from None
        if self.actions.whole_ball:
            raise InvalidInput(
                f"{name}.actions",
                "must be a set of vectors other than the whole ball",
                actions,
                "Use FiniteActions, RandomActions or SequenceOfActions.",
            )
        object.__setattr__(self, "_reach", self._longest())
        chosen.check(f"{name}.link", self.reach * self.norm)
        if noise is None:
            object.__setattr__(self, "noise", chosen.usual_noise(self.reach * self.norm))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GeneralizedLinearBandit) or self.curve != other.curve:
            return False
        return all(getattr(self, f.name) == getattr(other, f.name) for f in fields(self))

    @property
    def law(self) -> str:
        """The law of the rewards, that of the link."""
        return self.curve.law

    @property
    def curve(self) -> Link:
        """The link itself."""
        return self._curve  # type: ignore[attr-defined]

    @property
    def reach(self) -> float:
        """The length of the longest action, at most 1; 1 where actions are drawn."""
        return self._reach  # type: ignore[attr-defined]

    def _longest(self) -> float:
        if self.actions.fixed is not None:
            return float(np.linalg.norm(self.actions.fixed, axis=1).max())
        if self.actions.given is not None:
            blocks = row_blocks(self.actions.given)
            return max(float(np.linalg.norm(block, axis=2).max()) for block in blocks)
        return 1.0

    @property
    def largest_gap(self) -> float:
        """An upper bound on the regret of a round, exact for given actions."""
        fixed, given = self.actions.fixed, self.actions.given
        if fixed is not None:
            return float(np.ptp(self.means(fixed)))
        if given is not None:
            theta, mean = np.array(self.theta), self.curve.mean
            largest = 0.0
            for block in row_blocks(given):
                z = block @ theta
                ends = zip(z.max(axis=1).tolist(), z.min(axis=1).tolist(), strict=True)
                largest = max(largest, *(mean(high) - mean(low) for high, low in ends))
            return largest
        return self.curve.mean(self.norm) - self.curve.mean(-self.norm)

    def decisive(self) -> Any:
        """Return the fields and the code of the link and of a set of actions of your own."""
        kind, parts = super().decisive()
        return kind, parts | {"link": self.curve}

    def pays(self) -> str:
        """Return what an action pays, as reports say it."""
        law = REWARDS.get(self.curve.law, "of its own law").format(noise=f"{self.noise:.4g}")
        mean = MEANS.get(self.link, f"μ(⟨a, θ⟩), μ the curve “{self.link}”")
        return f"rewards {law} with mean {mean}"

    def means(self, actions: Any) -> Vector:
        """Return the mean reward of each row of an array (n, d)."""
        return self.curve.means(super().means(actions))

    def best_mean(self, actions: Any = None) -> float:
        """Return the largest mean among the rows of an array, or of any action if left out."""
        if actions is None:
            return self.curve.mean(self.reach * self.norm)
        return float(self.means(actions).max())
