"""The rules by which the information path moves from region to region."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from halfseen.theory.linear.kept_regions import EVEN, LOWER, Kept, Region
from halfseen.theory.linear.reachability import (
    SAME,
    dual_reachability_threshold,
    reachability_threshold,
    two_region_dimension,
)


class Leg(NamedTuple):
    """A part of the path in which the same regions are played.

    It holds the start, the design there and its growth; the potential gained over it is `weight`
    times the change of the log-determinant.
    """

    start: float
    regions: tuple[int, ...]
    x: float
    y: float
    growth_x: float
    growth_y: float
    weight: float


class Step(NamedTuple):
    """The comparison of a region with a base, and the ratio y/x at which both gain the same."""

    region: Region
    u: float
    l: float  # noqa: E741
    r: float
    r_star: float
    r_dagger: float
    meeting: float

    @property
    def reachable(self) -> bool:
        """Return whether playing the base leads to a design at which both gain the same."""
        return self.r < self.r_star * (1.0 - SAME)

    @property
    def dual_reachable(self) -> bool:
        """Return whether the region then pulls the design back."""
        return self.r > self.r_dagger * (1.0 + SAME)


def compare(region: Region, base: Region, d: int) -> Step:
    """Return the comparison of a region with a base observed less often."""
    u, r = region.c / base.c, region.p / base.p
    l = region.q / base.q if base.q > 0.0 else 1.0  # noqa: E741
    ahead, lead = r * base.q - region.q, region.c - r * base.c
    meeting = ahead / lead if ahead * lead > 0.0 else math.inf
    r_star, r_dagger = reachability_threshold(u, l, d), dual_reachability_threshold(u, l, d)
    return Step(region, u, l, r, r_star, r_dagger, meeting)


def walk(kept: Kept, d: int, lam: float) -> tuple[list[Leg], dict[int, float]]:
    """Return the legs of the path and the limiting shares of time of the regions."""
    if kept.edge == EVEN:
        return _evenly(kept, d, lam)
    if d == 1:
        best = max(kept.regions, key=lambda region: region.q / region.p)
        growth = best.p * best.q
        return [Leg(0.0, (best.number,), lam, lam, growth, growth, 1.0 / best.p)], {
            best.number: 1.0
        }
    base = kept.regions[-1]
    legs = [_alone(0.0, base, lam, lam, d)]
    others = list(kept.regions[:-1])
    while True:
        steps = [step for i in others if (step := compare(i, base, d)).reachable]
        if not steps:
            return legs, {base.number: 1.0}
        ties = _nearest(steps, kept.edge)
        step = next((step for step in ties if step.dual_reachable), ties[0])
        t, x, y = _until(step, base, legs[-1], d)
        if step.dual_reachable:
            leg, shares = _together(step, base, t, x, y, d)
            return [*legs, leg], shares
        base = step.region
        legs.append(_alone(t, base, x, y, d))
        others = [i for i in others if i.p > base.p]


def _evenly(kept: Kept, d: int, lam: float) -> tuple[list[Leg], dict[int, float]]:
    p = kept.even[0][0].p
    played = tuple(region.number for region, _ in kept.even)
    leg = Leg(0.0, played, lam, lam, p / d, p / d, 1.0 / p)
    return [leg], {region.number: share for region, share in kept.even}


def _nearest(steps: Sequence[Step], edge: str) -> list[Step]:
    """Return the regions reached first, the least observed of them first.

    The ratio y/x rises from 1 where lower ends are played and falls where upper ends are.
    """
    if edge == LOWER:
        nearest = min(step.meeting for step in steps) * (1.0 + SAME)
        return [step for step in reversed(steps) if step.meeting <= nearest]
    nearest = max(step.meeting for step in steps) * (1.0 - SAME)
    return [step for step in reversed(steps) if step.meeting >= nearest]


def _alone(t: float, region: Region, x: float, y: float, d: int) -> Leg:
    across, along = region.p * region.c / (d - 1), region.p * region.q
    return Leg(t, (region.number,), x, y, across, along, 1.0 / region.p)


def _until(step: Step, base: Region, leg: Leg, d: int) -> tuple[float, float, float]:
    """Return the time and the design at which the region gains as much as the base."""
    i = step.region
    short = (step.r * base.q - i.q) * leg.x - (i.c - step.r * base.c) * leg.y
    pace = d * base.q * base.c * (step.r_star - step.r) / (d - 1)
    seen = max(0.0, short / pace)
    x, y = leg.x + seen * base.c / (d - 1), leg.y + seen * base.q
    return leg.start + seen / base.p, x, y


def _together(
    step: Step, base: Region, t: float, x: float, y: float, d: int
) -> tuple[Leg, dict[int, float]]:
    i, u, l, r = step.region, step.u, step.l, step.r  # noqa: E741
    seen = d * (step.r_star - r) / ((u + (d - 1) * l) * (r - step.r_dagger))  # region to base
    rest = r / (r + seen)
    other = seen / (r + seen)
    across = (other * i.p * i.c + rest * base.p * base.c) / (d - 1)
    along = other * i.p * i.q + rest * base.p * base.q
    weight = two_region_dimension(u, l, r, d) / (d * base.p)
    leg = Leg(t, (base.number, i.number), x, y, across, along, weight)
    return leg, {base.number: rest, i.number: other}
