"""Equal bins of a log's time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.logs.columns import WHOLE, Columns, epoch_scale, time_sql
from halfseen.logs.source import Log, filled, identifier

BINS = 128
DAY = 86_400.0


@dataclass(frozen=True)
class Bins:
    """A span of time in equal bins.

    Attributes
    ----------
    first, last
        The span, in seconds or in the log's own unit.
    step
        The length of a bin.
    sql
        SQL for the bin of a row of the log, null if it has no time.
    unit
        Of which every time is a multiple, if that is known; else 0.
    """

    first: float
    last: float
    step: float
    sql: str
    unit: float = 0.0

    @property
    def starts(self) -> Vector:
        """The first time that falls into each bin."""
        starts = self.first + self.step * np.arange(float(BINS))
        return np.ceil(starts / self.unit) * self.unit if self.unit else starts


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
    step = (last - first) / BINS
    place = f"CAST(floor((({value}) - ({first!r})) / {step!r}) AS INTEGER)"
    if kind.startswith("TIMESTAMP"):  # in whole microseconds: faster
        ticks = max(1, math.ceil(1e6 * step))
        step = ticks / 1e6 if step > 0.0 else 0.0
        value = f"epoch_us({raw})"
        place = f"({value} - ({math.floor(1e6 * first)})) // {ticks}"
    inside = f"CASE WHEN ({value}) IS NOT NULL THEN greatest(least({place}, {BINS - 1}), 0) END"
    unit = DAY if kind == "DATE" else float(kind in WHOLE) * (epoch_scale(log, columns.time) or 1.0)
    return Bins(first, last, step, inside if step > 0.0 else "0", unit)
