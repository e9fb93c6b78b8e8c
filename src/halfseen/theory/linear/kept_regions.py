r"""The regions of a censorship that can be worth playing, for p in any order along a direction.

An action and its opposite give the same information, so only the smaller of p(s) and p(-s)
matters, a function of :math:`q=s^2`. If the least observed band contains :math:`q=1/d`, that band
alone explores all directions evenly. If it lies above, the direction u is always known better than
the others and only the *lower* ends of bands are worth playing; if it lies below, only the *upper*
ends.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from halfseen.theory.linear.reachability import SAME

EVEN, LOWER, UPPER = "isotropic", "lower", "upper"
RIGHT_ANGLE = math.pi / 2


class Region(NamedTuple):
    """A region that can be worth playing: its number and the angle at which it is played.

    The angle is in radians from the equator; q and c are its squared sine and cosine; p is the
    probability of being observed; side is -1 if the region lies on the other side of the equator.
    """

    number: int
    angle: float
    q: float
    c: float
    p: float
    side: float = 1.0


class Kept(NamedTuple):
    """The regions that can be worth playing.

    Attributes
    ----------
    edge
        Which end of a region is played: ``"lower"`` or ``"upper"``; ``"isotropic"`` if the least
        observed one alone explores all directions evenly.
    regions
        The regions, most often observed first, each at the end at which it is played (isotropic:
        the lower one).
    even
        Regions and shares of time that explore all directions evenly: one region, or two with the
        same p.
    """

    edge: str
    regions: tuple[Region, ...]
    even: tuple[tuple[Region, float], ...]


class _Band(NamedTuple):
    low: float
    high: float
    p: float
    number: int
    side: float

    def at(self, angle: float) -> Region:
        return at_angle(self.number, angle, self.p, self.side)


def at_angle(number: int, angle: float, p: float, side: float = 1.0) -> Region:
    """Return a region played at a given angle."""
    cosine = math.cos(angle) ** 2 if angle < RIGHT_ANGLE else 0.0
    return Region(number, angle, math.sin(angle) ** 2, cosine, p, side)


def regions_that_matter(thresholds: Sequence[float], observe: Sequence[float], d: int) -> Kept:
    """Return the regions worth playing on the unit ball of d coordinates.

    >>> kept = regions_that_matter([-0.5, 0.5], [0.9, 0.2, 0.5], 3)
    >>> kept.edge, [region.number for region in kept.regions]
    ('upper', [2, 1])
    """
    bands = _folded(thresholds, observe)
    least = min(band.p for band in bands) * (1.0 + SAME)
    rarest = [band for band in bands if band.p <= least]
    if d * math.sin(rarest[0].low) ** 2 > 1.0 + SAME:
        return Kept(LOWER, tuple(band.at(band.low) for band in _records(bands)), ())
    if d * math.sin(rarest[-1].high) ** 2 < 1.0 - SAME:
        return Kept(UPPER, tuple(band.at(band.high) for band in _records(bands[::-1])), ())
    even = _even(rarest, d)
    numbers = {region.number for region, _ in even}
    shown = {band.number: band for band in reversed(rarest) if band.number in numbers}
    above = [band for band in _records(bands) if band.p > least]
    regions = (band.at(band.low) for band in (*above, *reversed(shown.values())))
    return Kept(EVEN, tuple(regions), even)


def _folded(thresholds: Sequence[float], observe: Sequence[float]) -> list[_Band]:
    """Return the bands of the smaller p of an action and its opposite, from the equator up."""
    cuts = sorted({abs(angle) for angle in thresholds} - {0.0})
    bands = []
    for low, high in pairwise((0.0, *cuts, RIGHT_ANGLE)):
        middle = 0.5 * (low + high)
        near, far = bisect_right(thresholds, middle), bisect_right(thresholds, -middle)
        number, side = (near, 1.0) if observe[near] <= observe[far] else (far, -1.0)
        bands.append(_Band(low, high, observe[number], number, side))
    while len(bands) > 1 and bands[0].high <= SAME and bands[0].p >= bands[1].p:
        bands[:2] = [bands[1]._replace(low=0.0)]  # a threshold at the equator up to rounding
    return bands


def _records(bands: Sequence[_Band]) -> list[_Band]:
    """Return the bands observed less often than all before them."""
    kept: list[_Band] = []
    for band in bands:
        if not kept or kept[-1].p > band.p * (1.0 + SAME):
            kept.append(band)
    return kept


def _even(rarest: Sequence[_Band], d: int) -> tuple[tuple[Region, float], ...]:
    """Return where the least observed bands are played to explore all directions evenly."""
    middle = math.asin(math.sqrt(1.0 / d))
    for band in rarest:
        if math.sin(band.low) ** 2 <= (1.0 + SAME) / d and (
            math.sin(band.high) ** 2 >= (1.0 - SAME) / d
        ):
            return ((band.at(min(max(middle, band.low), band.high)), 1.0),)
    below = max((band for band in rarest if band.high < middle), key=lambda band: band.high)
    above = min((band for band in rarest if band.low > middle), key=lambda band: band.low)
    lower, upper = below.at(below.high), above.at(above.low)
    share = (upper.q - 1.0 / d) / (upper.q - lower.q)
    return (lower, share), (upper, 1.0 - share)
