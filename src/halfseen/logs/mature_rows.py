"""The rows that enter tests: old enough, and seen if their reward came back by that age."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from halfseen.logs.counts import Binned, Decisions
from halfseen.logs.maturity import Maturity
from halfseen.logs.queries import filled

ARMS = 20_000  # arms with the most rows that enter tests over time
COMPLETE = 0.99  # share of all that comes: then delays that differ hardly move the rate
ENOUGH = 0.3  # share of the mature rows that must be left when waiting for that


def cut_sql(value: str, cut: tuple[float, float] | None) -> str:
    """Return SQL for a number clipped at two limits; NULL stays NULL, unlike with `least`."""
    if cut is None:
        return value
    low, high = (f"'{end!r}'::DOUBLE" for end in cut)
    return f"CASE WHEN {value} IS NOT NULL THEN least(greatest({value}, {low}), {high}) END"


def mature_sql(
    decisions: Decisions, maturity: Maturity | None, cut: tuple[float, float] | None = None
) -> str:
    """Return SQL for the mature rows of a log, in the form of `decisions_sql`.

    Parameters
    ----------
    decisions
        A log with its columns named.
    maturity
        Its delays: rows younger than the mature age are left out, and a reward counts as seen if
        it came back within that age. None: all rows, as they are.
    cut
        Limits that rewards are cut at.
    """
    reward = cut_sql("reward", cut)
    if maturity is None:
        if reward == "reward":
            return decisions.sql
        return f"(SELECT * REPLACE ({reward} AS reward) FROM {decisions.sql})"
    age = maturity.settled * (1.0 + 1e-9)
    within = f"(seen AND feedback_time - time <= '{age!r}'::DOUBLE)"
    return (
        f"(SELECT * REPLACE ({within} AS seen, CASE WHEN {within} THEN {reward} END AS reward) FROM"
        f" {decisions.sql} WHERE time <= '{maturity.end - maturity.settled!r}'::DOUBLE"
        " AND (NOT seen OR feedback_time IS NOT NULL))"
    )


def count_over_time(decisions: Decisions, maturity: Maturity | None) -> Binned | None:
    """Return counts of mature rows by arm and place in time, or None if there is no time.

    Of very many arms only those with most rows enter.
    """
    counts, bins = decisions.counts, decisions.bins
    if bins is None or not bins.step > 0.0:
        return None
    if maturity is None and decisions.binned is not None:
        return decisions.binned
    rows = mature_sql(decisions, maturity)
    if len(counts) > ARMS:
        least = int(np.sort(counts.rows)[-ARMS])
        large = f"SELECT action FROM {rows} GROUP BY action HAVING count(*) >= {least}"
        rows = f"(SELECT * FROM {rows} WHERE action IN ({large}))"
    found = decisions.log.query(
        "SELECT CAST(action AS VARCHAR) AS name, bin, count(*) AS rows,"
        " count(*) FILTER (seen) AS seen, count(*) FILTER (reward = 0) AS zeros FROM"
        f" {rows} WHERE bin IS NOT NULL AND action IS NOT NULL GROUP BY action, bin"
    )
    place = {name: i for i, name in enumerate(counts.names)}
    arm = np.array([place[str(name)] for name in found["name"]], dtype=np.int64)
    whole = (np.asarray(found[c]).astype(np.int64) for c in ("bin", "rows", "seen", "zeros"))
    return Binned(arm, *whole)


def complete(maturity: Maturity) -> bool:
    """Return whether mature rows are old enough for 99% of the rewards that ever come."""
    return maturity.settled >= maturity.waited_for(COMPLETE)


def wait_until_complete(decisions: Decisions, maturity: Maturity | None) -> Maturity | None:
    """Return the delays with a mature age at which 99% of the rewards have come.

    Where too few rows are that old, it is the age that enough of them have.
    """
    if maturity is None or complete(maturity):
        return maturity
    mature = f"time <= '{maturity.end - maturity.settled!r}'::DOUBLE"
    found = decisions.log.query(
        f"SELECT quantile_cont(time, {ENOUGH}) AS old FROM {decisions.sql} WHERE {mature}"
    )
    age = min(maturity.waited_for(COMPLETE), maturity.end - float(filled(found["old"])[0]))
    return replace(maturity, settled=age) if age > maturity.settled else maturity


def within(maturity: Maturity | None) -> str:
    """Write within how long a reward counts as seen in tests, if that is less than the window."""
    if maturity is None or maturity.settled >= maturity.window:
        return ""
    return f" within {maturity.duration(maturity.settled)}"


def delay_looks_the_same(maturity: Maturity | None, what: str) -> str:
    """Return the sentence that a difference in delay would raise the same warning, if it would."""
    if maturity is None or complete(maturity):
        return ""
    return f" {what} that only answer later look the same."
