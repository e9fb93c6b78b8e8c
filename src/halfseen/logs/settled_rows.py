"""The decisions of a log with delays that are old enough for their reward to have come."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from halfseen.errors import InvalidInput
from halfseen.logs.columns import flag_sql, is_dated, number_sql, time_sql
from halfseen.logs.counts import Decisions, read_decisions
from halfseen.logs.log_options import moment
from halfseen.logs.mature_rows import wait_until_complete
from halfseen.logs.maturity import Maturity, estimate_maturity
from halfseen.logs.queries import identifier
from halfseen.logs.time_bins import DAY


def settled_rows(
    decisions: Decisions, window: float | None, now: Any
) -> tuple[Decisions, tuple[str, ...]]:
    """Leave out decisions younger than a window, and count rewards that came within it as seen.

    Parameters
    ----------
    decisions
        A log; unchanged if it has no column of times of feedback, or nothing came back.
    window
        The window, in days or the log's own unit; left out, until 99% of the rewards that ever come
        are back, or less if too few decisions are that old.
    now
        The moment up to which the log was followed; left out, the last one in it.

    Returns
    -------
    tuple
        The decisions that are left, and what was left out, in sentences.
    """
    columns = decisions.columns
    if columns.feedback_time is None:
        return decisions, ()
    if columns.time is None:
        raise InvalidInput(
            "feedback_time", "needs `time`", columns.feedback_time, "Name the column of times."
        )
    dated = is_dated(decisions.log, columns.time)
    length = None if window is None else window * (DAY if dated else 1.0)
    found = estimate_maturity(decisions, dated=dated, window=length, now=moment(now, dated))
    if found is None:
        return decisions, ("No reward has a time of feedback: all decisions count.",)
    if found.cut_short:
        raise InvalidInput(
            "window",
            f"must be shorter than the oldest decision is old, {found.duration(found.window)}",
            window,
            "Use a shorter one, or a longer log.",
        )
    age = length
    if age is None:
        complete = wait_until_complete(decisions, found)
        assert complete is not None
        age = complete.settled
    left = _within(decisions, found, age)
    gone = int(decisions.counts.rows.sum() - left.counts.rows.sum())
    late = int(decisions.counts.seen.sum() - left.counts.seen.sum())
    return left, (
        f"Rewards count as seen if they came within {found.duration(age)}: {gone:,} decisions that"
        " are younger, or whose times are unknown, are left out, since their rewards may still"
        f" come; {late:,} rewards are not counted, being late or of those decisions.",
    )


def _within(decisions: Decisions, found: Maturity, age: float) -> Decisions:
    log, columns = decisions.log, decisions.columns
    assert columns.time
    assert columns.feedback_time
    assert columns.reward
    start = time_sql(log, "time", columns.time)[0]
    back = time_sql(log, "feedback_time", columns.feedback_time)[0]
    seen = f"({number_sql(log, 'reward', columns.reward)[0]}) IS NOT NULL"
    if columns.observed:
        seen += f" AND {flag_sql(log, 'observed', columns.observed)[0]}"
    raw, limit = identifier(columns.reward), age * (1.0 + 1e-9)
    in_time = f"coalesce(({back}) - ({start}) <= '{limit!r}'::DOUBLE, false)"
    relation = (
        f"(SELECT * REPLACE (CASE WHEN {in_time} THEN {raw} END AS {raw}) FROM {log.relation}"
        f" WHERE ({start}) <= '{found.end - age!r}'::DOUBLE"
        f" AND (NOT ({seen}) OR ({back}) IS NOT NULL))"
    )
    narrow = replace(log, relation=relation, plain=None, indexed=False)
    return replace(read_decisions(narrow, columns), left_out=decisions.left_out)
