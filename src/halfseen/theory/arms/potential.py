"""Exact upper bounds on the potential of any policy, obtained by filling the rounds with cells.

A *cell* (a, n) is the time arm a spends with n rewards observed. Playing it costs f_a(n) a round,
and it lasts 1/p_a rounds on average. Since f_a falls with n, no policy does better on average than
taking the most costly cells first, each for exactly its average time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.theory import inputs
from halfseen.theory.arms.power_sums import power_sum
from halfseen.theory.arms.water_filling import pour

SMALLEST_LEVEL = 1e-300


class Cost(Protocol):
    """A cost per arm and count, non-increasing in the count."""

    def at(self, cells: Vector | float) -> Vector:
        """Return each arm's cost after `cells` observations."""

    def cells_above(self, level: float) -> Vector:
        """Return how many cells of each arm cost more than `level`."""

    def area(self, cells: Vector) -> Vector:
        """Return the sum of the costs of each arm's first `cells` cells."""


@dataclass(frozen=True, eq=False)
class PowerCost(ByValue):
    """The cost w_a (n + lambda_a)^-alpha."""

    weights: Vector
    regularization: Vector
    alpha: float

    def at(self, cells: Vector | float) -> Vector:
        """Return each arm's cost after `cells` observations."""
        return self.weights * (cells + self.regularization) ** -self.alpha

    def cells_above(self, level: float) -> Vector:
        """Return how many cells of each arm cost more than `level`."""
        with np.errstate(over="ignore"):
            reach = (self.weights / level) ** (1.0 / self.alpha)
        return np.maximum(np.ceil(reach - self.regularization), 0.0)

    def area(self, cells: Vector) -> Vector:
        """Return the sum of the costs of each arm's first `cells` cells."""
        return self.weights * power_sum(cells, shared(self.regularization), self.alpha)


@dataclass(frozen=True, eq=False)
class WidthCost(ByValue):
    """The cost min(cap_a, A_a / sqrt(n + lambda_a) + B_a / (n + lambda_a))."""

    root: Vector
    inverse: Vector
    regularization: Vector
    cap: Vector

    def at(self, cells: Vector | float) -> Vector:
        """Return each arm's cost after `cells` observations."""
        weight = 1.0 / (cells + self.regularization)
        return np.minimum(self.cap, self.root * np.sqrt(weight) + self.inverse * weight)

    def cells_above(self, level: float) -> Vector:
        """Return how many cells of each arm cost more than `level`."""
        return np.where(self.cap > level, self._uncapped_above(level), 0.0)

    def area(self, cells: Vector) -> Vector:
        """Return the sum of the costs of each arm's first `cells` cells."""
        flat = np.minimum(cells, self._uncapped_above(np.maximum(self.cap, SMALLEST_LEVEL)))
        rest, offset = cells - flat, flat + self.regularization
        roots = self.root * power_sum(rest, offset, 0.5)
        return self.cap * flat + roots + self.inverse * power_sum(rest, offset, 1.0)

    def _uncapped_above(self, level: Vector | float) -> Vector:
        with np.errstate(over="ignore"):
            root = np.hypot(self.root, np.sqrt(4.0 * self.inverse * level))
            reach = ((self.root + root) / (2.0 * level)) ** 2
        return np.maximum(np.ceil(reach - self.regularization), 0.0)


def fill(cost: Cost, observe: Vector, horizon: float) -> float:
    """Return the cost of `horizon` rounds filled with the most costly cells."""
    taken, left, level = most_costly(cost, observe, horizon)
    return float((cost.area(taken) / observe).sum()) + left * level


def most_costly(cost: Cost, observe: Vector, horizon: float) -> tuple[Vector, float, float]:
    """Return how many cells of each arm fill the rounds, the rounds left over and their cost.

    The cost level that separates the cells taken from the others is found by bisection, and the
    remaining rounds go to cells at that level; there is no loop over rounds.
    """
    taken, left, high = np.zeros(len(observe)), horizon, float(cost.at(0.0).max())
    if horizon == 0 or high <= 0.0:
        return taken, left, 0.0
    most = np.ceil(horizon * observe) + 1.0
    low = max(float(cost.at(horizon * observe).max()) * (1.0 - 1e-9), SMALLEST_LEVEL)
    while left * (high - low) > 1e-17 * horizon * low:
        level = math.sqrt(low) * math.sqrt(high)
        if not low < level < high:
            break
        cells = np.minimum(cost.cells_above(level), most)
        unused = horizon - float((cells / observe).sum())
        if unused >= 0.0:
            high, taken, left = level, cells, unused
        else:
            low = level
    return taken, left, high


def fluid_potential(
    observe: Sequence[float] | Vector,
    horizon: float,
    alpha: float,
    regularization: float | Sequence[float] | Vector,
    *,
    weights: float | Sequence[float] | Vector | None = None,
) -> float:
    r"""Return the exact upper bound on the expected potential of every policy.

    .. math:: \mathbb E\sum_{t\le T} w_{a_t}\,(N_{a_t}(t-1)+\lambda_{a_t})^{-\alpha}
              \;\le\; \max\Big\{\sum_a \frac{w_a}{p_a}\,\widehat G_a(n_a) :
              \sum_a \frac{n_a}{p_a}=T\Big\}

    where :math:`\widehat G_a` interpolates :math:`G_a(N)=\sum_{n<N}(n+\lambda_a)^{-\alpha}`. With
    equal weights and regularization this is :math:`d_{\rm eff}\,\widehat G(T/d_{\rm eff})`.

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    horizon
        Number of rounds T, whole or not.
    alpha
        Order of the potential, above 0.
    regularization
        The paper's lambda, one number or one per arm.
    weights
        Factor of each arm's cost, at least 0; 1 by default.

    Returns
    -------
    float
        The bound; computed without a loop over rounds, at any horizon.

    Notes
    -----
    Sharper than the paper's proposition: no delta, no log T, no failure term. Both
    :math:`V-\sum_a G_a(N_a)/p_a` and :math:`\sum_a N_a/p_a-T` are martingales, and
    :math:`\widehat G_a` is concave. See :func:`papers_potential` for the paper's form.

    References
    ----------
    Replaces Guinet, Amin, Jaillet (2022), proposition 3.4.

    Examples
    --------
    >>> round(fluid_potential([0.3, 0.7], 12, alpha=0.5, regularization=1.0), 6)
    9.558709
    >>> round(fluid_potential([0.3, 0.7], 1e12, alpha=0.5, regularization=1.0), 3)
    4364350.851
    """
    p = inputs.observation(observe)
    time, order = inputs.rounds(horizon), inputs.order(alpha)
    lam = inputs.regularization(regularization, len(p))
    factor = inputs.per_arm("weights", 1.0 if weights is None else weights, len(p))
    if factor.min() == factor.max() and lam.min() == lam.max():
        return float(factor[0]) * _even(float((1.0 / p).sum()), time, order, float(lam[0]))
    return fill(PowerCost(factor, lam, order), p, time)


def joint_potential(
    observe: Sequence[float] | Vector,
    horizon: float,
    regularization: float | Sequence[float] | Vector,
    noise: float | Sequence[float] | Vector,
    bound: float,
    gap: float | Sequence[float] | Vector,
    *,
    confidence: float | None = None,
) -> float:
    r"""Return the exact upper bound on the regret of UCB while its confidence intervals hold.

    Each round costs at most
    :math:`f_a(n)=\min\big(\Delta_a,\;2\sqrt{6\sigma_a^2 L/(n+\lambda)}+2\lambda M/(n+\lambda)\big)`
    with :math:`L=\log T`; the bound fills T rounds with the most costly cells.

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    horizon
        Number of rounds T, at least 1.
    regularization
        The paper's lambda, one number or one per arm.
    noise
        Sub-Gaussian scale, one number or one per arm.
    bound
        M, an upper bound on the absolute means.
    gap
        Largest cost of a round of each arm: the largest gap, or each arm's own.
    confidence
        L; log T by default.

    Returns
    -------
    float
        The bound, without the term for a failure of optimism.

    Notes
    -----
    Tighter than bounding the two terms of the width separately, as the paper does.

    References
    ----------
    Sharpens Guinet, Amin, Jaillet (2022), lemma 3.3.

    Examples
    --------
    >>> round(joint_potential([0.5, 0.5], 1e6, 1.0, noise=0.1, bound=1.0, gap=1.0), 6)
    7354.960368
    """
    p = inputs.observation(observe)
    time = checks.number("horizon", horizon, at_least=1.0, fix="Give the number of rounds.")
    lam = inputs.regularization(regularization, len(p))
    scale = inputs.per_arm("noise", noise, len(p))
    limit = checks.number("bound", bound, at_least=0.0)
    log_time = math.log(time) if confidence is None else checks.number("confidence", confidence)
    root = 2.0 * math.sqrt(6.0 * log_time) * scale
    cost = WidthCost(root, 2.0 * limit * lam, lam, inputs.per_arm("gap", gap, len(p)))
    return fill(cost, p, time)


def papers_potential(
    observe: Sequence[float] | Vector,
    horizon: float,
    alpha: float,
    regularization: float,
    *,
    weights: float | Sequence[float] | Vector | None = None,
    delta: float = 0.5,
) -> float:
    r"""Return the paper's upper bound on the expected potential, corrected.

    .. math:: \sum_a \frac{w_a\lceil 24\log T/p_a\rceil}{\lambda^\alpha}
              + \frac{d_{\rm eff}}{(1-\delta)^\alpha}\Big[\psi_\alpha\Big(\frac{T}{d_{\rm eff}}
              +\frac{\lambda}{1-\delta}\Big)-\psi_\alpha\Big(\frac{\lambda}{1-\delta}\Big)\Big]
              + \frac{T^{1-12\delta^2}}{\lambda^\alpha}\sum_a\frac{1}{1-e^{-\delta^2 p_a/2}}

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    horizon
        Number of rounds T, at least 1.
    alpha
        Order of the potential, above 0.
    regularization
        The paper's lambda.
    weights
        Factor of each arm's cost, at least 0; 1 by default. With weights, the middle term is the
        value of water-filling with p_a / w_a^(1/alpha), and the last one is multiplied by the
        largest weight.
    delta
        The share of observations that may be missing, in ]0, 1[; the paper uses 1/2.

    Returns
    -------
    float
        The bound; `fluid_potential` is never larger.

    Notes
    -----
    In the paper the failure term lacks the factor T, and both displays at delta = 1/2 are wrong:
    the first has sqrt(2) d_eff [...] instead of 2 sqrt(2) d_eff [...], and does not hold.

    References
    ----------
    Guinet, Amin, Jaillet (2022), proposition 3.4.

    Examples
    --------
    >>> round(papers_potential([1.0, 1.0], 1e6, 0.5, 1.0), 3)
    4656.008
    """
    p = inputs.observation(observe)
    time = checks.number("horizon", horizon, at_least=1.0, fix="Give the number of rounds.")
    order = inputs.order(alpha)
    lam = checks.number("regularization", regularization, above=0.0)
    factor = inputs.per_arm("weights", 1.0 if weights is None else weights, len(p))
    share = checks.number("delta", delta, above=0.0, below=1.0, fix="Use 0.5.")
    start = (factor * np.ceil(24.0 * math.log(time) / p)).sum() / lam**order
    failure = (1.0 / -np.expm1(-(share**2) * p / 2.0)).sum() * time ** (1.0 - 12.0 * share**2)
    floors = np.full(len(p), lam / (1.0 - share))
    _, _, value = pour(p, floors, time, order, factor)
    return float(
        start + value / (1.0 - share) ** order + float(factor.max()) * failure / lam**order
    )


def shared(values: Vector) -> Vector | float:
    """Return a single number if all are equal, for which computations are faster."""
    return float(values[0]) if values.min() == values.max() else values


def _even(dimension: float, horizon: float, alpha: float, regularization: float) -> float:
    """Return d_eff times the interpolated power sum at T / d_eff."""
    cells = math.floor(horizon / dimension)
    whole = float(power_sum(np.array([float(cells)]), regularization, alpha)[0])
    left = max(horizon - dimension * cells, 0.0)
    return dimension * whole + left * (cells + regularization) ** -alpha
