"""Which rows of a log enter an audit: conditions, spans of time, arms."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from halfseen.display import Shown
from halfseen.errors import InvalidInput, did_you_mean, one_line
from halfseen.logs.columns import Columns, epoch_scale, is_dated, time_sql
from halfseen.logs.log_options import moment
from halfseen.logs.option_names import option
from halfseen.logs.queries import identifier, text
from halfseen.logs.source import Log
from halfseen.tables import brief, listed

FORBIDDEN = ("getenv", "current_setting", "getvariable", "nextval", "currval", "query", "error")
AGGREGATES = (
    "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
)


@dataclass(frozen=True)
class RowFilter:
    """Which rows of a log to use.

    Attributes
    ----------
    where
        An SQL condition on the log's columns; rows for which it is false or NULL are left out.
    since, until
        The first time that counts, and the first that no longer does.
    drop_arms
        Arms to leave out, by name.
    """

    where: str | None = None
    since: Any = None
    until: Any = None
    drop_arms: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(value not in (None, ()) for value in vars(self).values())


EVERY_ROW = RowFilter()


@dataclass(frozen=True, repr=False)
class LeftOut(Shown):
    """How many rows a filter left out, and why.

    Attributes
    ----------
    rows, of
        Rows left out, and rows of the log.
    reasons
        For each reason, in words, how many rows it left out; a row counts for the first that holds.
    """

    rows: int
    of: int
    reasons: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        if not self.rows:
            return f"Left out: none of {self.of:,} rows."
        parts = "; ".join(f"{count:,} {reason}" for reason, count in self.reasons)
        return f"Left out: {self.rows:,} of {self.of:,} rows ({parts})."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "rows": self.rows,
            "of": self.of,
            "reasons": [{"reason": reason, "rows": count} for reason, count in self.reasons],
        }


def filter_rows(log: Log, columns: Columns, rows: RowFilter) -> tuple[Log, LeftOut | None]:
    """Return a log without the rows to leave out, and how many those are.

    Examples
    --------
    >>> from halfseen.logs.source import open_log
    >>> log = open_log({"offer": ["a", "b", "b"], "sold": [1, 0, 1], "day": [1, 2, 3]})
    >>> columns = Columns("offer", "sold", time="day")
    >>> print(filter_rows(log, columns, RowFilter(where="sold = 1", since=2))[1])
    Left out: 2 of 3 rows (1 where not (sold = 1); 1 before 2).
    """
    if not rows:
        return log, None
    conditions = list(_conditions(log, columns, rows))
    kept = "true"
    asked = ["count(*) AS total"]
    for i, (condition, _) in enumerate(conditions):
        asked.append(f"count(*) FILTER ({kept} AND NOT coalesce({condition}, false)) AS out_{i}")
        kept += f" AND coalesce({condition}, false)"
    counted = _asked(log, f"SELECT {', '.join(asked)} FROM {log.relation}", rows.where)
    total = int(counted["total"][0])
    counts = [int(counted[f"out_{i}"][0]) for i in range(len(conditions))]
    if rows.drop_arms:
        _check_arms(log, columns, rows.drop_arms)
    if total and sum(counts) == total:
        given = [n for n in ("where", "since", "until", "drop_arms") if getattr(rows, n)]
        others = ", ".join(map(option, given[1:]))
        together = f"together with {others} " if others else ""
        raise InvalidInput(
            given[0],
            f"{together}must leave at least one row",
            f"none of {total:,}",
            "Leave out fewer.",
        )
    reasons = tuple((why, n) for (_, why), n in zip(conditions, counts, strict=True) if n)
    return log.narrowed(kept), LeftOut(sum(counts), total, reasons)


def condition_sql(log: Log, where: Any) -> str:
    """Return a user's condition as SQL, restricted to expressions of a single row.

    Examples
    --------
    >>> from halfseen.logs.source import open_log
    >>> condition_sql(open_log({"x": [1]}), "x > 0; DROP TABLE t")
    Traceback (most recent call last):
    halfseen.errors.InvalidInput: `where` must be one SQL condition; got 'x > 0; DROP TABLE t'. ...
    """
    if not isinstance(where, str) or not where.strip():
        raise _no_condition(where)
    condition = f"(\n{where}\n)"  # a comment at its end must not swallow what follows
    for asked in (where, condition):  # by itself, so that no bracket in it closes those around it
        parsed = _parsed(log, f"SELECT 1 WHERE {asked}")
        if parsed["error"]:
            said = one_line(str(parsed.get("error_message", "")))[:100]
            another = said.startswith("Only SELECT statements")
            raise _no_condition(where, "Another statement is not allowed" if another else said)
    statements = parsed["statements"]
    node = statements[0]["node"]
    plain = node["type"] == "SELECT_NODE" and node["from_table"]["type"] == "EMPTY"
    if len(statements) != 1 or not plain or node["where_clause"] is None or node["group_sets"]:
        raise _no_condition(where)
    if node["having"] or node["qualify"] or node["modifiers"] or node["sample"]:
        raise _no_condition(where)
    banned = {*FORBIDDEN, *log.query(AGGREGATES)["function_name"].tolist()}
    for part in _parts(node["where_clause"]):
        kind = part["class"]
        if kind == "FUNCTION" and part["function_name"].lower() in banned:
            raise _no_condition(where, f"{part['function_name']} is not allowed")
        if kind in ("SUBQUERY", "WINDOW", "PARAMETER", "LAMBDA_REF", "STAR"):
            raise _no_condition(where, f"A {kind.lower()} is not allowed")
        if kind == "COLUMN_REF":
            log.column("where", _column_meant(log, part["column_names"]))
    return condition


def _parsed(log: Log, sql: str) -> dict[str, Any]:
    """Return a parsed query, or the error in it."""
    found = log.query(f"SELECT json_serialize_sql({text(sql)}) AS tree")
    tree: dict[str, Any] = json.loads(found["tree"][0])
    return tree


def _column_meant(log: Log, names: list[str]) -> str:
    """Return the column a reference begins with; SQL ignores case, fields of structs follow."""
    folded = {column.casefold(): column for column in log.columns}
    return folded.get(names[0].casefold(), names[0])


def _parts(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every expression of a parsed condition."""
    if isinstance(tree, dict):
        if "class" in tree:
            yield tree
        for value in tree.values():
            yield from _parts(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _parts(value)


def _no_condition(where: Any, reason: str = "") -> InvalidInput:
    why = f"{reason.rstrip('.')}. " if reason else ""
    fix = f"{why}Write for example \"country = 'DE' AND price < 10\", on columns of the log."
    return InvalidInput("where", "must be one SQL condition", where, fix)


def _conditions(log: Log, columns: Columns, rows: RowFilter) -> Iterator[tuple[str, str]]:
    """Yield each condition that a row must meet, with how rows that do not are called."""
    if rows.where is not None:
        yield condition_sql(log, rows.where), f"where not ({brief(rows.where, 60)})"
    if rows.since is not None or rows.until is not None:
        if columns.time is None:
            field = "until" if rows.since is None else "since"
            fix = f"Name the column of times with {option('time')}."
            raise InvalidInput(field, "needs `time`", getattr(rows, field), fix)
        time, _ = time_sql(log, "time", columns.time)
        dated, scale = is_dated(log, columns.time), epoch_scale(log, columns.time)
        since, until = (
            moment(value, dated, field=field, scale=scale)
            for field, value in (("since", rows.since), ("until", rows.until))
        )
        if since is not None and until is not None and since >= until:
            raise InvalidInput(
                "until", f"must be after `since` ({rows.since})", rows.until, "Give a later time."
            )
        yield f"({time}) IS NOT NULL", f"without {brief(columns.time, 40)}"
        if since is not None:
            yield f"({time}) >= '{since!r}'::DOUBLE", f"before {_written(rows.since)}"
        if until is not None:
            yield f"({time}) < '{until!r}'::DOUBLE", f"from {_written(rows.until)} on"
    if rows.drop_arms:
        if columns.action is None:
            raise InvalidInput(
                "drop_arms",
                "needs `action`",
                list(rows.drop_arms),
                f"Name the column of arms with {option('action')}.",
            )
        action = f"CAST({identifier(columns.action)} AS VARCHAR)"
        names = ", ".join(text(name) for name in rows.drop_arms)
        yield f"({action} IS NULL OR {action} NOT IN ({names}))", f"of {listed(rows.drop_arms)}"


def _written(value: Any) -> str:
    return brief(value.isoformat(" ") if isinstance(value, datetime) else str(value), 40)


def _asked(log: Log, sql: str, where: str | None) -> dict[str, Any]:
    """Run a query with the user's condition; errors name what is wrong with it."""
    import duckdb

    if where is None:
        return log.query(sql)
    bound = f"DESCRIBE SELECT (\n{where}\n) AS met FROM {log.relation}"
    try:
        kind = str(log.connection.execute(bound).fetchall()[0][1])
        if kind != "BOOLEAN":
            raise _no_condition(
                where, f"It gives {kind}, not true or false: {_compared(log, where)}"
            )
        return log.query(sql)
    except (duckdb.BinderException, duckdb.InvalidInputException) as error:
        raise _no_condition(where, one_line(str(error).splitlines()[0])[:150]) from None
    except (duckdb.ConversionException, duckdb.TypeMismatchException) as error:
        if log.plain is not None and log.plain != log.relation:
            raise  # the log is read again as text
        raise _no_condition(where, one_line(str(error).splitlines()[0])[:150]) from None


def _compared(log: Log, where: str) -> str:
    """Suggest a comparison for an expression that is not a condition."""
    asked = f"SELECT met FROM (SELECT (\n{where}\n) AS met FROM {log.relation})"
    first = log.connection.execute(f"{asked} WHERE met IS NOT NULL LIMIT 1").fetchone()
    value = 1 if first is None else first[0]
    written = str(value) if isinstance(value, int | float) else text(brief(str(value), 40))
    return f"compare it, as {where} = {written}"


def _check_arms(log: Log, columns: Columns, names: tuple[str, ...]) -> None:
    """Refuse to drop an arm that the log does not have."""
    assert columns.action is not None
    action = f"CAST({identifier(columns.action)} AS VARCHAR)"
    wanted = ", ".join(text(name) for name in names)
    there = log.query(
        f"SELECT DISTINCT {action} AS name FROM {log.relation} WHERE {action} IN ({wanted})"
    )["name"].tolist()
    absent = [name for name in names if name not in there]
    if not absent:
        return
    known = log.query(
        f"SELECT DISTINCT {action} AS name FROM {log.relation} WHERE {action} IS NOT NULL"
        " ORDER BY name LIMIT 1000"
    )["name"].tolist()
    hint = did_you_mean(absent[0], known, "Name arms as the log does.", 0.5)
    raise InvalidInput("drop_arms", f"must be arms of the log ({listed(known)})", absent[0], hint)


def as_filter(where: Any, since: Any, until: Any, drop_arms: Any) -> RowFilter:
    """Return a filter from what a caller gave; one name of an arm may stand alone."""
    names = (drop_arms,) if isinstance(drop_arms, str) else tuple(drop_arms or ())
    return RowFilter(where, since, until, tuple(map(str, names)))
