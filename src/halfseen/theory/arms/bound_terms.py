"""The terms of each regret bound, from the numbers of one problem.

Write L for log T, lambda for the regularization, M for the bound on the means, D for the effective
dimension and d for the number of arms. Twice UCB's width, after n observations of arm a, is
2 sqrt(6 sigma_a^2 L / (n + lambda)) + 2 lambda M / (n + lambda).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.theory.arms.potential import fluid_potential, joint_potential, papers_potential

Terms = dict[str, float]
LARGEST_RATIO = 1e120


@dataclass(frozen=True, eq=False)
class World(ByValue):
    """The quantities that regret bounds depend on; arms that cannot be played are left out.

    `horizon` is the number of rounds the bound is for; `tuned` is the horizon the policy was tuned
    for, if that is larger. `under_way` is the largest number of outstanding rewards of each arm,
    None without delays.
    """

    observe: Vector
    noise: Vector
    gaps: Vector
    regularization: float
    bound: float
    horizon: int
    tuned: int | None = None
    under_way: Vector | None = None

    def in_units(self, unit: float) -> World:
        """Return the same quantities with rewards measured in another unit.

        Noise and means are clipped at 1e120 units, where every bound exceeds the trivial one.
        """
        with np.errstate(over="ignore"):
            noise = np.minimum(self.noise / unit, LARGEST_RATIO)
        bound = min(self.bound / unit, LARGEST_RATIO)
        return replace(self, noise=noise, gaps=self.gaps / unit, bound=bound)

    @property
    def unit(self) -> float:
        """The largest gap; without one, the largest noise, the bound on the means, or 1."""
        return self.largest_gap or float(self.noise.max()) or self.bound or 1.0

    @property
    def confidence(self) -> float:
        """L, the logarithm of the horizon the policy was tuned for, as used in its widths."""
        return math.log(self.horizon if self.tuned is None else self.tuned)

    @property
    def largest_gap(self) -> float:
        """The largest regret of a round."""
        return float(self.gaps.max())

    @property
    def dimension(self) -> float:
        """The effective dimension D."""
        return float((1.0 / self.observe).sum())

    @property
    def optimism_fails(self) -> float:
        """The largest cost of a failure of optimism, 2 d gap / T."""
        return 2.0 * len(self.gaps) * self.largest_gap / self.horizon


def evaluated(compute: Callable[[World], Terms], world: World) -> Terms:
    """Return the terms of a bound, computed in units of the largest gap.

    Every bound is proportional to the unit of rewards; this choice keeps precision for tiny ones.
    """
    unit = world.unit
    return {name: unit * value for name, value in compute(world.in_units(unit)).items()}


def waiting(world: World, costs: Callable[[World], Vector]) -> Terms:
    """Return the cost of late feedback, due to outstanding rewards.

    An arm is played g/p times on average until g of its messages are sent; `costs` returns an upper
    bound on the cost of such a play.
    """
    if world.under_way is None:
        return {}
    late = float((costs(world) * world.under_way / world.observe).sum())
    return {
        "late feedback": late,
        "delays fail": len(world.gaps) * world.largest_gap / world.horizon,
    }


def any_gap(world: World) -> Vector:
    """Return the largest gap, for every arm."""
    return np.full(len(world.gaps), world.largest_gap)


def gap_if_worse(world: World) -> Vector:
    """Return the largest gap for the arms with a positive gap, and 0 for the others."""
    return np.where(world.gaps > 0.0, world.largest_gap, 0.0)


def own_gap(world: World) -> Vector:
    """Return each arm's gap."""
    return world.gaps


def twice_own_gap(world: World) -> Vector:
    """Return twice each arm's gap, for bounds that count on half of the messages sent."""
    return 2.0 * world.gaps


def joint(world: World) -> Terms:
    """Fill T rounds with cells of cost min(largest gap, twice the width)."""
    return {"rounds": _joint(world, any_gap(world)), "optimism fails": world.optimism_fails}


def best_arm_dropped(world: World) -> Terms:
    """Like `joint`, but the arms without a gap cost nothing."""
    return {"rounds": _joint(world, gap_if_worse(world)), "optimism fails": world.optimism_fails}


def own_gaps(world: World) -> Terms:
    """Like `joint`, but no round costs more than its arm's own gap."""
    return {"rounds": _joint(world, world.gaps), "optimism fails": world.optimism_fails}


def separate(world: World) -> Terms:
    """Bound the two parts of the width separately, each by its exact potential."""
    p, lam, time = world.observe, world.regularization, world.horizon
    noise = fluid_potential(p, time, 0.5, lam, weights=world.noise)
    shrinkage = fluid_potential(p, time, 1.0, lam)
    return _both(world, noise, shrinkage)


def closed_form(world: World) -> Terms:
    """Bound the potentials of `separate` by elementary functions."""
    lam, time = world.regularization, world.horizon
    spread = 2.0 * math.sqrt(time) * float(np.linalg.norm(world.noise / np.sqrt(world.observe)))
    first = float((world.noise / world.observe).sum()) / math.sqrt(lam)
    logarithm = math.log1p(time / (lam * world.dimension))
    return _both(world, spread + first, world.dimension * (1.0 / lam + logarithm))


def papers_theorem(world: World) -> Terms:
    """Bound the potentials of `separate` by the paper's proposition, corrected, at delta = 1/2."""
    p, lam, time = world.observe, world.regularization, world.horizon
    noise = papers_potential(p, time, 0.5, lam, weights=world.noise)
    return _both(world, noise, papers_potential(p, time, 1.0, lam))


def instance(world: World) -> Terms:
    """Count the observations of each worse arm: at most Theta + 1, and 2/T if optimism fails."""
    worse = world.gaps > 0.0
    cost = world.gaps[worse] / world.observe[worse]
    seen = float((cost * observations(world)[worse]).sum())
    return {"observations": seen, "optimism fails": float(cost.sum()) * 2.0 / world.horizon}


def instance_in_horizon(world: World) -> Terms:
    """Fill T rounds with the cells of `instance`, largest gap first."""
    order = np.argsort(-world.gaps, kind="stable")
    duration = np.minimum(observations(world) / world.observe, world.horizon)[order]
    room = np.maximum(world.horizon - (np.cumsum(duration) - duration), 0.0)
    cost = float((world.gaps[order] * np.minimum(duration, room)).sum())
    return {"rounds": cost, "optimism fails": world.optimism_fails}


def papers_instance(world: World) -> Terms:
    """Return the paper's count of plays of each worse arm, corrected."""
    p, worse = world.observe, world.gaps > 0.0
    start = np.ceil(24.0 * world.confidence / p)
    plays = np.maximum(start, 1.0 + 2.0 * thresholds(world) / p)
    unseen = 16.0 * world.dimension * world.largest_gap / world.horizon**2
    return {
        "plays": float((world.gaps * plays)[worse].sum()),
        "optimism fails": world.optimism_fails,
        "censoring fails": unseen,
    }


def trivial(world: World) -> Terms:
    """Charge the largest gap in every round."""
    return {"rounds": world.horizon * world.largest_gap}


def thresholds(world: World) -> Vector:
    """Return Theta, the count up to which twice the width exceeds an arm's gap; 0 for no gap."""
    noise, shrinkage = _width(world)
    gaps = np.where(world.gaps > 0.0, world.gaps, 1.0)
    with np.errstate(over="ignore"):
        root = np.hypot(noise, np.sqrt(4.0 * gaps * shrinkage))
        theta = ((root + noise) / (2.0 * gaps)) ** 2 - world.regularization
    # M is at least half of any gap, so a negative Theta is a rounding error.
    return np.where(world.gaps > 0.0, np.maximum(theta, 0.0), 0.0)


def observations(world: World) -> Vector:
    """Return floor(Theta) + 1 for the arms with a gap, 0 for the others."""
    counts = np.floor(thresholds(world) * (1.0 + 1e-14)) + 1.0
    return np.where(world.gaps > 0.0, counts, 0.0)


def _joint(world: World, caps: Vector) -> float:
    return joint_potential(
        world.observe,
        world.horizon,
        world.regularization,
        world.noise,
        world.bound,
        caps,
        confidence=world.confidence,
    )


def _width(world: World) -> tuple[Vector, float]:
    """Return the factors of (n + lambda)^(-1/2) and (n + lambda)^(-1) in twice the width."""
    root = 2.0 * math.sqrt(6.0 * world.confidence) * world.noise
    return root, 2.0 * world.regularization * world.bound


def _both(world: World, noise: float, shrinkage: float) -> Terms:
    return {
        "noise": 2.0 * math.sqrt(6.0 * world.confidence) * noise,
        "shrinkage": 2.0 * world.regularization * world.bound * shrinkage,
        "optimism fails": world.optimism_fails,
    }
