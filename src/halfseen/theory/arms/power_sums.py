r"""Sums of inverse powers, :math:`\sum_{n<N}(n+\lambda)^{-\alpha}`, for arbitrarily large N."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy import special

from halfseen.checks import Vector

EULER_MACLAURIN_TERMS = 10


def power_sum(count: Vector, offset: Vector | float, alpha: float) -> Vector:
    r"""Return :math:`\sum_{n<N}(n+\lambda)^{-\alpha}` for whole N, entry by entry.

    The first few terms are added directly and the rest by the Euler-Maclaurin formula which, unlike
    a difference of zeta functions, loses no digits for alpha below 1.

    >>> power_sum(np.array([0.0, 3.0, 1e12]), 1.0, 1.0).round(9).tolist()
    [0.0, 1.833333333, 28.208236781]
    """
    heads = _heads(alpha)
    offset = np.asarray(offset, dtype=np.float64)
    if offset.ndim == 0:
        table = np.append(0.0, np.cumsum(_power(offset + np.arange(float(heads)), alpha)))
        head = table[np.minimum(count, heads).astype(np.int64)]
    else:
        head = np.zeros(np.broadcast_shapes(np.shape(count), offset.shape))
        for n in range(min(heads, int(np.max(count, initial=0.0)))):
            head += np.where(n < count, _power(offset + n, alpha), 0.0)
    return head + _tail(offset + heads, np.maximum(count - heads, 0.0), alpha)


def smooth_power_sum(length: float, offset: float, alpha: float) -> float:
    r"""Return :math:`\zeta(\alpha,\lambda)-\zeta(\alpha,\lambda+x)`, the power sum at any real x.

    >>> round(smooth_power_sum(3.0, 1.0, 1.0), 9)
    1.833333333
    """
    heads = _heads(alpha)
    start = offset + np.arange(float(heads))
    head = (_power(start, alpha) - _power(start + length, alpha)).sum()
    return float(head + _tail(np.array(offset + heads), np.array(length), alpha))


def power_integral(start: Vector, length: Vector, alpha: float) -> Vector:
    r"""Return :math:`\int_s^{s+l}u^{-\alpha}\,du`, also at and near alpha = 1.

    The start may be 0 where alpha is below 1.
    """
    if alpha < 1.0 and np.any(start == 0.0):
        from_zero = np.asarray(length, dtype=np.float64) ** (1.0 - alpha) / (1.0 - alpha)
        above = power_integral(np.where(start > 0.0, start, 1.0), length, alpha)
        return np.where(start > 0.0, above, from_zero)
    logs = np.log1p(length / start)
    if alpha == 1.0:
        return logs
    return start ** (1.0 - alpha) * logs * special.exprel((1.0 - alpha) * logs)


def _heads(alpha: float) -> int:
    """Return how many terms to add directly before Euler-Maclaurin is exact to rounding."""
    return 8 + math.ceil(alpha)


def _power(base: Vector, alpha: float) -> Vector:
    if alpha == 0.5:
        return 1.0 / np.sqrt(base)
    return 1.0 / base if alpha == 1.0 else base**-alpha


def _tail(start: Vector, length: Vector, alpha: float) -> Vector:
    """Return the sum of `length` terms from `start` on, continued smoothly to any length."""
    ends = _boundary(start, alpha) - _boundary(start + length, alpha)
    return power_integral(start, length, alpha) + ends


def _boundary(point: Vector, alpha: float) -> Vector:
    square = 1.0 / (point * point)
    series = np.zeros(np.shape(point))
    for coefficient in reversed(_coefficients(alpha)):
        series *= square
        series += coefficient
    return _power(point, alpha) * (0.5 + series / point)


@cache
def _coefficients(alpha: float) -> list[float]:
    """Return B_2k (alpha)_(2k-1) / (2k)! for k = 1, 2, ..."""
    bernoulli = special.bernoulli(2 * EULER_MACLAURIN_TERMS)
    return [
        float(bernoulli[2 * k] * special.poch(alpha, 2 * k - 1) / math.factorial(2 * k))
        for k in range(1, EULER_MACLAURIN_TERMS + 1)
    ]
