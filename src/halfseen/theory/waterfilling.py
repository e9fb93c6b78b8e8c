"""Water-filling: how to spread rounds over arms that are observed unequally often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.theory import inputs
from halfseen.theory.power_sums import power_integral


@dataclass(frozen=True, eq=False)
class WaterFilling:
    """Where the water stands.

    Attributes
    ----------
    level
        The count C to which every arm that is played rises.
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
) -> WaterFilling:
    r"""Spread a budget of rounds so that the continuous potential is largest.

    .. math:: \max_{\tau\ge 0,\ \sum\tau_a=T}\ \sum_a\frac{1}{p_a}
              \big(\psi_\alpha(p_a\tau_a+\lambda_a)-\psi_\alpha(\lambda_a)\big),
              \qquad \tau_a=\frac{[C-\lambda_a]^+}{p_a}

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    regularization
        lambda, one number or one per arm: the count each arm starts from.
    budget
        Rounds T to spread, whole or not.
    alpha
        Order of the potential, above 0. The allocation does not depend on it.

    Returns
    -------
    WaterFilling
        The level C, the allocation and the value.

    Notes
    -----
    The paper states alpha in ]0, 1]; any alpha above 0 will do.

    References
    ----------
    Guinet, Amin, Jaillet (2022), lemma "Optimization Lemma Finite".

    Examples
    --------
    >>> filled = water_filling([0.5, 0.25, 0.8], [1, 2, 50], budget=20, alpha=0.5)
    >>> filled.level, filled.allocation.tolist(), round(filled.value, 9)
    (5.0, [8.0, 12.0, 0.0], 11.519107231)
    """
    p = inputs.observation(observe)
    lam = inputs.regularization(regularization, len(p))
    rounds = checks.number("budget", budget, at_least=0.0, fix="Give the number of rounds.")
    level, allocation, value = pour(p, lam, rounds, inputs.order(alpha))
    allocation.flags.writeable = False
    return WaterFilling(level, allocation, value)


def pour(rates: Vector, floors: Vector, budget: float, alpha: float) -> tuple[float, Vector, float]:
    """Return level, allocation and value for any positive rates; nothing is checked."""
    if len(rates) == 0:
        return 0.0, np.zeros(0), 0.0
    base = float(floors.min())
    order = np.argsort(floors, kind="stable")
    heights, widths = (floors - base)[order], 1.0 / rates[order]
    levels = (budget + np.cumsum(heights * widths)) / np.cumsum(widths)
    dry = levels[:-1] <= heights[1:]
    active = int(np.argmax(dry)) if dry.any() else len(levels) - 1
    depth = np.maximum(levels[active] - (floors - base), 0.0)
    value = float((power_integral(floors, depth, alpha) / rates).sum())
    return base + float(levels[active]), depth / rates, value
