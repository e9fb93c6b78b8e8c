"""The rewards seen of every arm as (value, count) cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.logs import reward_cells
from halfseen.logs.counts import Counts, Decisions, Whole
from halfseen.logs.queries import text, too_large


@dataclass(frozen=True, eq=False, repr=False)
class SeenRewards(Shown, ByValue):
    """The rewards seen of every arm, sorted, equal or similar ones counted together.

    Attributes
    ----------
    names
        The arms of which rewards were seen.
    never_seen
        The other arms.
    left_out
        How many arms are missing here because a log of real-valued rewards has very many.
    rows, seen
        Decisions and rewards seen, per arm; with times of feedback, so many decisions that
        ``seen / rows`` is the rate within the window: pending rewards are not missing.
    starts
        The first cell of each arm.
    values, counts
        The mean reward of each cell, ascending within an arm, and how often it was seen.
    within
        The variance of the rewards of each cell; 0 where all are the same.
    least, most
        The range of all rewards seen; 0 and 1 if all are one of these.
    """

    names: tuple[str, ...]
    never_seen: tuple[str, ...]
    left_out: int
    rows: Vector
    seen: Whole
    starts: NDArray[np.int64]
    values: Vector
    counts: Vector
    within: Vector
    least: float
    most: float

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of cells of each arm."""
        return np.diff(self.starts, append=len(self.values))

    @property
    def mean(self) -> Vector:
        """The mean of the rewards seen, per arm."""
        return np.add.reduceat(self.values * self.counts, self.starts) / self.seen

    @property
    def skewness(self) -> Vector:
        """The skewness of the rewards seen, per arm; 0 if they are equal.

        Rewards of a cell count as if they were symmetric around their mean.
        """
        away, within = self.values - np.repeat(self.mean, self.sizes), self.within
        size = np.sqrt(away**2 + within)
        scale = np.repeat(np.maximum.reduceat(size, self.starts), self.sizes)
        scale = np.where(scale > 0.0, scale, 1.0)  # cubes of 1e110 are no numbers
        away, within = away / scale, within / scale**2
        squares = np.add.reduceat(self.counts * (away**2 + within), self.starts) / self.seen
        cubes = np.add.reduceat(self.counts * (away**3 + 3.0 * away * within), self.starts)
        known = squares > 0.0
        return np.where(known, cubes / self.seen / np.where(known, squares, 1.0) ** 1.5, 0.0)

    def at_rates(self, names: tuple[str, ...], rates: Vector) -> SeenRewards:
        """Return the same rewards with so many decisions that arms are seen at other rates."""
        place = {name: i for i, name in enumerate(names)}
        rate = rates[[place[name] for name in self.names]]
        known = rate > 0.0
        return replace(
            self, rows=np.where(known, self.seen / np.where(known, rate, 1.0), self.rows)
        )

    def part(self, chosen: Any) -> SeenRewards:
        """Return some of the arms."""
        keep = np.arange(len(self))[chosen]
        sizes = self.sizes[keep]
        starts = np.cumsum(sizes) - sizes
        cells = np.arange(sizes.sum()) + np.repeat(self.starts[keep] - starts, sizes)
        return SeenRewards(
            tuple(self.names[i] for i in keep),
            self.never_seen,
            self.left_out + len(self) - len(keep),
            self.rows[keep],
            self.seen[keep],
            starts,
            self.values[cells],
            self.counts[cells],
            self.within[cells],
            self.least,
            self.most,
        )


def read_rewards(decisions: Decisions) -> SeenRewards | None:
    """Return the rewards seen of every arm; None if the log has none.

    Notes
    -----
    Rewards of 0 or 1 come from the counts. Otherwise every distinct value is a cell, or, in a log
    of more than a million rewards, each of 1,000 equal intervals between the 0.1% and the 99.9%
    quantile, at the mean of its rewards: sums stay exact, and only the interval that holds a bound
    is rounded, by less than its width.
    """
    counts = decisions.counts
    known = counts.seen > 0
    if decisions.columns.reward is None or not known.any():
        return None
    never = tuple(np.array(counts.names, dtype=object)[~known].tolist())
    arms = counts.part(known)
    if max(-counts.least, counts.most) > reward_cells.LARGEST:
        raise too_large(decisions.log.name)
    left_out = max(len(arms) - reward_cells.ARMS, 0)
    if left_out:
        arms = arms.part(np.sort(np.argsort(-arms.seen, kind="stable")[: reward_cells.ARMS]))
    if counts.binary:
        return _binary(arms, never, left_out)
    only = ""
    if left_out:
        names = ", ".join(map(text, arms.names))
        only = f" AND CAST(action AS VARCHAR) IN (SELECT unnest([{names}]))"
    exact = bool(arms.seen.sum() <= reward_cells.EXACT)
    cells = decisions.cells
    if cells is None or exact or left_out:
        rows = f"{decisions.sql} WHERE seen AND action IS NOT NULL{only}"
        cells = reward_cells.read_cells(decisions.log, rows, exact=exact)
    return SeenRewards(
        names=arms.names,
        never_seen=never,
        left_out=left_out,
        rows=arms.rows.astype(float),
        seen=arms.seen,
        starts=cells.starts,
        values=cells.value,
        counts=cells.count,
        within=cells.within,
        least=counts.least,
        most=counts.most,
    )


def _binary(arms: Counts, never: tuple[str, ...], left_out: int) -> SeenRewards:
    ones = np.rint(arms.mean * arms.seen)
    counts = np.stack([arms.seen - ones, ones], axis=1).ravel()
    return SeenRewards(
        names=arms.names,
        never_seen=never,
        left_out=left_out,
        rows=arms.rows.astype(float),
        seen=arms.seen,
        starts=2 * np.arange(len(arms)),
        values=np.tile([0.0, 1.0], len(arms)),
        counts=counts,
        within=np.zeros(len(counts)),
        least=0.0,
        most=1.0,
    )
