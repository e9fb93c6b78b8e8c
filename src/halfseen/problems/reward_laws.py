"""The built-in reward laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.draws import Stream, exponential_from, normal, poisson, uniform, unit, words
from halfseen.errors import InvalidInput
from halfseen.kinds import register
from halfseen.problems.rewards import MEAN, NOISE, RewardLaw

DEGREES = 2


def draw_normal(table: Vector, arm: int, count: int, stream: Stream) -> float:
    """Return a normal reward."""
    return table[arm, MEAN] + table[arm, NOISE] * normal(stream, count, arm)


def draw_zero_or_one(table: Vector, arm: int, count: int, stream: Stream) -> float:
    """Return 1 with the mean as probability, else 0."""
    return 1.0 if uniform(stream, count, arm) < table[arm, MEAN] else 0.0


def draw_on_interval(table: Vector, arm: int, count: int, stream: Stream) -> float:
    """Return a reward uniform on an interval around the mean."""
    u = uniform(stream, count, arm)
    return table[arm, MEAN] + table[arm, NOISE] * (math.sqrt(3.0) * (2.0 * u - 1.0))


def draw_sign(table: Vector, arm: int, count: int, stream: Stream) -> float:
    """Return the mean plus or minus the noise."""
    high, _, _, _ = words(stream, count, arm)
    return table[arm, MEAN] + table[arm, NOISE] * (-1.0 if high & 1 else 1.0)


def draw_count(table: Vector, arm: int, count: int, stream: Stream) -> float:
    """Return a Poisson count."""
    return poisson(table[arm, MEAN], stream, count, arm)


def draw_time(table: Vector, arm: int, count: int, stream: Stream) -> float:
    """Return an exponential reward."""
    high, low, _, _ = words(stream, count, arm)
    return table[arm, MEAN] * exponential_from(high, low, stream, count, arm)


def draw_student(table: Vector, arm: int, count: int, stream: Stream) -> float:
    """Return the mean plus the noise times a Student t variate (Bailey 1994)."""
    first, second, third, fourth = words(stream, count, arm)
    u, turn = 1.0 - unit(first, second), 2.0 * math.pi * unit(third, fourth)
    degrees = table[arm, DEGREES]
    square = degrees * math.expm1(-2.0 / degrees * math.log(u))
    return table[arm, MEAN] + table[arm, NOISE] * (math.sqrt(square) * math.cos(turn))


@register
@dataclass(frozen=True)
class Gaussian(RewardLaw):
    """Normal rewards; the noise is their standard deviation."""

    kind: ClassVar[str] = "gaussian"
    draw = staticmethod(draw_normal)
    sub_gaussian = True
    loop_number = 0

    def in_words(self) -> str:
        """Describe the rewards, as reports do."""
        return "normal rewards"


@register
@dataclass(frozen=True)
class Bernoulli(RewardLaw):
    """Rewards of 0 or 1; the means are probabilities."""

    kind: ClassVar[str] = "bernoulli"
    draw = staticmethod(draw_zero_or_one)
    takes_noise = False
    non_negative = True
    sub_gaussian = True
    support = "0 or 1"
    loop_number = 1

    @staticmethod
    def possible(reward: float) -> bool:
        """Return whether a reward is 0 or 1."""
        return reward == 0.0 or reward == 1.0

    def values(self, mean: float, noise: float) -> tuple[tuple[float, float], ...]:
        """Return 0 and 1 with their probabilities."""
        return (0.0, 1.0 - mean), (1.0, mean)

    def check(self, means: Sequence[float]) -> None:
        """Refuse means that are not probabilities."""
        fix = "Bernoulli means are probabilities."
        checks.vector("ArmedBandit.means", means, at_least=0.0, at_most=1.0, fix=fix)

    def scale(self, means: Vector, noise: Vector) -> Vector:
        """Return 1/2, the sub-Gaussian scale of every such law."""
        return np.full(len(means), 0.5)

    def in_words(self) -> str:
        """Describe the rewards, as reports do."""
        return "rewards of 0 or 1"

    def limits(self, means: Vector, noise: Vector) -> tuple[Vector, Vector]:
        """Return 0 and 1."""
        return np.zeros(len(means)), np.ones(len(means))


@register
@dataclass(frozen=True)
class Interval(RewardLaw):
    """Rewards uniform on an interval around the mean; the noise is their standard deviation."""

    kind: ClassVar[str] = "uniform"
    draw = staticmethod(draw_on_interval)
    sub_gaussian = True
    loop_number = 2

    def in_words(self) -> str:
        """Describe the rewards, as reports do."""
        return "rewards uniform around the mean"

    def limits(self, means: Vector, noise: Vector) -> tuple[Vector, Vector]:
        """Return the ends of each interval."""
        return means - math.sqrt(3.0) * noise, means + math.sqrt(3.0) * noise


@register
@dataclass(frozen=True)
class Rademacher(RewardLaw):
    """Rewards of the mean plus or minus the noise."""

    kind: ClassVar[str] = "rademacher"
    draw = staticmethod(draw_sign)
    sub_gaussian = True
    loop_number = 3

    def values(self, mean: float, noise: float) -> tuple[tuple[float, float], ...]:
        """Return the mean minus and plus the noise with their probabilities."""
        return ((mean - noise, 0.5), (mean + noise, 0.5)) if noise > 0.0 else ((mean, 1.0),)

    def in_words(self) -> str:
        """Describe the rewards, as reports do."""
        return "rewards of the mean plus or minus the noise"

    def limits(self, means: Vector, noise: Vector) -> tuple[Vector, Vector]:
        """Return the mean minus and plus the noise."""
        return means - noise, means + noise


@register
@dataclass(frozen=True)
class Poisson(RewardLaw):
    """Counts; policies are given the largest standard deviation."""

    kind: ClassVar[str] = "poisson"
    draw = staticmethod(draw_count)
    takes_noise = False
    non_negative = True
    support = "counts: 0, 1, 2 and so on"

    @staticmethod
    def possible(reward: float) -> bool:
        """Return whether a reward is a count."""
        return reward >= 0.0 and reward == math.floor(reward)

    def check(self, means: Sequence[float]) -> None:
        """Refuse means below 0."""
        fix = "Poisson rewards are counts."
        checks.vector("ArmedBandit.means", means, at_least=0.0, at_most=1e15, fix=fix)

    def scale(self, means: Vector, noise: Vector) -> Vector:
        """Return the largest standard deviation: each arm's own would reveal its mean."""
        return np.full(len(means), math.sqrt(means.max()))

    def in_words(self) -> str:
        """Describe the rewards, as reports do."""
        return "Poisson counts"


@register
@dataclass(frozen=True)
class Exponential(RewardLaw):
    """Exponential rewards, such as times; policies are given the largest standard deviation."""

    kind: ClassVar[str] = "exponential"
    draw = staticmethod(draw_time)
    takes_noise = False
    non_negative = True
    support = "above 0"

    @staticmethod
    def possible(reward: float) -> bool:
        """Return whether a reward is above 0: the divergence from a mean of 0 is infinite."""
        return reward > 0.0

    def check(self, means: Sequence[float]) -> None:
        """Refuse means that are not above 0."""
        fix = "Exponential rewards are above 0; use poisson or bernoulli rewards for an arm of 0."
        checks.vector("ArmedBandit.means", means, above=0.0, fix=fix)

    def scale(self, means: Vector, noise: Vector) -> Vector:
        """Return the largest standard deviation, which is the largest mean."""
        return np.full(len(means), means.max())

    def in_words(self) -> str:
        """Describe the rewards, as reports do."""
        return "exponential rewards"


@register
@dataclass(frozen=True)
class StudentT(RewardLaw):
    r"""The mean plus the noise times a Student t variate: rewards with heavy tails.

    Moments exist up to the order of the degrees of freedom, not at it. Policies are given the
    standard deviation, :math:`\sigma\sqrt{\nu/(\nu-2)}`, or the noise :math:`\sigma` itself where
    the variance is infinite.

    Parameters
    ----------
    degrees
        Degrees of freedom :math:`\nu`, above 1, so that there is a mean.

    References
    ----------
    Bailey, *Polar generation of random variates with the t-distribution*, 1994.

    Examples
    --------
    >>> from halfseen import ArmedBandit
    >>> ArmedBandit([0.5, 0.0], noise=1.0, reward=StudentT(4.0)).scale.round(4).tolist()
    [1.4142, 1.4142]
    """

    kind: ClassVar[str] = "student-t"
    draw = staticmethod(draw_student)
    degrees: float = 3.0

    def __post_init__(self) -> None:
        fix = "With 1 or fewer there is no mean; use for example 3."
        value = checks.number("StudentT.degrees", self.degrees, above=1.0, at_most=1e6, fix=fix)
        object.__setattr__(self, "degrees", value)

    @property
    def finite_variance(self) -> bool:
        """Whether there are more than two degrees of freedom."""
        return self.degrees > 2.0

    def scale(self, means: Vector, noise: Vector) -> Vector:
        """Return the standard deviation of each arm, the noise itself if that is infinite."""
        ratio = self.degrees / (self.degrees - 2.0) if self.finite_variance else 1.0
        return noise * math.sqrt(ratio)

    def table(self, means: Vector, noise: Vector) -> Vector:
        """Return the mean, the noise and the degrees of freedom of each arm."""
        return np.column_stack([means, noise, np.full(len(means), self.degrees)])

    def moment(self, order: float, noise: float = 1.0) -> float:
        r"""Return :math:`E|Y-\mu|^{k}`, what `RobustUCB` needs to know with k = 1 + q.

        .. math:: \sigma^k\nu^{k/2}\frac{\Gamma(\frac{k+1}2)\Gamma(\frac{\nu-k}2)}
                  {\sqrt\pi\,\Gamma(\frac\nu2)}

        >>> round(StudentT(4.0).moment(2.0), 12), round(StudentT(3.0).moment(1.0), 6)
        (2.0, 1.102658)
        """
        k = checks.number("order", order, above=0.0)
        if k >= self.degrees:
            fix = f"Ask for one below {self.degrees:g}."
            raise InvalidInput("order", "must be below the degrees of freedom", order, fix)
        logs = math.lgamma((k + 1.0) / 2.0) + math.lgamma((self.degrees - k) / 2.0)
        logs -= math.lgamma(self.degrees / 2.0) + 0.5 * math.log(math.pi)
        return noise**k * self.degrees ** (k / 2.0) * math.exp(logs)

    def in_words(self) -> str:
        """Describe the rewards, as reports do."""
        return f"Student t rewards with {self.degrees:g} degrees of freedom"
