"""How many nats an observation of one law gives against the nearest law of a larger mean."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.checks import Vector

Divergence = Callable[[Any, Any, Any], Vector]  # of a mean, how far it is raised, and the noise
SERIES = 0.1  # below, t - log(1+t) is summed term by term


def log_excess(t: Vector) -> Vector:
    """Return t - log(1+t) to full relative precision, infinite for t <= -1."""
    t = np.asarray(t, dtype=np.float64)
    with np.errstate(divide="ignore"):
        plain = t - np.log1p(np.maximum(t, -1.0))
    small = np.where(np.abs(t) < SERIES, t, 0.0)
    total = np.zeros_like(small)
    for power in range(19, 1, -1):
        total = small * total + (1.0 if power % 2 == 0 else -1.0) / power
    return np.where(np.abs(t) < SERIES, small * small * total, plain)


def gaussian(mean: Vector, rise: Vector, noise: Vector) -> Vector:
    """Return rise^2 / (2 sigma^2)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (np.asarray(rise) / noise) ** 2 / 2.0
    return np.where(rise == 0.0, 0.0, value)


def unknown_variance(mean: Vector, rise: Vector, noise: Vector) -> Vector:
    """Return log(1 + rise^2/sigma^2) / 2, the least over all variances of the other law."""
    return np.log1p(2.0 * gaussian(mean, rise, noise)) / 2.0


def bernoulli(mean: Vector, rise: Vector, noise: Vector) -> Vector:
    """Return m log(m/M) + (1-m) log((1-m)/(1-M)), M = m + rise."""
    return _times_excess(mean, rise) + _times_excess(1.0 - mean, -rise)


def poisson(mean: Vector, rise: Vector, noise: Vector) -> Vector:
    """Return M - m + m log(m/M), M = m + rise."""
    return _times_excess(mean, rise)


def exponential(mean: Vector, rise: Vector, noise: Vector) -> Vector:
    """Return m/M - 1 - log(m/M), M = m + rise."""
    return log_excess(-rise / (mean + rise))


def _times_excess(weight: Vector, change: Vector) -> Vector:
    """Return w (t - log(1+t)), t = change/w; its limit, the change itself, at w = 0."""
    weight, change = np.broadcast_arrays(np.asarray(weight, float), np.asarray(change, float))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = weight * log_excess(np.where(weight > 0.0, change / weight, 0.0))
    return np.where(weight > 0.0, value, change)


FAMILIES: dict[str, Divergence] = {
    "gaussian": gaussian,
    "gaussian-unknown-variance": unknown_variance,
    "bernoulli": bernoulli,
    "poisson": poisson,
    "exponential": exponential,
}


@dataclass(frozen=True)
class TwoPoints:
    """A law on two numbers of [0, 1]."""

    low: float
    high: float
    weight: float  # weight of the higher point

    def mean_reciprocal(self, slope: float, target: float) -> float:
        """Return E 1/(1 - slope (X - target))."""
        low, high = 1.0 - slope * (self.low - target), 1.0 - slope * (self.high - target)
        return (1.0 - self.weight) / low + (self.weight / high if high > 0.0 else math.inf)

    def mean_log(self, slope: float, target: float) -> float:
        """Return E log(1 - slope (X - target))."""
        low, high = 1.0 - slope * (self.low - target), 1.0 - slope * (self.high - target)
        return (1.0 - self.weight) * math.log(low) + self.weight * math.log(high)


@dataclass(frozen=True)
class UniformLaw:
    """A uniform law on an interval inside [0, 1]."""

    low: float
    high: float

    def mean_reciprocal(self, slope: float, target: float) -> float:
        """Return E 1/(1 - slope (X - target))."""
        centre, half = self._middle(slope, target)
        if half >= centre:
            return math.inf
        return math.atanh(half / centre) / half if half > 0.0 else 1.0 / centre

    def mean_log(self, slope: float, target: float) -> float:
        """Return E log(1 - slope (X - target))."""
        centre, half = self._middle(slope, target)
        ratio = half / centre
        if ratio < 1e-4:  # log centre + E log(1 + ratio U), U uniform on [-1, 1]
            return math.log(centre) - ratio**2 / 6.0 - ratio**4 / 20.0
        upper, lower = 1.0 + ratio, 1.0 - ratio
        inner = upper * math.log(upper) - (lower * math.log(lower) if lower > 0.0 else 0.0)
        return math.log(centre) + inner / (2.0 * ratio) - 1.0

    def _middle(self, slope: float, target: float) -> tuple[float, float]:
        middle = 1.0 - slope * ((self.low + self.high) / 2.0 - target)
        return middle, slope * (self.high - self.low) / 2.0


def bounded(law: TwoPoints | UniformLaw, target: float) -> tuple[float, float]:
    """Return max over s in [0, 1] of E log(1 - s (X-M)/(1-M)), and the s that attains it.

    The derivative in s has the sign of 1 - E 1/(1 - s (X-M)/(1-M)), which falls.
    """
    from scipy.optimize import brentq

    def falling(s: float) -> float:
        return 1.0 - min(law.mean_reciprocal(s / (1.0 - target), target), 1e300)

    best = 1.0
    if falling(1.0) < 0.0:
        least = 1e-3
        while falling(least) < 0.0:
            least /= 16.0
        best = float(brentq(falling, least, 1.0, xtol=1e-16, rtol=1e-15))
    return law.mean_log(best / (1.0 - target), target), best
