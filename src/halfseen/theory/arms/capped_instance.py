"""The instance bound by water-filling with caps, as suggested by a remark of the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.theory import inputs
from halfseen.theory.arms.bound_terms import World, instance_in_horizon, observations
from halfseen.theory.arms.potential import PowerCost, fill
from halfseen.theory.arms.power_sums import power_sum
from halfseen.theory.arms.water_filling import water_filling


class CappedInstance(NamedTuple):
    """Three bounds on the expected regret of UCB from caps on how often an arm is observed.

    Attributes
    ----------
    widths
        Every round costs twice the width; cells beyond the cap cost nothing.
    gaps
        Every round costs the arm's gap, which gives about half of `widths`.
    closed
        `widths` with the two parts of the width bounded separately, by water-filling with caps.
    """

    widths: float
    gaps: float
    closed: float


@dataclass(frozen=True, eq=False)
class _CappedWidth(ByValue):
    """The cost A_a / sqrt(n + lambda) + B / (n + lambda) up to an arm's cap, 0 beyond it."""

    root: Vector
    inverse: float
    regularization: float
    cells: Vector

    def at(self, cells: Vector | float) -> Vector:
        weight = 1.0 / (cells + self.regularization)
        cost = self.root * np.sqrt(weight) + self.inverse * weight
        return np.where(cells < self.cells, cost, 0.0)

    def cells_above(self, level: float) -> Vector:
        root = np.hypot(self.root, math.sqrt(4.0 * self.inverse * level))
        with np.errstate(over="ignore"):
            reach = np.square((self.root + root) / (2.0 * level))
        return np.minimum(np.maximum(np.ceil(reach - self.regularization), 0.0), self.cells)

    def area(self, cells: Vector) -> Vector:
        taken = np.minimum(cells, self.cells)
        halves = power_sum(taken, self.regularization, 0.5)
        return self.root * halves + self.inverse * power_sum(taken, self.regularization, 1.0)


def capped_instance_bound(
    gaps: Sequence[float] | Vector,
    observe: Sequence[float] | Vector,
    horizon: int,
    *,
    noise: float | Sequence[float] | Vector = 1.0,
    regularization: float = 1.0,
    bound: float = 1.0,
) -> CappedInstance:
    r"""Return the bounds on UCB's regret that follow from caps on the observations of each arm.

    While optimism holds a worse arm is never played with more than :math:`\Theta_a` observations,
    so only its first :math:`n_a=\lfloor\Theta_a\rfloor+1` cells count:

    .. math:: \mathbb E R\le\text{fluid}[f]+\frac{2d\,\Delta_{\max}}T,\qquad
              f_a(n)=2w_a(n)\text{ or }\Delta_a\ \text{ for } n<n_a,\ \text{ else } 0 .

    Parameters
    ----------
    gaps
        How much worse each arm is than the best, at least 0.
    observe
        Probability that each arm's reward is observed.
    horizon
        Number of rounds T, at least 1.
    noise
        Sub-Gaussian scale, one number or one per arm.
    regularization
        The paper's lambda.
    bound
        M, an upper bound on the absolute means.

    Returns
    -------
    CappedInstance
        The bound by widths, by gaps, and by water-filling with caps.

    Notes
    -----
    The paper suggests that caps in water-filling give its instance bound. They do, up to a factor
    of 2: :math:`\int_0^\Theta n^{-1/2}dn=2\sqrt\Theta`, so widths lead to
    :math:`48\sigma^2L/(p\Delta)` where gaps lead to :math:`24\sigma^2L/(p\Delta)`.

    References
    ----------
    Guinet, Amin, Jaillet (2022), remark after lemma 3.5.

    Examples
    --------
    >>> means, p = [0.9, 0.8, 0.7, 0.5, 0.2], [0.9, 0.1, 0.5, 0.3, 0.05]
    >>> found = capped_instance_bound([0.9 - mean for mean in means], p, 10**6, bound=0.9)
    >>> [round(value, 3) for value in found]
    [97139.956, 48824.467, 97471.398]
    """
    p = inputs.observation(observe)
    world = World(
        observe=p,
        noise=inputs.per_arm("noise", noise, len(p)),
        gaps=inputs.per_arm("gaps", gaps, len(p)),
        regularization=checks.number("regularization", regularization, above=0.0),
        bound=checks.number("bound", bound, at_least=0.0),
        horizon=checks.whole("horizon", horizon, at_least=1),
    )
    return CappedInstance(*(world.unit * value for value in _bounds(world.in_units(world.unit))))


def _bounds(world: World) -> CappedInstance:
    p, worse = world.observe, world.gaps > 0.0
    if not worse.any():
        return CappedInstance(0.0, 0.0, 0.0)
    by_gaps = math.fsum(instance_in_horizon(world).values())
    root = 2.0 * math.sqrt(6.0 * world.confidence) * world.noise
    inverse, lam = 2.0 * world.regularization * world.bound, world.regularization
    cost = _CappedWidth(root, inverse, lam, observations(world))
    widths = fill(cost, p, world.horizon) + world.optimism_fails
    caps = (observations(world) / p)[worse]
    halves = _closed(p[worse], world, root[worse], 0.5, caps)
    closed = halves + _closed(p[worse], world, np.full(len(caps), inverse), 1.0, caps)
    return CappedInstance(widths, by_gaps, closed + world.optimism_fails)


def _closed(p: Vector, world: World, weights: Vector, alpha: float, caps: Vector) -> float:
    """Return the first cell of each arm plus the integral over the others, at most the caps."""
    first = PowerCost(weights, np.full(len(p), world.regularization), alpha).at(0.0) / p
    filled = water_filling(
        p, world.horizon, alpha, world.regularization, weights=weights, caps=caps
    )
    return float(first.sum()) + filled.value
