"""Bins of a log's time: whole parts of a day, whole weeks, or equal parts if not dates."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.logs.columns import WHOLE, Columns, epoch_scale, is_dated, time_sql
from halfseen.logs.queries import filled, identifier
from halfseen.logs.source import Log
from halfseen.tables import show

BINS = 128  # largest number of bins
DAY = 86_400.0
WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")


@dataclass(frozen=True)
class Bins:
    """A span of time in bins, and in places: bins, or weekdays of bins of whole weeks.

    Attributes
    ----------
    first, last
        The span, in seconds or in the log's own unit.
    origin, step
        Where the first bin begins, and the length of a bin.
    count
        How many bins there are.
    sql
        SQL for the place of a row of the log, null if it has no time.
    unit
        A unit of which every time is a multiple, if one is known; else 0.
    days
        How many calendar days the log touches; 0 if its times are no dates.
    """

    first: float
    last: float
    origin: float
    step: float
    count: int
    sql: str
    unit: float = 0.0
    days: int = 0

    @property
    def weekly(self) -> bool:
        """Whether bins are whole weeks, so that a place is a weekday of a bin."""
        return self.days > BINS

    @property
    def places(self) -> int:
        """How many places there are."""
        return 7 * self.count if self.weekly else self.count

    @property
    def starts(self) -> Vector:
        """The first time that falls into each bin."""
        starts = self.origin + self.step * np.arange(float(self.count))
        starts[0] = max(starts[0], self.first)
        return np.ceil(starts / self.unit) * self.unit if self.unit else starts

    def bin_of(self, place: NDArray[Any]) -> NDArray[Any]:
        """Return the bin of each place."""
        return place // 7 if self.weekly else place

    def weekday_of(self, place: NDArray[Any]) -> NDArray[Any]:
        """Return the weekday of each place, Monday being 0."""
        offset = int(self.origin // DAY) + 3
        day = place if self.weekly else self.day_of(place)
        return (day + offset) % 7

    def week_of(self, place: NDArray[Any]) -> NDArray[Any]:
        """Return the week of each place; of long logs, the bin of several weeks."""
        return place // 7 if self.weekly else self.day_of(place) // 7

    def day_of(self, place: NDArray[Any]) -> NDArray[Any]:
        """Return the day of each place, counted from the first; of long logs, the place."""
        return place if self.weekly else place // round(DAY / self.step)


def find_bins(log: Log, columns: Columns) -> Bins | None:
    """Return bins over a log's time, or None if it has none.

    Where order is kept by reading a time as a number, its ends are asked for as they are stored:
    Parquet files answer that from their index.
    """
    if columns.time is None:
        return None
    value, _ = time_sql(log, "time", columns.time)
    raw, kind = identifier(columns.time), log.columns[columns.time].split("(")[0]
    ends = np.full(2, np.nan)
    if kind in (*WHOLE, "DATE", "DECIMAL") or kind.startswith("TIMESTAMP"):
        ends = filled(
            log.query(
                f"SELECT {value} AS time FROM (SELECT unnest([min({raw}), max({raw})]) AS {raw}"
                f" FROM {log.relation})"
            )["time"]
        )
    if np.isnan(ends).any():
        found = log.query(
            f"SELECT min(time) AS first, max(time) AS last FROM"
            f" (SELECT {value} AS time FROM {log.relation})"
        )
        ends = np.concatenate([filled(found["first"]), filled(found["last"])])
    first, last = ends.tolist()
    if math.isnan(first):
        return None
    if not math.isfinite(last - first):
        raise InvalidInput(
            "time",
            "must hold times that are finite",
            f"{first} to {last} in column {columns.time}",
            "Correct them, or empty them where they stand for missing.",
        )
    scale = epoch_scale(log, columns.time) or 1.0
    whole = DAY if kind == "DATE" else float(kind in WHOLE) * scale
    dated = is_dated(log, columns.time)
    if dated:
        origin = math.floor(first / DAY) * DAY
        days = math.floor((last - origin) / DAY) + 1
        if days > BINS:
            length = 7 * math.ceil(days / (7 * BINS))
            step, count, top = length * DAY, math.ceil(days / length), days - 1
        else:
            parts = BINS // days
            step, count, top = DAY / parts, days * parts, days * parts - 1
    else:
        origin, step, count, days, top = first, (last - first) / BINS, BINS, 0, BINS - 1
    if not last > first:
        return Bins(first, last, origin, 0.0, 1, "0", whole, days)
    if kind.startswith("TIMESTAMP"):  # whole microseconds are fast, and never leave the bins
        parts = 1 if days > BINS else round(DAY / step)
        since = f"(epoch_us({raw}) - ({round(1e6 * origin)}))"
        place = (
            f"{since} * {parts} // {round(1e6 * DAY)}"
            if parts > 1
            else (f"{since} // {round(1e6 * DAY)}")
        )
    else:
        size = DAY if days > BINS else step
        since = f"(({value}) - '{origin!r}'::DOUBLE)"
        inside = f"CAST(floor({since} / '{size!r}'::DOUBLE) AS INTEGER)"
        place = f"CASE WHEN ({value}) IS NOT NULL THEN greatest(least({inside}, {top}), 0) END"
    sql = f"{place} // {length} * 7 + {place} % 7" if days > BINS else place
    return Bins(first, last, origin, step, count, sql, whole, days)


def moment_in_words(time: float, dated: bool, step: float = 0.0) -> str:
    """Write a time, no finer than steps are.

    >>> moment_in_words(172800.0, True, 86400.0), moment_in_words(1794810000.0, False)
    ('1970-01-03', '1,794,810,000')
    """
    if dated:
        with contextlib.suppress(OverflowError):
            moment = datetime(1970, 1, 1) + timedelta(seconds=time)
            return f"{moment:%Y-%m-%d}" if step >= 21_600.0 else f"{moment:%Y-%m-%d %H:%M}"
    return f"{time:,.0f}" if 1e5 <= abs(time) < 1e15 else f"{time:.6g}"


def duration_in_words(length: float, dated: bool) -> str:
    """Write a length of time.

    >>> duration_in_words(16.2 * 86400, True), duration_in_words(5400, True)
    ('16 days', '1.5 hours')
    >>> duration_in_words(120.0, False)
    '120 units of time'
    """
    if not dated:
        return f"{show(length)} units of time"
    for name, size in (("day", DAY), ("hour", 3600.0), ("minute", 60.0), ("second", 1.0)):
        if length >= 0.9995 * size:
            number = f"{length / size:.2g}" if length < 99.5 * size else f"{length / size:,.0f}"
            return f"{number} {name}{'' if number == '1' else 's'}"
    return f"{length:.2g} seconds"
