"""How often each arm's reward eventually comes back, corrected for pending decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.logs.counts import Decisions
from halfseen.logs.delays import DelayCells, DelayEstimate, count_delays, find_ends, kaplan_meier
from halfseen.logs.group_sums import sum_by
from halfseen.logs.option_names import option
from halfseen.logs.queries import filled
from halfseen.logs.time_bins import DAY, duration_in_words, moment_in_words
from halfseen.logs.warnings.log_warning import LogWarning
from halfseen.tables import Table, listed, percent

RISK, SHARE_AT_RISK, ARM_RISK = 20.0, 0.005, 10.0  # rows at risk needed to follow a distribution
REACHED = 0.03  # rewards expected after the window, relative to those within it
SETTLED = 0.9  # share of all rewards that are back by the age at which rows enter tests
FEW_UNTIMED = 0.01  # share of rows without a time, and change of the share seen, that are tolerated
CHUNK = 2_000_000  # cells processed at once


@dataclass(frozen=True, eq=False, repr=False)
class Maturity(Shown, ByValue):
    """Pending rewards, and rates of rewards within a window.

    Times are in seconds if the log has dates, else in its own unit.

    Attributes
    ----------
    end
        The moment up to which the log was followed.
    window
        W: rates are shares of rewards back within so long.
    stated
        True if the window was asked for, False if it was chosen.
    cut_short
        True if a longer window was asked for than the oldest decision is old.
    settled
        The age from which rows enter tests, with "seen" meaning "seen within that age".
    seen, rows
        Effective counts per arm: ``seen / rows`` is the rate within the window, and Clopper and
        Pearson's interval of them is its interval.
    windows
        Up to where each arm could be followed: W, or less for arms that are too young.
    pending
        Expected number of rewards still to come within the window, per arm.
    later
        An estimate of the share of rewards that come after the window, erring upwards.
    cells
        Decisions by arm and delay; its ``law(arm)`` is an arm's law of delays at its ``ends``.
    unseen, undated, backwards
        Rewards not seen; those seen without a time; those that came before the decision.
    at_once
        True if every reward that has a time came at the moment of its decision.
    dated
        True if times count seconds.
    pace
        Decisions per unit of time while the log was written; 0 if they were all made at once.
    """

    end: float
    window: float
    stated: bool
    cut_short: bool
    settled: float
    seen: Vector
    rows: Vector
    windows: Vector
    pending: Vector
    later: float
    cells: DelayCells
    unseen: int
    undated: int
    backwards: int
    at_once: bool
    dated: bool
    names: tuple[str, ...]
    pace: float

    @property
    def pooled(self) -> DelayEstimate:
        """The law of delays of all arms together, at the ends of the cells."""
        return kaplan_meier(*self.cells.pooled(), grouped=not self.cells.exact)

    @property
    def share(self) -> float:
        """The share of all rewards that is back within the window."""
        return _at(self.pooled.share, self.cells.ends, self.window)

    def waited_for(self, part: float) -> float:
        """Return the delay within which a part of all that comes within the window is back."""
        law = self.pooled.share
        return float(self.cells.ends[int(np.argmax(law >= part * self.share * (1.0 - 1e-12)))])

    @property
    def reached(self) -> bool:
        """Whether next to nothing comes after the window."""
        return self.later <= REACHED * self.share

    def _headline(self) -> str:
        return " ".join(self.findings)

    def _details(self) -> list[str | Table]:
        return [self.assumption]

    @property
    def findings(self) -> tuple[str, ...]:
        """The pending rewards, in sentences."""
        wait, pending = self.duration(self.window), float(self.pending.sum())
        said = []
        if self.unseen and pending >= 0.5:
            never = "" if self.reached else f" within {wait}"
            coming = min(round(pending), self.unseen)
            said.append(
                f"Of {self.unseen:,} rewards not seen, about {coming:,} are pending and"
                f" {self.unseen - coming:,} will not come{never}."
            )
        elif self.unseen:
            said.append(
                f"None of the {self.unseen:,} rewards not seen is still expected: every decision"
                " is old enough."
            )
        half = self.duration(self.waited_for(0.5))
        rate = f"Half of the rewards that come back within {wait} are back within {half}"
        if self.reached:
            said.append(f"{rate}; next to nothing comes later.")
        else:
            said.append(
                f"{rate}. Some comes later still, perhaps {100 * self.later:.2g} points more, so"
                " rates here are lower bounds and the factor is an upper bound."
            )
        law, ends = self.pooled.share, self.cells.ends
        short = np.interp(self.windows, ends, law) < (1.0 - REACHED) * self.share
        young = [self.names[i] for i in np.flatnonzero(short)]
        if young:
            said.append(
                f"Too young to be followed that long, so their rates are within less time and too"
                f" low: {listed(young)}."
            )
        if self.cut_short:
            said.append(f"No decision is older than {wait}: a longer window cannot be estimated.")
        if self.backwards:
            said.append(
                f"{self.backwards:,} rewards came before their decision: counted as back at once."
            )
        return tuple(said)

    @property
    def untimed(self) -> int:
        """Decisions whose reward was not seen and that have no time: nothing tells their age."""
        return self.unseen - int(self.cells.waiting.sum())

    @property
    def warnings(self) -> tuple[LogWarning, ...]:
        """The effect of rows without a time on the rates, if there are more than a few."""
        back, waiting = float(self.cells.back.sum()), float(self.cells.waiting.sum())
        left_out, seen = self.untimed + self.undated, back + self.undated
        rows = seen + self.unseen
        if left_out <= FEW_UNTIMED * rows:
            return ()
        kept, whole = back / (back + waiting) if back else 0.0, seen / rows
        biased = abs(kept - whole) > FEW_UNTIMED * whole
        return (
            LogWarning(
                "without-times",
                f"{left_out:,} of {rows:,.0f} rows have no time of decision or, though their reward"
                f" was seen, no time of feedback: {self.undated:,} seen and {self.untimed:,} not.",
                "They are left out of every rate. Of the rows that are left"
                f" {percent(kept)} were seen, of all rows {percent(whole)}"
                + (
                    ": the rates and the factor here are not representative of this log."
                    if biased
                    else "."
                ),
                f"Fill in the times, or audit without {option('feedback_time')}.",
                {"seen": self.undated, "not_seen": self.untimed, "rows": int(rows)},
                voids=biased,
            ),
        )

    @property
    def assumption(self) -> str:
        """The assumptions of the rates within a window."""
        said = (
            "Rates within a window assume that, within an arm, rate and delays do not change over"
            " time and delay does not depend on the reward."
        )
        if self.pending.sum() < 0.5:
            return said
        return (
            f"{said} Means are those of the rewards already back: where rewards rise or fall over"
            " time, they represent early decisions more than late ones."
        )

    def duration(self, length: float) -> str:
        """Write a length of time in words."""
        return duration_in_words(length, self.dated)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; times in days if the log has dates."""
        scale = DAY if self.dated else 1.0
        return {
            "unit": "days" if self.dated else "units of time",
            "window": self.window / scale,
            "stated": self.stated,
            "share": self.share,
            "reached": self.reached,
            "later": self.later,
            "mature_age": self.settled / scale,
            "pending": float(self.pending.sum()),
            "not_seen": self.unseen,
            "without_feedback_time": self.undated,
            "findings": list(self.findings),
        }


def _at(share: Vector, ends: Vector, when: float) -> float:
    """Return the share that is back at a time."""
    place = int(np.searchsorted(ends, when * (1.0 + 1e-9), side="right")) - 1
    return float(share[place]) if place >= 0 else 0.0


def estimate_maturity(
    decisions: Decisions, *, dated: bool, window: float | None = None, now: float | None = None
) -> Maturity | None:
    """Estimate how often rewards come back within a window, from young decisions too.

    Parameters
    ----------
    decisions
        A log with its columns named.
    dated
        Whether its times count seconds.
    window
        The window, in seconds if dated; left out, as long as enough decisions could be followed.
    now
        The moment up to which the log was followed; left out, the last one in it.

    Returns
    -------
    Maturity or None
        None without times of decision and feedback, or if nothing came back.
    """
    columns, counts = decisions.columns, decisions.counts
    if columns.time is None or columns.feedback_time is None or decisions.bins is None:
        return None
    ends = find_ends(decisions)
    if ends.seen == ends.undated or not np.isfinite([ends.last, ends.longest]).all():
        return None
    if 2 * ends.backwards > ends.seen - ends.undated:
        raise InvalidInput(
            "feedback_time",
            f"must come after `time`, but {ends.backwards:,} of {ends.seen - ends.undated:,}"
            " rewards came before their decision",
            columns.feedback_time,
            "Check that the two columns are not swapped.",
        )
    if dated and now is not None and now < ends.last < now + 1.0:
        now = ends.last  # a clock that tells whole seconds
    if now is not None and now < ends.last:
        raise InvalidInput(
            "now",
            f"must not be before the last time in the log, {moment_in_words(ends.last, dated)}",
            moment_in_words(now, dated),
            "Give a later moment.",
        )
    end = ends.last if now is None else now
    oldest = max(end - decisions.bins.first, 0.0)
    cut_short = window is not None and window > oldest > 0.0
    window = oldest if cut_short else window
    cells = count_delays(decisions, ends, end, window)
    law, last = _followed(cells, window)
    chosen = _effective(cells, last, decisions)
    settled_cell = int(np.argmax(law.share >= SETTLED * law.share[last] * (1.0 - 1e-12)))
    settled = min(float(cells.ends[settled_cell]), max(end - _median_time(decisions), 0.0))
    settled = max(settled, end - decisions.bins.last)  # an age that every row has
    return Maturity(
        end=end,
        window=float(cells.ends[last]) if window is None else window,
        stated=window is not None,
        cut_short=cut_short,
        settled=settled,
        later=_later(law.share, last),
        cells=cells,
        unseen=int(counts.rows.sum() - counts.seen.sum()),
        undated=ends.undated,
        backwards=ends.backwards,
        at_once=ends.longest <= 0.0,
        dated=dated,
        names=counts.names,
        pace=_pace(decisions),
        **chosen,
    )


def _pace(decisions: Decisions) -> float:
    """Return how many decisions were made per unit of time."""
    bins = decisions.bins
    assert bins is not None
    span = bins.last - bins.first
    return float(decisions.counts.rows.sum() - 1.0) / span if span > 0.0 else 0.0


def _median_time(decisions: Decisions) -> float:
    """Return the median moment of decision, to within a bin where counts by time are at hand."""
    bins, binned = decisions.bins, decisions.binned
    assert bins is not None
    if binned is None or not bins.step > 0.0:
        found = decisions.log.query(f"SELECT median(time) AS time FROM {decisions.sql}")
        return float(filled(found["time"])[0])
    rows = np.cumsum(sum_by(bins.bin_of(binned.place), binned.rows, bins.count))
    return float(bins.starts[int(np.searchsorted(rows, rows[-1] / 2.0))]) + bins.step / 2.0


def _followed(cells: DelayCells, window: float | None) -> tuple[DelayEstimate, int]:
    """Return the pooled law of delays and the last cell up to which it is followed."""
    back, waiting = cells.pooled()
    law = kaplan_meier(back, waiting, grouped=not cells.exact)
    if window is not None:
        inside = np.flatnonzero(cells.ends <= window * (1.0 + 1e-9))
        return law, int(inside[-1]) if len(inside) else 0
    rows = float((back + waiting).sum())
    enough = min(max(RISK, SHARE_AT_RISK * rows), rows / 4.0)
    return law, _last_cell(law.at_risk, waiting, enough, cells.exact)


def _last_cell(risk: Vector, waiting: Vector, enough: Any, exact: bool) -> Any:
    """Return the last cell with enough decisions at risk, or before which none was lost sight of.

    Where no decision is younger than a delay, the share that is back by then is a plain count and
    needs no minimum.
    """
    lost = np.cumsum(waiting, axis=-1) - (waiting if exact else 0.0)
    usable = (risk >= enough) | (lost == 0.0)
    return np.maximum(usable.sum(axis=-1) - 1, 0)


def _effective(cells: DelayCells, last: int, decisions: Decisions) -> dict[str, Vector]:
    """Return rates as effective counts, windows and rewards still to come, arm by arm."""
    counts = decisions.counts
    seen, rows = counts.seen.astype(float), counts.rows.astype(float)
    windows, pending = np.empty(len(counts)), np.zeros(len(counts))
    step = max(1, CHUNK // cells.size)
    for first in range(0, len(counts), step):
        some = slice(first, min(first + step, len(counts)))
        back, waiting = cells.tables(some.start, some.stop)
        law = kaplan_meier(back, waiting, grouped=not cells.exact)
        n = (back + waiting).sum(axis=1)
        enough = np.minimum(ARM_RISK, n / 4.0)[:, None]
        place = np.minimum(_last_cell(law.at_risk, waiting, enough, cells.exact), last)
        arms = np.arange(len(n))
        p, variance = law.share[arms, place], law.variance[arms, place]
        ordinal = np.arange(cells.size)
        events = np.where((back > 0.0) & (ordinal <= place[:, None]), ordinal, 0)
        final = events.max(axis=1)  # cell of the last reward back within the window
        lost = np.cumsum(waiting, axis=1)[arms, final]
        lost -= waiting[arms, final] if cells.exact else 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.where(variance > 0.0, np.minimum(n, p * (1.0 - p) / variance), n)
            size = np.where(size > 0.0, size, n)
        plain = lost == 0.0  # no decision is younger, so that a plain count is exact
        hits = np.cumsum(back, axis=1)[arms, place]
        timed = n > 0.0
        rows[some] = np.where(timed, np.where(plain, n, size), rows[some])
        seen[some] = np.where(timed, np.where(plain, hits, p * size), seen[some])
        windows[some] = cells.ends[place]
        pending[some] = _pending(law.share, waiting, place, cells.exact)
    return {"seen": seen, "rows": rows, "windows": windows, "pending": pending}


def _pending(share: Vector, waiting: Vector, place: Any, exact: bool) -> Vector:
    """Return how many of the waiting decisions are expected back within the window."""
    top = share[np.arange(len(share)), place][:, None]
    before = np.concatenate([np.zeros((len(share), 1)), share[:, :-1]], axis=1)
    now = share if exact else (share + before) / 2.0
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = np.where(now < 1.0, (top - now) / (1.0 - now), 0.0)
    return np.asarray((waiting * np.clip(chance, 0.0, 1.0)).sum(axis=1))


def _later(share: Vector, last: int) -> float:
    """Return what may come after the window, continued as a power law."""
    whole, half, quarter = (float(share[last // k]) for k in (1, 2, 4))
    recent, before = whole - half, half - quarter
    if recent <= 0.0:
        return 0.0
    ratio = min(recent / before, 0.9) if before > 0.0 else 0.9
    return min(recent * ratio / (1.0 - ratio), 1.0 - whole)
