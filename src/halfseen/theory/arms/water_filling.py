"""Water-filling: the allocation of rounds to arms with unequal observation probabilities."""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.theory import inputs
from halfseen.theory.arms.power_sums import power_integral

FAR_APART = -300.0  # log of weight^(1/alpha) over the largest, below which logarithms are needed
ROUNDED = 1e-9  # relative tolerance, far above the rounding errors of logarithms


@dataclass(frozen=True, eq=False, repr=False)
class WaterFilling(Shown, ByValue):
    """The solution of a water-filling problem.

    Attributes
    ----------
    level
        The level C up to which arms are filled; infinity when every cap is reached, and the largest
        floating point number where the level is above that.
    allocation
        Rounds given to each arm.
    value
        The largest value of the objective.
    """

    level: float
    allocation: Vector
    value: float


def water_filling(
    observe: Sequence[float] | Vector,
    budget: float,
    alpha: float,
    regularization: float | Sequence[float] | Vector,
    *,
    weights: float | Sequence[float] | Vector | None = None,
    caps: float | Sequence[float] | Vector | None = None,
) -> WaterFilling:
    r"""Allocate a budget of rounds so that the continuous potential is largest.

    .. math:: \max_{0\le\tau\le c,\ \sum\tau_a\le T}\ \sum_a\frac{w_a}{p_a}
              \big(\psi_\alpha(p_a\tau_a+\lambda_a)-\psi_\alpha(\lambda_a)\big),
              \qquad \tau_a=\min\Big(c_a,\frac{[w_a^{1/\alpha}C-\lambda_a]^+}{p_a}\Big)

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    budget
        Rounds T to spread, whole or not.
    alpha
        Order of the potential, above 0. Without weights the allocation does not depend on it.
    regularization
        lambda, one number or one per arm: the count each arm starts from. It may be 0 where alpha
        is below 1.
    weights
        Factor of each arm's potential, at least 0; 1 by default.
    caps
        Largest number of rounds of each arm, at least 0; by default infinite.

    Returns
    -------
    WaterFilling
        The level C, the allocation and the value.

    Notes
    -----
    The rounds used grow with C along straight pieces, whose ends are where an arm enters,
    :math:`\lambda_a/w_a^{1/\alpha}`, and where it reaches its cap,
    :math:`(\lambda_a+p_ac_a)/w_a^{1/\alpha}`, so the cost is that of sorting them. If the caps add
    up to less than the budget, all are reached and C is infinite.

    The paper assumes alpha in ]0, 1]; any alpha above 0 works. It suggests caps in a remark.

    References
    ----------
    Guinet, Amin, Jaillet (2022), lemma 3.5 and the remark after it.

    Examples
    --------
    >>> filled = water_filling([0.5, 0.25, 0.8], regularization=[1, 2, 50], budget=20, alpha=0.5)
    >>> filled.level, filled.allocation.tolist(), round(filled.value, 9)
    (5.0, [8.0, 12.0, 0.0], 11.519107231)
    >>> capped = water_filling([0.5, 0.25, 0.8], 20, 0.5, [1, 2, 50], caps=[6, 100, 100])
    >>> capped.level, capped.allocation.tolist(), round(capped.value, 9)
    (5.5, [6.0, 14.0, 0.0], 11.44795454)
    """
    p, order = inputs.observation(observe), inputs.order(alpha)
    lam = inputs.per_arm("regularization", regularization, len(p), positive=order >= 1.0)
    rounds = checks.number("budget", budget, at_least=0.0, fix="Give the number of rounds.")
    factor = inputs.per_arm("weights", 1.0 if weights is None else weights, len(p))
    limit = None if caps is None else _caps(caps, len(p))
    level, allocation, value = pour(p, lam, rounds, order, factor, limit)
    allocation.flags.writeable = False
    return WaterFilling(level, allocation, value)


def pour(
    rates: Vector,
    floors: Vector,
    budget: float,
    alpha: float,
    weights: Vector | None = None,
    caps: Vector | None = None,
) -> tuple[float, Vector, float]:
    """Return level, allocation and value, without validation."""
    weights = np.ones(len(rates)) if weights is None else weights
    caps = np.full(len(rates), math.inf) if caps is None else caps
    fed = weights > 0.0
    depth, level = np.zeros(len(rates)), math.inf
    with np.errstate(over="ignore", under="ignore"):
        if fed.any() and budget < caps[fed].sum():
            level, depth[fed] = _weighted(
                rates[fed], floors[fed], budget, caps[fed], weights[fed], alpha
            )
        elif fed.any():
            depth[fed] = rates[fed] * caps[fed]
    value = float((weights / rates * power_integral(floors, depth, alpha)).sum())
    return level, depth / rates, value


def _weighted(
    rates: Vector, floors: Vector, budget: float, caps: Vector, weights: Vector, alpha: float
) -> tuple[float, Vector]:
    """Return the level and the depth of each arm, for positive weights and not all caps reached.

    The powers w^(1/alpha) of the weights may exceed the range of floating point numbers. Then
    logarithms determine which arms are full at the level and which are empty, and the problem is
    solved for the others.
    """
    logs = np.log(weights) - math.log(weights.max())
    logs = np.maximum(logs / alpha, -1e300) if alpha < 1.0 else logs / alpha
    open_ = np.ones(len(rates), dtype=bool)
    depth = np.zeros(len(rates))
    if logs.min() < FAR_APART:
        full, empty = _settled(rates, floors, budget, caps, logs)
        depth[full] = rates[full] * caps[full]
        open_ = ~(full | empty)
        heaviest = float(logs[open_].max())
        open_ &= logs > heaviest + 2.0 * FAR_APART  # lighter ones get less than rounding errors
        budget = max(budget - float(caps[full].sum()), 0.0)
    chosen = weights[open_]
    scale = np.exp(logs[open_] - logs[open_].max())
    level, filled = _level(rates[open_] / scale, floors[open_] / scale, budget, caps[open_])
    depth[open_] = np.minimum(filled * scale, rates[open_] * caps[open_])
    level = float(np.float64(level) * chosen.max() ** (-1.0 / alpha))
    return min(level, sys.float_info.max), depth


def _settled(
    rates: Vector, floors: Vector, budget: float, caps: Vector, logs: Vector
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which arms are certainly full at the level, and which certainly empty."""
    with np.errstate(divide="ignore"):
        enter = np.log(floors) - logs
        leave = np.log(floors + rates * caps) - logs
    breaks = np.concatenate([enter, leave])
    breaks = np.sort(breaks[np.isfinite(breaks)])

    def used(level: float) -> float:
        filled = (np.exp(np.minimum(logs + level, 709.0)) - floors) / rates
        return float(np.minimum(caps, np.maximum(filled, 0.0)).sum())

    place = bisect_right(breaks, budget, key=used)
    low = float(breaks[place - 1]) if place > 0 else -math.inf
    high = float(breaks[place]) if place < len(breaks) else math.inf
    room = ROUNDED * (1.0 + np.abs(logs))
    return leave < low - room, enter > high + room


def _level(rates: Vector, floors: Vector, budget: float, caps: Vector) -> tuple[float, Vector]:
    """Return the level of equal weights and the depth of each arm below it, caps not applied.

    Heights are relative to the lowest floor, to keep precision for small depths over high floors.
    """
    base = float(floors.min())
    heights = floors - base
    widths = 1.0 / rates
    ends = heights + rates * caps
    breaks = np.sort(np.concatenate([heights, ends[ends < math.inf]]))

    def used(height: float) -> float:
        return float(np.minimum(np.maximum(height - heights, 0.0) * widths, caps).sum())

    place = max(bisect_right(breaks, budget, key=used) - 1, 0)
    # Solve again for the height, with the arms in use at this level.
    middle = (
        breaks[place] if place + 1 == len(breaks) else 0.5 * (breaks[place] + breaks[place + 1])
    )
    growing = (heights <= middle) & (ends > middle)
    held = float(caps[ends <= middle].sum())
    active = float(widths[growing].sum())
    height = (
        (budget - held + float((heights * widths)[growing].sum())) / active if active else middle
    )
    return base + height, np.maximum(height - heights, 0.0)


def _caps(caps: Any, arms: int) -> Vector:
    """Return the cap of each arm, at least 0 and possibly infinite."""
    given = np.asarray(caps, dtype=object)
    endless = np.array([isinstance(cap, float) and cap == math.inf for cap in given.flat])
    if not endless.any():
        return inputs.per_arm("caps", caps, arms)
    if given.ndim == 0:
        return np.full(arms, math.inf)
    finite = [0.0 if none else cap for cap, none in zip(given.flat, endless, strict=True)]
    return np.where(endless, math.inf, inputs.per_arm("caps", finite, arms))
