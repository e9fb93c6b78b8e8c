"""The least Kullback-Leibler divergence of a law from the laws of a class with a larger mean."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.checks import Vector

Divergence = Callable[[Any, Any, Any], Vector]  # of the mean, its increase, and the noise
SERIES = 0.1  # below, t - log(1+t) is summed term by term
FAR = 0.3  # below, the bounded class is computed from small differences alone
TERMS = range(1, 17)


def log_excess(t: Vector | float) -> Vector:
    """Return t - log(1+t) to full relative precision, infinite for t <= -1."""
    t = np.asarray(t, dtype=np.float64)
    with np.errstate(divide="ignore"):
        plain = t - np.log1p(np.maximum(t, -1.0))
    small = np.where(np.abs(t) < SERIES, t, 0.0)
    total = np.zeros_like(small)
    for power in range(19, 1, -1):
        total = small * total + (1.0 if power % 2 == 0 else -1.0) / power
    return np.where(np.abs(t) < SERIES, small * small * total, plain)


def gaussian(mean: Vector, rise: Vector, noise: Vector | float) -> Vector:
    """Return rise^2 / (2 sigma^2)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = (np.asarray(rise) / noise) ** 2 / 2.0
    return np.where(rise == 0.0, 0.0, value)


def unknown_variance(mean: Vector, rise: Vector, noise: Vector) -> Vector:
    """Return log(1 + rise^2/sigma^2) / 2, the least over all variances of the other law."""
    return np.log1p(2.0 * gaussian(mean, rise, noise)) / 2.0


def bernoulli(mean: Vector, rise: Vector, noise: Vector | float) -> Vector:
    """Return m log(m/M) + (1-m) log((1-m)/(1-M)), M = m + rise."""
    return bend(mean, mean + rise, rise) + bend(1.0 - mean, (1.0 - mean) - rise, -rise)


def poisson(mean: Vector, rise: Vector, noise: Vector) -> Vector:
    """Return M - m + m log(m/M), M = m + rise."""
    return bend(mean, mean + rise, rise)


def exponential(mean: Vector, rise: Vector, noise: Vector) -> Vector:
    """Return m/M - 1 - log(m/M), M = m + rise."""
    return bend(mean + rise, mean, -rise) / (mean + rise)


def bend(old: Any, new: Any, change: Any) -> Vector:
    """Return new - old - old log(new/old) of numbers of at least 0; new itself at old = 0.

    `change` is new - old, which a caller may know to more digits than the two tell.
    """
    arrays = (np.asarray(x, np.float64) for x in (old, new, change))
    old, new, change = np.broadcast_arrays(*arrays)
    near = np.abs(change) < old / 2.0
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(old > 0.0, change - old * (np.log(np.maximum(new, 0.0)) - np.log(old)), new)
    return np.where(
        near, old * log_excess(np.where(near, change, 0.0) / np.where(near, old, 1.0)), far
    )


FAMILIES: dict[str, Divergence] = {
    "gaussian": gaussian,
    "gaussian-unknown-variance": unknown_variance,
    "bernoulli": bernoulli,
    "poisson": poisson,
    "exponential": exponential,
}


@dataclass(frozen=True)
class TwoPoints:
    """A law on two points, given by their distances below and above the mean."""

    below: float
    above: float

    def pull(self, slope: float, rise: float) -> float:
        """Return E t/(1+t), with t = slope (rise - X + E X)."""
        low, high = slope * (rise + self.below), slope * (rise - self.above)
        if not 1.0 + high > 0.0:
            return -math.inf
        squares = self._mean(low * low / (1.0 + low), high * high / (1.0 + high))
        return slope * rise - squares

    def mean_log(self, slope: float, rise: float) -> float:
        """Return E log(1+t), with the same t."""
        low, high = slope * (rise + self.below), slope * (rise - self.above)
        if max(low, -high) < FAR:
            return slope * rise - self._mean(float(log_excess(low)), float(log_excess(high)))
        return self._mean(math.log1p(low), math.log1p(high))

    def _mean(self, at_low: float, at_high: float) -> float:
        apart = self.below + self.above
        weight = self.below / apart if apart > 0.0 else 0.5  # of the higher point
        return (1.0 - weight) * at_low + weight * at_high


@dataclass(frozen=True)
class UniformLaw:
    """A uniform law on an interval, given by half its length."""

    half: float

    def pull(self, slope: float, rise: float) -> float:
        """Return E t/(1+t) times 1 + E t, with t = slope (rise - X + E X)."""
        ratio = slope * self.half / (1.0 + slope * rise)
        if not ratio < 1.0:
            return -math.inf
        if ratio < FAR:  # atanh(r)/r - 1 = r^2/3 + r^4/5 + ...
            return slope * rise - _even_series(ratio, [1.0 / (2 * k + 1) for k in TERMS])
        return slope * rise - (math.atanh(ratio) / ratio - 1.0)

    def mean_log(self, slope: float, rise: float) -> float:
        """Return E log(1+t), with the same t."""
        ratio = slope * self.half / (1.0 + slope * rise)
        if ratio < FAR:  # -E log(1 + r U), U uniform on [-1, 1], is r^2/6 + r^4/20 + ...
            fall = _even_series(ratio, [1.0 / (2 * k * (2 * k + 1)) for k in TERMS])
            return math.log1p(slope * rise) - fall
        upper, lower = 1.0 + ratio, 1.0 - ratio
        inner = upper * math.log(upper) - (lower * math.log(lower) if lower > 0.0 else 0.0)
        return math.log1p(slope * rise) + inner / (2.0 * ratio) - 1.0


def _even_series(x: float, coefficients: list[float]) -> float:
    """Return the sum of the coefficients times x^2, x^4, ..."""
    total = 0.0
    for coefficient in reversed(coefficients):
        total = x * x * (coefficient + total)
    return total


def bounded(law: TwoPoints | UniformLaw, rise: float, room: float) -> tuple[float, float]:
    """Return max over s in [0, 1] of E log(1 - s (X-M)/(1-M)), and the s that attains it.

    The derivative in s has the sign of 1 - E 1/(1 - s (X-M)/(1-M)), which is decreasing.

    Parameters
    ----------
    law
        The law of X.
    rise
        M minus the mean of X, above 0.
    room
        1 - M, above 0.
    """
    from scipy.optimize import brentq

    def falling(log_s: float) -> float:
        return max(law.pull(math.exp(log_s) / room, rise), -1e300)

    best = 1.0
    if falling(0.0) < 0.0:
        least = -7.0
        while falling(least) < 0.0:
            least *= 2.0
        best = math.exp(brentq(falling, least, 0.0, xtol=1e-15, rtol=1e-15))
    return law.mean_log(best / room, rise), best
