"""How far the conclusion moves if missing rewards differ from the ones that were seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

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
    Arms never seen have no line.
    """
    known = ~np.isnan(counts.mean)
    if not known.any():
        return None
    arms = counts.part(known)
    gone = 1.0 - arms.seen / arms.rows
    best = int(np.argmax(arms.mean))
    behind = arms.mean[best] - arms.mean
    slope = gone - gone[best]
    others = np.arange(len(arms)) != best
    with np.errstate(divide="ignore", invalid="ignore"):
        cross = np.where(others & (slope != 0.0), behind / slope, math.inf)
        each = np.where(others, behind / (gone + gone[best]), math.inf)
    each[np.isnan(each)] = math.inf
    first = int(np.argmin(np.abs(cross)))
    tips = math.isfinite(cross[first])
    weight = arms.seen / arms.seen.sum()
    centre = float(weight @ arms.mean)
    inside = np.nan_to_num(arms.variance)
    scale = math.sqrt(float(weight @ (inside + (arms.mean - centre) ** 2)))
    moves = []
    for step in STEPS:
        means = arms.mean + gone * step * scale
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
