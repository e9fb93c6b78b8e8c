"""Water-filling: how to spread rounds over arms that are observed unequally often."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.theory import inputs
from halfseen.theory.arms.power_sums import power_integral

NEGLIGIBLE = 1e-150  # weight^(1/alpha) over the largest: such an arm gets no rounds


@dataclass(frozen=True, eq=False)
class WaterFilling:
    """Where the water stands.

    Attributes
    ----------
    level
        The level C up to which arms are filled; infinity when every cap is reached.
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
    regularization: float | Sequence[float] | Vector,
    budget: float,
    alpha: float,
    *,
    weights: float | Sequence[float] | Vector | None = None,
    caps: float | Sequence[float] | Vector | None = None,
) -> WaterFilling:
    r"""Spread a budget of rounds so that the continuous potential is largest.

    .. math:: \max_{0\le\tau\le c,\ \sum\tau_a\le T}\ \sum_a\frac{w_a}{p_a}
              \big(\psi_\alpha(p_a\tau_a+\lambda_a)-\psi_\alpha(\lambda_a)\big),
              \qquad \tau_a=\min\Big(c_a,\frac{[w_a^{1/\alpha}C-\lambda_a]^+}{p_a}\Big)

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    regularization
        lambda, one number or one per arm: the count each arm starts from. It may be 0 where alpha
        is below 1.
    budget
        Rounds T to spread, whole or not.
    alpha
        Order of the potential, above 0. Without weights the allocation does not depend on it.
    weights
        Factor of each arm's potential, at least 0; left out, 1.
    caps
        The most rounds each arm can use, at least 0; left out, no limit.

    Returns
    -------
    WaterFilling
        The level C, the allocation and the value.

    Notes
    -----
    The rounds used grow with C along straight pieces, whose ends are where an arm enters,
    :math:`\lambda_a/w_a^{1/\alpha}`, and where it reaches its cap,
    :math:`(\lambda_a+p_ac_a)/w_a^{1/\alpha}`: sorting them is all the work. Where the caps add
    up to less than the budget, all are reached and C is infinite.

    The paper states alpha in ]0, 1]; any alpha above 0 will do. It hopes for caps in a remark.

    References
    ----------
    Guinet, Amin, Jaillet (2022), lemma "Optimization Lemma Finite" and the remark after it.

    Examples
    --------
    >>> filled = water_filling([0.5, 0.25, 0.8], [1, 2, 50], budget=20, alpha=0.5)
    >>> filled.level, filled.allocation.tolist(), round(filled.value, 9)
    (5.0, [8.0, 12.0, 0.0], 11.519107231)
    >>> capped = water_filling([0.5, 0.25, 0.8], [1, 2, 50], 20, 0.5, caps=[6, 100, 100])
    >>> capped.level, capped.allocation.tolist(), round(capped.value, 9)
    (5.5, [6.0, 14.0, 0.0], 11.44795454)
    """
    p, order = inputs.observation(observe), inputs.order(alpha)
    lam = inputs.per_arm("regularization", regularization, len(p), positive=order >= 1.0)
    rounds = checks.number("budget", budget, at_least=0.0, fix="Give the number of rounds.")
    factor = inputs.per_arm("weights", 1.0 if weights is None else weights, len(p))
    limit = None if caps is None else inputs.per_arm("caps", caps, len(p))
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
    """Return level, allocation and value; nothing is checked."""
    weights = np.ones(len(rates)) if weights is None else weights
    caps = np.full(len(rates), math.inf) if caps is None else caps
    depth, level = np.zeros(len(rates)), math.inf
    fed = weights > 0.0
    scale = (weights[fed] / weights.max()) ** (1.0 / alpha) if fed.any() else weights[fed]
    fed[fed] = scale > NEGLIGIBLE
    scale = scale[scale > NEGLIGIBLE]
    if fed.any() and budget < caps[fed].sum():
        level, filled = _level(rates[fed] / scale, floors[fed] / scale, budget, caps[fed])
        depth[fed] = np.minimum(filled * scale, rates[fed] * caps[fed])
        with np.errstate(over="ignore", under="ignore"):
            level = float(np.float64(level) * weights.max() ** (-1.0 / alpha))
    elif fed.any():
        depth[fed] = rates[fed] * caps[fed]
    value = float((weights / rates * power_integral(floors, depth, alpha)).sum())
    return level, depth / rates, value


def _level(rates: Vector, floors: Vector, budget: float, caps: Vector) -> tuple[float, Vector]:
    """Return the level of equal weights and the depth of each arm below it, caps not applied.

    Heights are counted from the lowest floor, so that small depths over high floors keep digits.
    """
    base = float(floors.min())
    heights = floors - base
    widths = 1.0 / rates
    full = caps < math.inf
    breaks = np.concatenate([heights, heights[full] + rates[full] * caps[full]])
    slopes = np.concatenate([widths, -widths[full]])
    order = np.argsort(breaks, kind="stable")
    breaks, slopes = breaks[order], np.cumsum(slopes[order])
    used = np.append(0.0, np.cumsum(np.maximum(slopes[:-1], 0.0) * np.diff(breaks)))
    place = max(int(np.searchsorted(used, budget, side="right")) - 1, 0)
    # What the arms in use hold at this level, solved anew: the running sums have rounding errors.
    middle = (
        breaks[place] if place + 1 == len(breaks) else 0.5 * (breaks[place] + breaks[place + 1])
    )
    ends = heights + rates * caps
    growing = (heights <= middle) & (ends > middle)
    held = float(caps[ends <= middle].sum())
    active = float(widths[growing].sum())
    height = (
        (budget - held + float((heights * widths)[growing].sum())) / active if active else middle
    )
    return base + height, np.maximum(height - heights, 0.0)
