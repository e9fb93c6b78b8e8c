"""How far the conclusion moves if missing rewards differ from the ones that were seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.logs.counts import Counts
from halfseen.tables import Table, table

STEPS = (-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Sensitivity:
    """The best arm, and what it takes to change it.

    Attributes
    ----------
    best
        The arm with the largest mean among rewards seen.
    tipping
        The smallest difference, the same for all arms, between missing and seen rewards that
        makes another arm best, with its sign; infinite if none does.
    rival
        That other arm.
    tipping_each
        The same when the difference may be up for one arm and down for another: the smallest size.
    scale
        The standard deviation of the rewards seen, to measure differences by.
    moves
        For a few differences, the best arm and its mean.
    """

    best: str
    tipping: float
    rival: str | None
    tipping_each: float
    scale: float
    moves: Table


def shifted_means(counts: Counts, difference: float) -> Vector:
    """Return the mean of every arm if its missing rewards differ from its seen ones by so much.

    Where all rewards are 0 or 1, the mean of the missing ones stays between these.
    """
    gone = 1.0 - counts.seen / counts.rows
    low, high = _limits(counts)
    return counts.mean + gone * (np.clip(counts.mean + difference, low, high) - counts.mean)


def sensitivity(counts: Counts) -> Sensitivity | None:
    r"""Return what happens to the best arm if missing rewards are larger or smaller by delta.

    .. math:: \mu_a(\delta) = m_a + (1 - p_a)\,\delta

    Parameters
    ----------
    counts
        What the log says about each arm.

    Returns
    -------
    Sensitivity or None
        None if the log has no rewards, only whether they were seen.

    Notes
    -----
    The mean of an arm is the mean m of what was seen, weighted p, and of what was not, m + delta,
    weighted 1 - p. Lines in delta: where the best arm's line is first crossed the conclusion tips.
    Where all rewards seen are 0 or 1, m + delta is cut at 0 and 1, and lines bend there. Arms never
    seen have no line.
    """
    known = ~np.isnan(counts.mean)
    if not known.any():
        return None
    arms = counts.part(known)
    gone = 1.0 - arms.seen / arms.rows
    best = int(np.argmax(arms.mean))
    behind = arms.mean[best] - arms.mean
    low, high = _limits(arms)
    up, down = high - arms.mean, arms.mean - low
    ways = [
        _first_zero(behind, gone[best], up[best], -gone, up),
        -_first_zero(behind, -gone[best], down[best], gone, down),
        _first_zero(behind, -gone[best], down[best], -gone, up),
    ]
    rising, falling, each = (np.where(np.arange(len(arms)) != best, way, math.inf) for way in ways)
    cross = np.where(rising <= np.abs(falling), rising, falling)
    first = int(np.argmin(np.abs(cross)))
    tips = math.isfinite(cross[first])
    weight = arms.seen / arms.seen.sum()
    centre = float(weight @ arms.mean)
    inside = np.nan_to_num(arms.variance)
    scale = math.sqrt(float(weight @ (inside + (arms.mean - centre) ** 2)))
    moves = []
    for step in STEPS:
        means = shifted_means(arms, step * scale)
        top = int(np.argmax(means))
        moves.append(
            {
                "missing minus seen": step * scale,
                "best arm": arms.names[top],
                "its mean": float(means[top]),
                "mean of today's best": float(means[best]),
            }
        )
    return Sensitivity(
        best=arms.names[best],
        tipping=float(cross[first]) if tips else math.inf,
        rival=arms.names[first] if tips else None,
        tipping_each=float(each.min()),
        scale=scale,
        moves=table(moves),
    )


def _limits(counts: Counts) -> tuple[float, float]:
    return (0.0, 1.0) if counts.binary else (-math.inf, math.inf)


def _first_zero(start: Vector, u: Any, room_u: Any, v: Vector, room_v: Vector) -> Vector:
    """Return the smallest s with start + u min(s, room_u) + v min(s, room_v) = 0, else infinity."""
    bend, end = np.minimum(room_u, room_v), np.maximum(room_u, room_v)
    later = np.where(room_u > room_v, u, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        at_once = np.where(u + v < 0.0, start / -(u + v), math.inf)
        left = start + (u + v) * bend
        after = np.where(later < 0.0, bend + left / -later, math.inf)
    after = np.where(np.isfinite(bend) & (after <= end), after, math.inf)
    return np.where(at_once <= bend, at_once, after)
