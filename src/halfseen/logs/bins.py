"""Equal bins of a log's time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.logs.columns import WHOLE, Columns, time_sql
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
    unit
        Of which every time is a multiple, if that is known; else 0.
    """

    first: float
    last: float
    unit: float = 0.0

    @property
    def step(self) -> float:
        """The length of a bin."""
        return (self.last - self.first) / BINS

    @property
    def starts(self) -> Vector:
        """The first time that falls into each bin."""
        starts = self.first + self.step * np.arange(float(BINS))
        return np.ceil(starts / self.unit) * self.unit if self.unit else starts

    def place(self, time: str) -> str:
        """Return SQL for the bin of a time that is SQL itself; null where that is null."""
        if not self.step > 0.0:
            return "0"
        place = f"CAST(floor((({time}) - ({self.first!r})) / {self.step!r}) AS INTEGER)"
        return f"CASE WHEN ({time}) IS NOT NULL THEN greatest(least({place}, {BINS - 1}), 0) END"


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
    return Bins(first, last, DAY if kind == "DATE" else float(kind in WHOLE))
