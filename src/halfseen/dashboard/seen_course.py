"""The share seen of each arm over time, corrected for pending rewards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.tables import Z95

BINS = 30
EACH = 20  # target number of decisions of an arm per interval of time
LINES = 7  # arms drawn at once: as many as there are colours
ARMS = 200  # arms with a time series: those with most decisions
LEAST = 5.0  # fewest effective decisions for which a share is shown

_SHOWN = """
    WITH shown AS (
        SELECT arm, epoch_us(shown_at) AS us, state FROM read_parquet(?) WHERE state <> 'held'
    ), many AS (SELECT arm FROM shown GROUP BY arm ORDER BY count(*) DESC, arm LIMIT {lines})"""
_SPAN = (
    "SELECT count(*), count(DISTINCT arm), min(us), max(us) FROM shown SEMI JOIN many USING (arm)"
)
_CELLS = """
    SELECT arm, least({bins} - 1, floor({bins} * (us - {first})::DOUBLE / {span})) AS place,
        count(*), count(*) FILTER (state = 'observed'), count(*) FILTER (state = 'pending'),
        coalesce(avg(epoch_us(now()::TIMESTAMP) - us) FILTER (state = 'pending'), 0) / 1e6
    FROM shown WHERE arm IN (SELECT arm FROM many) GROUP BY 1, 2 ORDER BY 1, 2"""


def seen_course(file: Path, delays: list[dict[str, float]], window: float) -> list[dict[str, Any]]:
    """Return the share seen within the window per arm and interval of time, with 95% intervals.

    A pending decision counts with the share of rewards expected by its age from the delay curve;
    shares based on too few decisions are omitted.

    Parameters
    ----------
    file
        A row per decision, as `export_file` writes it.
    delays
        The delay curve of all arms.
    window
        Of the loop, in seconds.
    """
    import duckdb

    drawn, shown = (_SHOWN.format(lines=lines) for lines in (LINES, ARMS))
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        whole = connection.execute(f"{drawn} {_SPAN}", [str(file)]).fetchone()
        count, arms, first, last = whole or (0, 0, 0, 0)
        if not count:
            return []
        bins = int(np.clip(count // (EACH * arms), 1, BINS))
        span = max(1, last - first)
        cells = _CELLS.format(bins=bins, first=first, span=span)
        rows = connection.execute(f"{shown} {cells}", [str(file)]).fetchall()
    numbers = np.array([row[1:] for row in rows], dtype=float)
    place, decisions, seen, pending, age = numbers.T
    chance = _had_chance(age, delays, window)
    share, low, high, known = corrected(seen, decisions - seen - pending, pending, chance)
    at = (first + (place + 0.5) * span / bins) / 1000.0  # milliseconds
    return [
        {
            "arm": row[0],
            "at": float(at[k]),
            "decisions": int(decisions[k]),
            "seen": int(seen[k]),
            "share": float(share[k]),
            "low": float(low[k]),
            "high": float(high[k]),
        }
        for k, row in enumerate(rows)
        if known[k] >= LEAST or bins == 1
    ]


def _had_chance(age: Vector, delays: list[dict[str, float]], window: float) -> Vector:
    """Return the share of the rewards within the window that have arrived by an age."""
    if not delays:
        return np.minimum(1.0, age / window)
    times = np.array([row["delay"] for row in delays])
    shares = np.array([0.0] + [row["share"] for row in delays])
    found: Vector = shares[np.searchsorted(times, age, side="right")] / shares[-1]
    return found


def corrected(
    seen: Vector, missing: Vector, pending: Vector, chance: Vector
) -> tuple[Vector, Vector, Vector, Vector]:
    """Return the eventual share seen, its 95% interval and the effective number of decisions.

    The share is the maximum likelihood estimate if a reward that will come has already come with
    the probability `chance`; the interval is Wilson's with the effective number of decisions.
    """
    low, high = np.zeros_like(seen), np.ones_like(seen)
    for _ in range(50):
        middle = (low + high) / 2.0
        rises = seen / middle > missing / (1 - middle) + pending * chance / (1 - middle * chance)
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    share = np.round((low + high) / 2.0, 12)
    had = np.where(seen > 0.0, seen / np.maximum(share, 1e-12), missing + pending * chance)
    likely = (seen + 2.0) / (had + 4.0)
    known = had * (1.0 - likely) / (1.0 - likely * had / (seen + missing + pending))
    known = np.maximum(known, 1e-9)
    centre = (share + Z95**2 / (2 * known)) / (1 + Z95**2 / known)
    spread = share * (1 - share) / known + Z95**2 / (4 * known**2)
    half = Z95 / (1 + Z95**2 / known) * np.sqrt(spread)
    return share, np.maximum(0.0, centre - half), np.minimum(1.0, centre + half), known
