"""The distribution of delays of each arm, from decisions some of which are still pending."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput, InWords
from halfseen.logs.counts import Decisions
from halfseen.logs.group_sums import sum_by
from halfseen.logs.queries import filled
from halfseen.logs.time_bins import DAY

CELLS = 8192  # cells of delay, at most
ENTRIES = 8_000_000  # cells of all arms together, roughly
PARTS = 20  # cells up to the median delay


@dataclass(frozen=True, eq=False)
class DelayEstimate(ByValue):
    """The estimated share of rewards that are back within each delay.

    Attributes
    ----------
    share
        Kaplan-Meier's estimate.
    variance
        Greenwood's variance of it.
    at_risk
        Decisions whose reward had not come back before the delay and that were followed so long.
    """

    share: NDArray[Any]
    variance: NDArray[Any]
    at_risk: NDArray[Any]


def kaplan_meier(back: Any, waiting: Any, *, grouped: bool = False) -> DelayEstimate:
    r"""Estimate the distribution of delays when some decisions are still pending.

    .. math:: F_j = 1 - \prod_{i \le j} \Big(1 - \frac{e_i}{r_i}\Big), \qquad
              \operatorname{var} F_j = (1-F_j)^2 \sum_{i \le j} \frac{e_i}{r_i (r_i - e_i)}

    Parameters
    ----------
    back
        How many rewards came back with each delay; the delays ascend along the last axis.
    waiting
        How many decisions of each age have no reward yet, an array of the same shape.
    grouped
        True if an entry stands for an interval of delays: half of the decisions that stop being
        followed inside it then count as at risk. False if it stands for one delay.

    Returns
    -------
    DelayEstimate
        The estimate at the end of each entry.

    References
    ----------
    Kaplan, Meier (1958), Nonparametric estimation from incomplete observations. Greenwood (1926).

    Examples
    --------
    Six rewards came back, after 0, 0, 0, 1, 3 and 3 days; four decisions wait, 7, 5, 2 and 0 days
    old. Of the ten, three came back at once; of the six still followed after a day, one; of the
    four still followed after three days, two. So 1 - 7/10 * 5/6 * 2/4 are back within three days.

    >>> import numpy as np
    >>> from halfseen import kaplan_meier
    >>> back = np.bincount([0, 0, 0, 1, 3, 3], minlength=8)
    >>> waiting = np.bincount([7, 5, 2, 0], minlength=8)
    >>> delays = kaplan_meier(back, waiting)
    >>> delays.share[:4].round(4).tolist(), round(1 - 7 / 10 * 5 / 6 * 2 / 4, 4)
    ([0.3, 0.4167, 0.4167, 0.7083], 0.7083)
    >>> np.sqrt(delays.variance[3]).round(4).item()
    0.1666
    """
    e, c = (_counts(name, value) for name, value in (("back", back), ("waiting", waiting)))
    if e.shape != c.shape:
        raise InvalidInput(
            "waiting",
            f"must have the shape of `back`, {e.shape}",
            InWords(f"the shape {c.shape}"),
            "Count both with np.bincount(..., minlength=...).",
        )
    total = e + c
    risk = np.flip(np.cumsum(np.flip(total, -1), axis=-1), -1) - (0.5 * c if grouped else 0.0)
    risk = np.maximum(risk, e)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(risk > 0.0, 1.0 - e / risk, 1.0)
        terms = np.where(e > 0.0, e / (risk * (risk - e)), 0.0)
        survival = np.cumprod(left, axis=-1)
        variance = np.where(survival > 0.0, survival**2 * np.cumsum(terms, axis=-1), 0.0)
    return DelayEstimate(1.0 - survival, variance, risk)


def _counts(field: str, value: Any) -> Vector:
    """Return counts as an array of floats, or refuse them."""
    try:
        counts = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        counts = np.array(math.nan)
    if counts.ndim == 0 or not np.all(np.isfinite(counts) & (counts >= 0.0)):
        fix = "Count delays with np.bincount(...)."
        raise InvalidInput(field, "must be an array of counts of at least 0", value, fix)
    return counts


@dataclass(frozen=True, eq=False)
class DelayCells(ByValue):
    """Decisions by arm and delay, or age where the reward is not back: one entry per pair.

    Attributes
    ----------
    arm, cell
        The arm's place and the number of the cell.
    back, waiting
        Rewards that came back in the cell, and decisions of that age not back yet.
    tick
        The length of a cell, in seconds or the log's own unit.
    exact
        True if a cell stands for one delay, a whole number of ticks.
    arms
        How many arms there are.
    """

    arm: NDArray[np.int64]
    cell: NDArray[np.int64]
    back: NDArray[np.int64]
    waiting: NDArray[np.int64]
    tick: float
    exact: bool
    arms: int

    @property
    def size(self) -> int:
        """How many cells there are."""
        return int(self.cell.max()) + 1 if len(self.cell) else 1

    @property
    def ends(self) -> Vector:
        """The longest delay of each cell."""
        return np.asarray(self.tick * (np.arange(self.size) + (0.0 if self.exact else 1.0)))

    def tables(self, first: int, last: int) -> tuple[Vector, Vector]:
        """Return what is back and what is waiting by cell, of the arms from first to last."""
        inside = (self.arm >= first) & (self.arm < last)
        place = (self.arm[inside] - first) * self.size + self.cell[inside]
        shape = (last - first, self.size)
        back, waiting = (
            sum_by(place, values[inside], shape[0] * shape[1]).reshape(shape)
            for values in (self.back, self.waiting)
        )
        return back, waiting

    def pooled(self) -> tuple[Vector, Vector]:
        """Return what is back and what is waiting by cell, of all arms together."""
        back, waiting = (sum_by(self.cell, v, self.size) for v in (self.back, self.waiting))
        return back, waiting

    def law(self, arm: int) -> DelayEstimate:
        """Return the law of delays of one arm, at the `ends` of the cells."""
        back, waiting = self.tables(arm, arm + 1)
        return kaplan_meier(back[0], waiting[0], grouped=not self.exact)


class Ends(NamedTuple):
    """The range of a log's delays; times in seconds or the log's own unit.

    Attributes
    ----------
    last, longest
        The last moment in the log, and the longest delay.
    seen, undated, backwards
        Rewards seen, those among them without a time, and those that came before the decision.
    unit
        A day or 1 if every delay is a whole number of them, else 0.
    """

    last: float
    longest: float
    seen: int
    undated: int
    backwards: int
    unit: float


def find_ends(decisions: Decisions) -> Ends:
    """Return the range of a log's delays."""
    found = decisions.log.query(
        "SELECT max(feedback_time) AS last, max(delay) AS longest, count(*) AS seen,"
        " count(*) - count(delay) AS undated, count(*) FILTER (delay < 0) AS backwards,"
        " coalesce(bool_and(delay = trunc(delay)), false) AS whole,"
        f" coalesce(bool_and(delay = trunc(delay / {DAY}) * {DAY}), false) AS daily FROM"
        f" (SELECT feedback_time, feedback_time - time AS delay FROM {decisions.sql}"
        " WHERE seen AND action IS NOT NULL)"
    )
    last, longest = (float(filled(found[name])[0]) for name in ("last", "longest"))
    seen, undated, backwards = (int(found[name][0]) for name in ("seen", "undated", "backwards"))
    unit = DAY if found["daily"][0] and longest >= DAY else float(found["whole"][0])
    assert decisions.bins is not None
    return Ends(max(last, decisions.bins.last), longest, seen, undated, backwards, unit)


def count_delays(decisions: Decisions, ends: Ends, end: float, window: float | None) -> DelayCells:
    """Count decisions by arm and cell of delay or age, in one pass.

    Cells are first as fine as they may be, then merged so that some 20 reach the median delay.

    Parameters
    ----------
    decisions
        A log with times of decision and of feedback.
    ends
        What `find_ends` returned.
    end
        The moment at which decisions not back are that old.
    window
        A delay at which a cell must end, if one was asked for.
    """
    bins, counts = decisions.bins, decisions.counts
    assert bins is not None
    span = max(end - bins.first, ends.longest, 0.0)
    most = int(np.clip(ENTRIES // len(counts), 64, CELLS))
    tick = span / most if span > 0.0 else 1.0
    exact = tick <= ends.unit
    if exact:
        tick = ends.unit
    elif window is not None:
        tick = window / max(1, math.floor(window / tick))
    gone = f"CASE WHEN seen THEN feedback_time ELSE '{end!r}'::DOUBLE END - time"
    ticks = f"floor(greatest({gone}, 0) * '{1.0 / tick!r}'::DOUBLE + 1e-9)"
    if not exact:  # a short window: what takes many times longer need not be told apart
        ticks = f"least({ticks}, {most})"
    cell = f"CAST({ticks} AS INTEGER)"
    found = decisions.log.query(
        "SELECT CAST(action AS VARCHAR) AS name, cell, back, waiting FROM (SELECT action, cell,"
        " count(*) FILTER (seen) AS back, count(*) FILTER (NOT seen) AS waiting FROM"
        f" (SELECT action, seen, {cell} AS cell FROM {decisions.sql} WHERE action IS NOT NULL AND"
        " time IS NOT NULL AND (NOT seen OR feedback_time IS NOT NULL)) GROUP BY action, cell)"
    )
    place = {name: i for i, name in enumerate(counts.names)}
    arm = np.array([place[str(name)] for name in found["name"]], dtype=np.int64)
    cells, back, waiting = (
        np.asarray(found[c]).astype(np.int64) for c in ("cell", "back", "waiting")
    )
    fine = DelayCells(arm, cells, back, waiting, tick, exact, len(counts))
    return _merged(fine, window)


def _merged(fine: DelayCells, window: float | None) -> DelayCells:
    """Merge cells so that some 20 reach the median delay; one must end at the window."""
    returned = np.cumsum(fine.pooled()[0])
    median = int(np.searchsorted(returned, returned[-1] / 2.0)) + 1
    factor = max(1, median // PARTS)
    if window is not None:
        whole = round(window / fine.tick)
        factor = next(f for f in range(min(factor, max(whole, 1)), 0, -1) if whole % f == 0)
    if fine.exact or factor == 1:
        return fine
    key = fine.arm * (fine.size // factor + 1) + fine.cell // factor
    pairs, group = np.unique(key, return_inverse=True)
    arm, cell = np.divmod(pairs, fine.size // factor + 1)
    back, waiting = (sum_by(group, v).astype(np.int64) for v in (fine.back, fine.waiting))
    return DelayCells(arm, cell, back, waiting, factor * fine.tick, False, fine.arms)
