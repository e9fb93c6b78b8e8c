r"""Estimators of a policy's value from a log, as one influence value per decision.

Decision: context x, arm a, propensity :math:`\pi_0(a|x)`, O = 1 if the reward R was seen. With
:math:`w = \pi(a|x)/\pi_0(a|x)`, the probability p(x, a) of being seen and W = w/p, every
estimate is the mean of a value per decision, and its standard error the standard deviation of
these over the root of their number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.logs.skewness import SKEWER, longer_quantile

CLIPPED = ("clipped IPW", "clipped DR", "switch-DR", "DRos")  # estimators with a threshold

MANY = 1e6  # degrees of freedom beyond which Student's law is the normal one


@dataclass(frozen=True, eq=False)
class Sample(ByValue):
    """Decisions in groups that agree in everything but the exact reward.

    Attributes
    ----------
    count
        Decisions in each group; 1 if every decision is a group of its own.
    seen
        Whether their rewards were seen.
    reward
        The mean of their rewards; 0 where none was seen, which no estimator uses.
    within
        The variance of their rewards.
    """

    count: Vector
    seen: NDArray[np.bool_]
    reward: Vector
    within: Vector

    @property
    def size(self) -> float:
        """The number of decisions."""
        return float(self.count.sum())

    def mean(self, values: Vector) -> float:
        """Return the mean over decisions of a value per group."""
        return float(self.count @ values) / self.size


@dataclass(frozen=True, eq=False)
class Weighting(ByValue):
    """A policy on the decisions of a log.

    Attributes
    ----------
    weight
        W: its probability of the logged arm over propensity and probability of being seen.
    fitted
        The regression's q(x, a) for the logged arm.
    expected
        The mean of q(x, .) under the policy.
    """

    weight: Vector
    fitted: Vector
    expected: Vector


@dataclass(frozen=True, eq=False)
class Influence(ByValue):
    """The value of each decision, an affine function of its reward.

    Attributes
    ----------
    values
        Per group, at its mean reward.
    slopes
        The derivative in the reward.
    """

    values: Vector
    slopes: Vector

    def __sub__(self, other: Influence) -> Influence:
        return Influence(self.values - other.values, self.slopes - other.slopes)

    def estimate(self, sample: Sample) -> float:
        """Return the mean over decisions."""
        return sample.mean(self.values)

    def variance(self, sample: Sample) -> float:
        """Return the variance of one decision's value, with n - 1 degrees of freedom."""
        n = sample.size
        if n < 2.0:
            return math.nan
        away = self.values - self.estimate(sample)
        squares = sample.count @ (away**2 + self.slopes**2 * sample.within)
        return float(squares) / (n - 1.0)

    def error(self, sample: Sample) -> float:
        """Return the standard error of the mean."""
        return math.sqrt(self.variance(sample) / sample.size)

    def skew(self, sample: Sample) -> float:
        """Return the squared skewness of the values over their number, with its sign.

        0 if they are equal. Rewards of a group count as if they were symmetric around their mean.
        """
        away, within = self.values - self.estimate(sample), self.slopes**2 * sample.within
        scale = float(np.sqrt(away**2 + within).max(initial=0.0))  # cubes of 1e110 are no numbers
        if not 0.0 < scale < math.inf:
            return 0.0
        away, within = away / scale, within / scale**2
        squares = float(sample.count @ (away**2 + within))
        cubes = float(sample.count @ (away**3 + 3.0 * away * within))
        return math.copysign(cubes**2 / squares**3, cubes)

    def asymmetry(self, sample: Sample, error: float) -> float:
        """Return the skewness of an estimate of a standard error that may be more than the values'.

        It is `SKEWER` times that of the sample: large rewards that did not come yet would add.
        """
        own = math.sqrt(abs(found := self.skew(sample)))
        share = min(self.error(sample) / error, 1.0) if error > 0.0 else 1.0
        return math.copysign(SKEWER * own * share**3, found)

    def freedom(self, sample: Sample, unit: NDArray[np.int64]) -> float:
        """Return the degrees of freedom of the error, by the formula of Welch and Satterthwaite.

        Parameters
        ----------
        sample
            The decisions.
        unit
            Numbers of arms or cells: the spread of seen values inside each is estimated by itself.
        """
        count = np.where(sample.seen, sample.count, 0.0)
        number = np.bincount(unit, count)
        mean = np.bincount(unit, count * self.values) / np.maximum(number, 1.0)
        away = (self.values - mean[unit]) ** 2 + self.slopes**2 * sample.within
        inside = np.bincount(unit, count * away) / max(self.variance(sample) * sample.size, 1e-300)
        unsure = float(np.sum(inside**2 / np.maximum(number - 1.0, 1.0)))
        return max(1.0 / unsure, 1.0) if unsure > 0.0 else math.inf


def influence(
    estimator: str, sample: Sample, policy: Weighting, threshold: float = math.inf
) -> Influence:
    r"""Return the value of each decision under an estimator.

    Parameters
    ----------
    estimator
        One of `ESTIMATORS`.
    sample
        The decisions.
    policy
        The policy to evaluate.
    threshold
        K of the clipped estimators, of switch-DR and of DRos; it acts on W, not on w.

    Notes
    -----
    With c = W O and :math:`q_\pi` = `Weighting.expected`:

    ============= ==============================================================================
    DM            :math:`q_\pi`
    IPW           c R; clipped: min(W, K) O R
    SNIPW         v + c (R - v)/mean(c), v = sum(c R)/sum(c)
    DR            :math:`q_\pi` + c (R - q); clipped: min(W, K) for W
    SNDR          :math:`q_\pi` + u + c (R - q - u)/mean(c), u = sum(c (R - q))/sum(c)
    switch-DR     :math:`q_\pi` + c 1{W <= K} (R - q)
    DRos          :math:`q_\pi` + (K W/(W² + K)) O (R - q)
    ============= ==============================================================================

    The standard deviation of DM says nothing about the error of q, nor does that of DR with
    smaller weights, and that of clipped IPW nothing about its bias: none gets a normal interval.

    Examples
    --------
    >>> one = np.ones(2)
    >>> sample = Sample(one, np.array([True, False]), np.array([1.0, 0.0]), 0 * one)
    >>> policy = Weighting(weight=2 * one, fitted=0.5 * one, expected=0.5 * one)
    >>> influence("DR", sample, policy).values.tolist()
    [1.5, 0.5]
    """
    return ESTIMATORS[estimator](sample, policy, threshold)


def _direct(sample: Sample, policy: Weighting, threshold: float) -> Influence:
    return Influence(policy.expected, np.zeros_like(policy.expected))


def _weighted(sample: Sample, policy: Weighting, threshold: float) -> Influence:
    c = np.where(sample.seen, np.minimum(policy.weight, threshold), 0.0)
    return Influence(c * sample.reward, c)


def _self_normalized(sample: Sample, policy: Weighting, threshold: float) -> Influence:
    c = np.where(sample.seen, policy.weight, 0.0)
    mean = sample.mean(c)
    if mean == 0.0:
        return Influence(np.full(len(c), math.nan), c)
    v = sample.mean(c * sample.reward) / mean
    return Influence(v + c * (sample.reward - v) / mean, c / mean)


def _robust(sample: Sample, policy: Weighting, weight: Vector) -> Influence:
    c = np.where(sample.seen, weight, 0.0)
    return Influence(policy.expected + c * (sample.reward - policy.fitted), c)


def _doubly_robust(sample: Sample, policy: Weighting, threshold: float) -> Influence:
    return _robust(sample, policy, np.minimum(policy.weight, threshold))


def _self_normalized_robust(sample: Sample, policy: Weighting, threshold: float) -> Influence:
    c = np.where(sample.seen, policy.weight, 0.0)
    mean = sample.mean(c)
    if mean == 0.0:
        return Influence(np.full(len(c), math.nan), c)
    residual = sample.reward - policy.fitted
    u = sample.mean(c * residual) / mean
    return Influence(policy.expected + u + c * (residual - u) / mean, c / mean)


def _switch(sample: Sample, policy: Weighting, threshold: float) -> Influence:
    return _robust(sample, policy, np.where(policy.weight <= threshold, policy.weight, 0.0))


def _shrunken(sample: Sample, policy: Weighting, threshold: float) -> Influence:
    weight = policy.weight
    if math.isinf(threshold):
        return _robust(sample, policy, weight)
    return _robust(sample, policy, threshold * weight / (weight**2 + threshold))


def _unclipped(
    rule: Callable[[Sample, Weighting, float], Influence],
) -> Callable[[Sample, Weighting, float], Influence]:
    return lambda sample, policy, threshold: rule(sample, policy, math.inf)


ESTIMATORS: dict[str, Callable[[Sample, Weighting, float], Influence]] = {
    "DR": _unclipped(_doubly_robust),
    "SNDR": _self_normalized_robust,
    "IPW": _unclipped(_weighted),
    "SNIPW": _self_normalized,
    "DM": _direct,
    "clipped IPW": _weighted,
    "clipped DR": _doubly_robust,
    "switch-DR": _switch,
    "DRos": _shrunken,
}


def normal_interval(
    estimate: float, error: float, level: float, freedom: float = math.inf, skew: float = 0.0
) -> tuple[float, float]:
    r"""Return the interval of a normal approximation; Student's with few degrees of freedom.

    Parameters
    ----------
    estimate, error
        The estimate and its standard error.
    level
        Confidence level.
    freedom
        Degrees of freedom of the error.
    skew
        Skewness of the estimate: on the side of its tail the interval reaches farther, as
        `longer_quantile` says.

    Examples
    --------
    >>> [round(end, 2) for end in normal_interval(0.5, 0.1, 0.95)]
    [0.3, 0.7]
    >>> [round(end, 2) for end in normal_interval(0.5, 0.1, 0.95, skew=0.2)]
    [0.3, 0.73]
    """
    chance = 0.5 + level / 2.0
    z = float(ndtri(chance) if freedom > MANY else stdtrit(freedom, chance))
    low, high = (float(longer_quantile(z, max(tail, 0.0))) for tail in (-skew, skew))
    return estimate - low * error, estimate + high * error


def empirical_bernstein(mean: float, variance: float, n: float, width: float, miss: float) -> float:
    r"""Return the lower bound of Maurer and Pontil (2009) of a mean.

    .. math:: \bar\phi - \sqrt{2 V \log(2/\delta)/n} - 7 b \log(2/\delta)/(3(n-1))

    Parameters
    ----------
    mean, variance, n
        Of the values, their variance with n - 1 degrees of freedom.
    width
        b, the range of a value: K max R for clipped IPW of rewards of at least 0.
    miss
        The probability with which the bound may fail.

    Examples
    --------
    >>> round(empirical_bernstein(0.5, 0.25, 10_000, 1.0, 0.05), 4)
    0.4856
    """
    scale = math.log(2.0 / miss)
    return mean - math.sqrt(2.0 * variance * scale / n) - 7.0 * width * scale / (3.0 * (n - 1.0))
