"""Maximization of a concave function over the probability simplex."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from halfseen.checks import Vector

ITERATIONS = 300
SHORTEST = 1e-12  # smallest step length
PATIENCE = 12  # iterations without a smaller gap after which only rounding errors are left


class Concave(Protocol):
    """A smooth concave function of shares."""

    def value(self, shares: Vector) -> float:
        """Return the value."""

    def slopes(self, shares: Vector) -> Vector:
        """Return the gradient."""

    def bends(self, shares: Vector) -> tuple[Vector, Vector]:
        """Return the gradient and the negative of the Hessian."""


class Optimum(NamedTuple):
    """Shares, the value there, a bound on the distance to the maximum, and the gradient there."""

    shares: Vector
    value: float
    gap: float
    slopes: Vector

    @property
    def residual(self) -> float:
        """Violation of the optimality conditions, relative to the largest slope."""
        largest = float(self.slopes.max())
        return float((self.shares * (largest - self.slopes)).max()) / largest


def certified(function: Concave, shares: Vector) -> Optimum:
    r"""Return the value at given shares with the duality gap.

    .. math:: F(s')\ \le\ F(s)+\nabla F(s)'(s'-s)\ \le\ F(s)+\max_j\partial_jF(s)-\nabla F(s)'s

    for all shares s', because F is concave.
    """
    slopes = function.slopes(shares)
    return Optimum(shares, function.value(shares), _gap(shares, slopes), slopes)


def largest(function: Concave, count: int, accuracy: float = 1e-15) -> Optimum:
    r"""Maximise a concave function over the simplex by a primal-dual interior-point method.

    .. math:: \max F(s),\qquad s\ge0,\ \sum_j s_j=1

    Parameters
    ----------
    function
        The function to maximise.
    count
        The number of shares.
    accuracy
        Stop when the gap is this small relative to the largest slope, or when rounding errors
        prevent further progress.

    Returns
    -------
    Optimum
        The best shares found, with their gap.
    """
    shares = np.full(count, 1.0 / count)
    slopes = function.slopes(shares)
    unit = float(slopes.max())
    if count == 1 or unit <= 0.0:
        return certified(function, shares)
    best, least = shares, _gap(shares, slopes)
    price = 1.5  # the multiplier of sum(shares) = 1, in units of the largest slope at the start
    spare = np.full(count, 0.5) + (1.0 - slopes / unit)  # multipliers of shares >= 0
    stalled, calm = 0, 0.1
    for _ in range(ITERATIONS):
        slopes, bends = function.bends(shares)
        slopes, bends = slopes / unit, bends / unit
        target = calm * float(shares @ spare) / count
        step, lift, push = _direction(shares, spare, price, slopes, bends, target)
        length = min(1.0, 0.995 * _room(shares, step), 0.995 * _room(spare, lift))
        before = _error(shares, shares, spare, price, slopes, target)
        while True:
            tried = (shares + length * step, spare + length * lift, price + length * push)
            slopes = function.slopes(tried[0])
            after = _error(shares, *tried, slopes / unit, target)
            if after <= (1.0 - 0.01 * length) * before or length < SHORTEST:
                break
            length *= 0.5
        calm = 0.01 if length > 0.9 else 0.1 if length > 0.3 else 0.5
        shares, spare, price = tried
        gap = _gap(shares, slopes)
        near = float(shares @ spare) * unit < 0.1 * least
        stalled = stalled + 1 if near and gap > 0.9 * least else 0
        if gap <= least:
            best, least = shares, gap
        if least <= accuracy * float(slopes.max()) or stalled > PATIENCE:
            break
    clean = np.where(shares > spare, shares, 0.0)  # shares below the tolerance converge to 0
    tidy = certified(function, clean / clean.sum())
    wanted = max(least, accuracy * float(tidy.slopes.max()))
    return tidy if tidy.gap <= wanted else certified(function, best / best.sum())


def _gap(shares: Vector, slopes: Vector) -> float:
    return max(float(slopes.max() - slopes @ shares), 0.0)


def _direction(
    shares: Vector, spare: Vector, price: float, slopes: Vector, bends: Vector, target: float
) -> tuple[Vector, Vector, float]:
    """Return the Newton step of the perturbed conditions, in variables scaled by sqrt(s / z)."""
    scale = np.sqrt(shares / spare)
    matrix = scale[:, None] * bends * scale
    matrix[np.diag_indices_from(matrix)] += 1.0
    uphill = slopes - price + target / shares
    both = np.linalg.solve(matrix, np.stack([scale * uphill, scale], axis=1))
    push = float(scale @ both[:, 0] + shares.sum() - 1.0) / float(scale @ both[:, 1])
    step = scale * (both[:, 0] - push * both[:, 1])
    lift = target / shares - spare - spare / shares * step
    return step, lift, push


def _error(
    scale: Vector, shares: Vector, spare: Vector, price: float, slopes: Vector, target: float
) -> float:
    """Return the violation of the perturbed conditions, in steps relative to the shares."""
    dual = scale * (price - slopes - spare)
    central = shares * spare - target
    return float(np.sqrt(dual @ dual + central @ central))


def _room(values: Vector, step: Vector) -> float:
    """Return the largest multiple of the step that keeps all entries non-negative."""
    falling = step < 0.0
    return float((values[falling] / -step[falling]).min()) if falling.any() else np.inf
