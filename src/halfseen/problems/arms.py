"""Bandits with finitely many arms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput, counted_entries
from halfseen.kinds import register
from halfseen.phrases import counted, values_in_words
from halfseen.problems.arm_sets import AllArms
from halfseen.problems.base import ArmActions, Problem, is_kind, plain_fields
from halfseen.problems.rewards import RewardLaw, law_named
from halfseen.problems.setting import Setting

MOST_ARMS = 10_000_000  # the counter of a draw has 24 bits for the arm
LARGEST = 1e100  # larger rewards overflow when squared or summed
ROUNDING = 1e-12  # tolerance for rewards outside [0, 1]
LARGEST_FIX = "Measure the rewards in a larger unit."


@register
@dataclass(frozen=True, repr=False)
class ArmedBandit(Problem):
    """Arms with fixed means, independent noise and a law of rewards.

    Parameters
    ----------
    means
        Mean reward of each arm.
    noise
        Scale of the rewards, one number or one per arm, by default 1: for laws with
        light tails the standard deviation, which is also the sub-Gaussian scale. Bernoulli,
        Poisson and exponential rewards set their own.
    actions
        The arms playable in each round; by default all of them.
    reward
        ``"gaussian"``, ``"bernoulli"`` (0 or 1), ``"uniform"`` (on an interval around the mean),
        ``"rademacher"`` (mean plus or minus the noise), ``"poisson"``, ``"exponential"``,
        ``"student-t"``, the name of a registered law, or any `RewardLaw`.

    Examples
    --------
    >>> bandit = ArmedBandit([0.9, 0.8, 0.5], noise=0.3)
    >>> bandit.arms, bandit.gaps.round(3).tolist()
    (3, [0.0, 0.1, 0.4])
    """

    kind: ClassVar[str] = "arms"
    means: Sequence[float]
    noise: float | Sequence[float] | None = None
    actions: ArmActions = field(default_factory=AllArms)
    reward: str | RewardLaw = "gaussian"

    def __post_init__(self) -> None:
        means = checks.vector("ArmedBandit.means", self.means)
        limits: Any = {"at_least": -LARGEST, "at_most": LARGEST, "fix": LARGEST_FIX}
        checks.vector("ArmedBandit.means", means, **limits)
        if len(means) > MOST_ARMS:
            raise InvalidInput(
                "ArmedBandit.means",
                f"must have at most {MOST_ARMS:,} entries",
                counted_entries(len(means)),
                "Leave some arms out.",
            )
        law = law_named("ArmedBandit.reward", self.reward)
        law.check(means)
        if not law.takes_noise and self.noise is not None:
            raise InvalidInput(
                "ArmedBandit.noise",
                f"is fixed by {law.kind.capitalize()} rewards",
                self.noise,
                "Leave it out.",
            )
        noise = self._noise(1.0 if self.noise is None else self.noise, len(means))
        if not is_kind(self.actions, ArmActions):
            raise InvalidInput(
                "ArmedBandit.actions",
                "must be an action set",
                self.actions,
                "Use AllArms(), FixedArms(...), RandomArms(...), SequenceOfArms(...) or a dataclass"
                " of your own derived from ArmActions.",
            )
        with checks.inside("ArmedBandit.actions"):
            self.actions.check(len(means))
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "noise", noise if law.takes_noise else None)
        object.__setattr__(self, "_law", law)
        scale = np.asarray(law.scale(np.array(means), np.array(noise)), dtype=np.float64)
        fix = f"Correct {type(law).__name__}.scale, which returns one number per arm."
        given = checks.vector("ArmedBandit.scale", scale, at_least=0.0, length=len(means), fix=fix)
        object.__setattr__(self, "_scale", given)

    @staticmethod
    def _noise(noise: float | Sequence[float], arms: int) -> tuple[float, ...]:
        name = "ArmedBandit.noise"
        limits: Any = {"at_least": 0.0, "at_most": LARGEST, "fix": "Use 0 for no noise."}
        if isinstance(noise, Iterable) and not isinstance(noise, str | bytes):
            return checks.vector(name, noise, length=arms, **limits)
        return (checks.number(name, noise, **limits),) * arms

    @property
    def arms(self) -> int:
        """The number of arms."""
        return len(self.means)

    @property
    def law(self) -> RewardLaw:
        """The law of the rewards, with its parameters."""
        return self._law  # type: ignore[attr-defined]

    @property
    def scale(self) -> Vector:
        """Scale of each arm's noise, a sub-Gaussian one if the law's tails are light."""
        return np.array(self._scale)  # type: ignore[attr-defined]

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest reward of all arms, infinite where the law names none."""
        low, high = self.law.limits(np.array(self.means), self.scale)
        return float(low.min()), float(high.max())

    @property
    def non_negative(self) -> bool:
        """Whether no reward is below 0."""
        return self.law.non_negative or self.limits[0] >= -ROUNDING

    @property
    def playable(self) -> NDArray[np.int64]:
        """The arms that can ever be played when the action set is fixed, else all of them."""
        return np.array(self.actions.playable(self.arms))

    @property
    def gaps(self) -> Vector:
        """How much worse each arm is than the best playable one."""
        means = np.array(self.means)
        return np.maximum(means[self.playable].max() - means, 0.0)

    def bandit(self) -> ArmedBandit:
        """Return the bandit itself."""
        return self

    def decisive(self) -> Any:
        """Return the fields, and the code of a law or a set of arms of your own."""
        parts = plain_fields(self)
        return self.kind, parts if self.law.loop_number is not None else parts | {"law": self.law}

    def in_words(self) -> str:
        """Return a sentence on how many arms there are, what they pay and which may be played."""
        means, offered = values_in_words(self.means), self.actions.in_words()
        text = f"{counted('arm', self.arms)}, {self.law.in_words()}, means {means}"
        if self.law.takes_noise:
            text += f", noise {values_in_words(self.scale.tolist())}"
        return f"{text}; {offered}." if offered else f"{text}."

    def setting(self, horizon: int) -> Setting:
        """Return the setting passed to a policy before the first round."""
        bound = float(np.max(np.abs(self.means)))
        low, high = self.limits
        return Setting(
            noise=self.scale,
            bound=bound,
            horizon=horizon,
            reward=self.law.kind,
            sub_gaussian=self.law.sub_gaussian,
            finite_variance=self.law.finite_variance,
            unit_interval=low >= -ROUNDING and high <= 1.0 + ROUNDING,
            offered=len(self.playable),
        )
