"""Arms with a unique best arm, and the class of reward distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput, shorten
from halfseen.problems import ArmedBandit
from halfseen.theory import inputs
from halfseen.theory.arms.dimension import has_fixed_arms
from halfseen.theory.lower.least_divergence import FAMILIES, TwoPoints, UniformLaw, bounded

BOUNDED = "bounded"
TIED = 1e-12  # gaps below this, relative to the means, are rounding errors
FITTING = {  # the classes of distributions that each kind of reward belongs to, default first
    "gaussian": ("gaussian", "gaussian-unknown-variance"),
    "bernoulli": ("bernoulli", BOUNDED),
    "uniform": (BOUNDED,),
    "rademacher": (BOUNDED,),
    "poisson": ("poisson",),
    "exponential": ("exponential",),
}


@dataclass(frozen=True, eq=False)
class ArmClass(ByValue):
    """Playable arms, their observation probabilities, and the class of their distributions."""

    means: Vector
    observe: Vector
    noise: Vector
    family: str
    reward: str
    arms: NDArray[np.int64]
    of_all: int

    @property
    def best(self) -> int:
        """Index of the best arm among those that can be played."""
        return int(np.argmax(self.means))

    @property
    def gaps(self) -> Vector:
        """How much worse each arm is than the best one."""
        return self.means.max() - self.means

    @property
    def worse(self) -> NDArray[np.int64]:
        """Indices of all arms except the best one."""
        return np.flatnonzero(np.arange(len(self.means)) != self.best)

    def information(self, above: Vector | float = 0.0) -> Vector:
        """Return the least divergence of each worse arm from laws with a mean above the best.

        Parameters
        ----------
        above
            Distance above the best mean, one number or one per worse arm.
        """
        worse = self.worse
        rises = self.gaps[worse] + above
        if self.family != BOUNDED:
            return FAMILIES[self.family](self.means[worse], rises, self.noise[worse])
        rooms = (1.0 - self.means[worse]) - rises
        return np.array(
            [
                bounded(self._law(place), float(rise), float(room))[0] if room > 0.0 else math.inf
                for place, rise, room in zip(worse, rises, rooms, strict=True)
            ]
        )

    def _law(self, place: int) -> TwoPoints | UniformLaw:
        mean, noise = float(self.means[place]), float(self.noise[place])
        if self.reward == "bernoulli":
            return TwoPoints(mean, 1.0 - mean)
        if self.reward == "rademacher":
            return TwoPoints(noise, noise)
        return UniformLaw(math.sqrt(3.0) * noise)

    def per_arm(self, values: Vector, otherwise: float) -> Vector:
        """Return one value per arm of the problem; `otherwise` for arms that cannot be played."""
        result = np.full(self.of_all, otherwise)
        result[self.arms] = values
        return result


def arm_class(problem: Any, censorship: Any, family: Any = None) -> ArmClass:
    """Return the arms of a problem and the class of their laws; raise if no bound is known."""
    if not isinstance(problem, ArmedBandit):
        raise InvalidInput("problem", "must be a bandit with arms", problem, "Give ArmedBandit.")
    if not isinstance(censorship, Censorship):
        raise InvalidInput("censorship", "must be PerArm or Uniform", censorship, "Use PerArm.")
    if not has_fixed_arms(problem):
        raise InvalidInput(
            "ArmedBandit.actions",
            "must be the same arms in every round",
            problem.actions,
            "Use AllArms or FixedArms.",
        )
    check_information(censorship)
    arms = problem.playable
    means, noise = np.array(problem.means)[arms], problem.scale[arms]
    _refuse_ties("ArmedBandit.means", means, arms)
    reward = str(getattr(problem.reward, "kind", problem.reward))
    chosen = _family(problem, reward, family)
    if chosen == BOUNDED:
        _check_support(problem, means, noise, arms)
    if chosen == "exponential":
        checks.vector("ArmedBandit.means", means, above=0.0, fix="Exponential means are above 0.")
    observe = inputs.observation(censorship.rates(problem))[arms]
    return ArmClass(means, observe, noise, chosen, reward, arms, problem.arms)


def _family(problem: ArmedBandit, reward: str, family: Any) -> str:
    if not problem.law.finite_variance:
        raise InvalidInput(
            "ArmedBandit.reward",
            "must have a finite variance for a lower bound",
            problem.reward,
            "Use for example Gaussian rewards.",
        )
    fitting = FITTING.get(reward)
    if fitting is None:
        raise InvalidInput(
            "ArmedBandit.reward",
            f"must be one of {', '.join(FITTING)} for a lower bound",
            problem.reward,
            "Lower bounds are about a class of laws; use one of those.",
        )
    if family is None:
        return fitting[0]
    chosen = checks.one_of("family", family, (*FAMILIES, BOUNDED))
    if chosen not in fitting:
        raise InvalidInput(
            "family",
            f"must fit the rewards, which are {reward}: {' or '.join(fitting)}",
            chosen,
            f"Use {fitting[0]!r}, or change ArmedBandit.reward.",
        )
    return chosen


def check_information(censorship: Censorship) -> None:
    """Raise if a play gives more or less information than its reward times p."""
    if censorship.depends_on_reward:
        raise InvalidInput(
            "censorship",
            "must not depend on the reward for a lower bound",
            censorship,
            "No bound is known for rewards missing not at random; use PerArm, or one law per arm.",
        )
    if censorship.informs:
        raise InvalidInput(
            "censorship",
            "must not show a covariate that depends on the reward for a lower bound",
            censorship,
            "Every round says something about its reward then; for policies that do not observe the"
            " covariate use PerArm.",
        )


def _refuse_ties(field: str, means: Vector, arms: NDArray[np.int64]) -> None:
    tied = arms[means.max() - means <= TIED * np.abs(means).max()]
    if len(tied) > 1:
        names = ", ".join(str(arm) for arm in tied[:5])
        raise InvalidInput(
            field,
            "must have one best arm for a lower bound",
            f"arms {names} tied at {shorten(float(means.max()))}",
            "Leave all but one of them out with FixedArms, or make one better.",
        )


def _check_support(
    problem: ArmedBandit, means: Vector, noise: Vector, arms: NDArray[np.int64]
) -> None:
    low, high = problem.law.limits(means, noise)
    outside = np.flatnonzero((low < -1e-12) | (high > 1.0 + 1e-12))
    if len(outside):
        place = outside[0]
        raise InvalidInput(
            "ArmedBandit.noise",
            f"must leave {problem.law.kind} rewards between 0 and 1 for a lower bound",
            f"rewards from {low[place]:g} to {high[place]:g} of arm {arms[place]}",
            "Lower the noise, or scale means and noise.",
        )
