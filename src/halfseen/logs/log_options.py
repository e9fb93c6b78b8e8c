"""Options applied before a log is counted: what empty means, the window, and the end."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from halfseen import checks
from halfseen.errors import InvalidInput
from halfseen.logs.columns import MISSING, REAL, Columns, is_dated, time_sql
from halfseen.logs.queries import filled, identifier, text
from halfseen.logs.source import Log
from halfseen.logs.time_bins import DAY


def prepared(
    log: Log, columns: Columns, window: float | None, now: Any, empty_means: float | None
) -> tuple[Log, list[str]]:
    """Return the log with the options applied, and what that leaves out, in sentences.

    Parameters
    ----------
    log
        An open log.
    columns
        Which column means what.
    window, now, empty_means
        As in `halfseen.audit`.
    """
    columns.check(log)
    notes: list[str] = []
    if now is not None and columns.time is None:
        raise InvalidInput("now", "needs `time`", now, "Name the column of times.")
    if window is not None:
        checks.number("window", window, above=0.0, fix="Use a number of days.")
        if columns.time is None:
            raise InvalidInput("window", "needs `time`", window, "Name the column of times.")
        if columns.feedback_time is None:
            log, young = without_young(log, columns.time, window, now)
            notes.append(
                f"{young:,} decisions are younger than the window and left out: their rewards may"
                " still come."
            )
    if empty_means is not None:
        value = checks.number("empty_means", empty_means, fix="Use 0.")
        if columns.reward is None or columns.observed is not None or columns.feedback_time:
            raise InvalidInput(
                "empty_means",
                "needs `reward`, and neither `observed` nor `feedback_time`",
                empty_means,
                "Name the column of rewards only; with delays, leave out young rows by `window`.",
            )
        log = with_empty_as(log, columns.reward, value)
    return log, notes


def moment(
    when: Any, dated: bool, *, field: str = "now", scale: float | None = None
) -> float | None:
    """Return a moment as seconds since 1970 or as the number it is.

    Parameters
    ----------
    when
        A date, a moment, text for one, or a number.
    dated
        Whether the log's times are dates.
    field
        What messages call it.
    scale
        Seconds in a unit of the log's numbers, if they count time since 1970.

    Examples
    --------
    >>> moment("1970-01-02", True), moment(5, False)
    (86400.0, 5.0)
    """
    if when is None:
        return None
    if dated and isinstance(when, str):
        with suppress(ValueError):
            when = datetime.fromisoformat(when.strip())
    if isinstance(when, date) and not isinstance(when, datetime):
        when = datetime(when.year, when.month, when.day)
    if isinstance(when, datetime):
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    try:
        value = math.nan if dated and scale is None else float(when) * (scale or 1.0)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        kind = "a date such as 2026-03-31 or 2026-03-31 12:00" if dated else "a number"
        raise InvalidInput(field, f"must be {kind}", when, "Write it as the times in the log are.")
    return value


def without_young(log: Log, time: str, window: float, now: Any) -> tuple[Log, int]:
    """Return the log without rows younger than a window, and how many those are.

    Rows without a time stay: nothing says how old they are.
    """
    value, _ = time_sql(log, "time", time)
    dated = is_dated(log, time)
    end = moment(now, dated)
    if end is None:
        end = float(
            filled(log.query(f"SELECT max({value}) AS last FROM {log.relation}")["last"])[0]
        )
    if math.isnan(end):
        return log, 0
    cut = end - window * (DAY if dated else 1.0)

    def kept(relation: str, value: str) -> str:
        return f"(SELECT * FROM {relation} WHERE coalesce({value} <= '{cut!r}'::DOUBLE, true))"

    plain = None if log.plain is None else kept(log.plain, time_sql(_texts(log), "time", time)[0])
    asked = f"SELECT count(*) AS n FROM {log.relation} WHERE {value} > '{cut!r}'::DOUBLE"
    young = int(log.query(asked)["n"][0])
    if young == int(log.query(f"SELECT count(*) AS n FROM {log.relation}")["n"][0]):
        unit = "days" if dated else f"units of {time}"
        raise InvalidInput(
            "window",
            f"must be shorter than the oldest decision is old; it counts {unit}",
            window,
            "Choose a shorter window.",
        )
    return replace(log, relation=kept(log.relation, value), plain=plain), young


def with_empty_as(log: Log, reward: str, value: float) -> Log:
    """Return the log with a number where its rewards are empty."""
    raw, words = identifier(reward), ", ".join(map(text, MISSING))
    kind = log.columns[reward].split("(")[0]

    def written(relation: str, kind: str) -> str:
        number = f"'{value!r}'::DOUBLE"
        empty = f"{raw} IS NULL"
        if kind in REAL:
            empty = f"({empty} OR isnan({raw}))"
        if kind == "VARCHAR":
            empty = f"({empty} OR lower(trim({raw})) IN ({words}))"
            number = f"CAST({number} AS VARCHAR)"
        cell = raw if kind == "VARCHAR" else f"CAST({raw} AS DOUBLE)"
        return (
            f"(SELECT * REPLACE (CASE WHEN {empty} THEN {number} ELSE {cell} END AS {raw})"
            f" FROM {relation})"
        )

    columns = log.columns | {reward: "VARCHAR" if kind == "VARCHAR" else "DOUBLE"}
    plain = None if log.plain is None else written(log.plain, "VARCHAR")
    return replace(log, relation=written(log.relation, kind), columns=columns, plain=plain)


def _texts(log: Log) -> Log:
    relation = log.relation if log.plain is None else log.plain
    return replace(log, relation=relation, columns=dict.fromkeys(log.columns, "VARCHAR"), scales={})
