"""Which column means what, and the SQL that reads each one whatever its type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.errors import InvalidInput, InWords
from halfseen.logs.queries import filled, identifier, text
from halfseen.logs.source import Log

MISSING = ("", "na", "n/a", "nan", "null", "none", "nil", "-", "missing", "?")
YES = ("true", "t", "yes", "y", "1", "1.0", "observed", "seen")
NO = ("false", "f", "no", "n", "0", "0.0", "missing", "unseen", "censored")
_SIZES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
WHOLE = (*_SIZES, *(f"U{size}" for size in _SIZES))
REAL = ("FLOAT", "DOUBLE")
ZONE = r":\d\d(\.\d+)? ?(Z|z|UTC|GMT|[+-]\d\d(:?\d\d)?)$"
CENTURY = (946_684_800.0, 4_102_444_800.0)  # 2000 to 2100 in seconds since 1970


@dataclass(frozen=True)
class Columns:
    """The columns of a log by their role.

    Parameters
    ----------
    action
        The arm that was played.
    reward
        The reward; null, NaN or an empty cell where it is missing.
    observed
        Whether the reward was seen; left out, it was seen where there is one.
    time
        When the decision was made: a timestamp, a date or a number.
    feedback_time
        When the reward came back, in the same unit.
    propensity
        The probability with which the arm was chosen.
    cost
        What it costs, or would cost, to see the reward of this decision.
    context
        A group the decision belongs to.
    unit
        What the decision is about; a unit with several rows was measured repeatedly.
    id
        A unique identifier of the decision; rows that share one are duplicates.
    features
        Numbers that describe the action; with them, the action need not be named.
    """

    action: str | None
    reward: str | None = None
    observed: str | None = None
    time: str | None = None
    feedback_time: str | None = None
    propensity: str | None = None
    cost: str | None = None
    context: str | None = None
    unit: str | None = None
    id: str | None = None
    features: tuple[str, ...] = ()

    def check(self, log: Log) -> None:
        """Refuse columns the log does not have, and a log without rewards or `observed`."""
        for name in self.features:
            log.column("features", name)
        for field, name in vars(self).items():
            needed = field == "action" and not self.features
            if field != "features" and (name is not None or needed):
                log.column(field, name)
        if self.reward is None and self.observed is None:
            raise InvalidInput(
                "reward",
                "or `observed` must be given, or nothing says which feedback is missing",
                None,
                "Name the column of rewards (empty where missing) or a column of true and false.",
            )
        self._check_zones(log)

    def _check_zones(self, log: Log) -> None:
        """Refuse two columns of times of which one has a time zone: their delays would be wrong."""
        if self.time is None or self.feedback_time is None:
            return
        zones = [_has_zone(log, name) for name in (self.time, self.feedback_time)]
        if None not in zones and zones[0] != zones[1]:
            names = (self.time, self.feedback_time)
            zoned, bare = names if zones[0] else names[::-1]
            raise InvalidInput(
                "feedback_time",
                "and `time` must both have a time zone, or neither",
                InWords(f"one in {zoned} and none in {bare}"),
                f"Add the zone to {bare}, as 2026-03-31 12:00+02.",
            )


def _kind(log: Log, name: str) -> tuple[str, str]:
    """Return the type of a column and SQL for its cells; categories are read as text."""
    kind, raw = log.columns[name].split("(")[0], identifier(name)
    return ("VARCHAR", f"CAST({raw} AS VARCHAR)") if kind == "ENUM" else (kind, raw)


def _has_zone(log: Log, name: str) -> bool | None:
    """Return whether the times of a column have a time zone; None if they are no times of day."""
    kind, raw = _kind(log, name)
    if kind.startswith("TIMESTAMP"):
        return "TIME ZONE" in kind
    if kind != "VARCHAR":
        return None
    times = f"(SELECT trim({raw}) AS x FROM {log.relation} WHERE {raw} LIKE '%:%' LIMIT 1000)"
    found = log.query(f"SELECT bool_or(regexp_matches(x, {text(ZONE)})) AS zoned FROM {times}")
    return None if np.ma.is_masked(found["zoned"]) else bool(found["zoned"][0])


def name_sql(log: Log, name: str) -> str:
    """Return SQL for the names in a column; NaN is read as NULL."""
    kind, raw = log.columns[name], identifier(name)
    return f"CASE WHEN isnan({raw}) THEN NULL ELSE {raw} END" if kind in REAL else raw


def number_sql(log: Log, field: str, name: str) -> tuple[str, str]:
    """Return SQL for a number that is null where missing, and for whether it is no number."""
    kind, raw = _kind(log, name)
    if kind in REAL:
        return f"CASE WHEN isnan({raw}) THEN NULL ELSE CAST({raw} AS DOUBLE) END", "false"
    if kind in WHOLE or kind == "DECIMAL":
        return f"CAST({raw} AS DOUBLE)", "false"
    if kind == "BOOLEAN":
        return f"CAST(CAST({raw} AS INTEGER) AS DOUBLE)", "false"
    if kind == '"NULL"':  # an all-NULL column
        return "CAST(NULL AS DOUBLE)", "false"
    if kind == "VARCHAR":
        words = ", ".join(map(text, MISSING))
        digits = f"trim({raw})"
        if log.decimal == ",":
            digits = f"replace(replace({digits}, '.', ''), ',', '.')"
        value = f"TRY_CAST({digits} AS DOUBLE)"
        gone = f"({raw} IS NULL OR lower(trim({raw})) IN ({words}))"
        bad = f"(NOT {gone} AND {value} IS NULL)"
        return f"CASE WHEN {gone} OR isnan({value}) THEN NULL ELSE {value} END", bad
    raise _wrong_type(log, field, name, "numbers")


def flag_sql(log: Log, field: str, name: str) -> tuple[str, str]:
    """Return SQL for true or false, and for whether a value is neither."""
    kind, raw = _kind(log, name)
    if kind == "BOOLEAN":
        return f"coalesce({raw}, false)", "false"
    if kind in WHOLE or kind in REAL or kind == "DECIMAL":
        return f"coalesce({raw} = 1, false)", f"coalesce({raw} NOT IN (0, 1), false)"
    if kind == "VARCHAR":
        low = f"lower(trim({raw}))"
        yes, known = (", ".join(map(text, words)) for words in (YES, (*YES, *NO, *MISSING)))
        return f"coalesce({low} IN ({yes}), false)", f"coalesce({low} NOT IN ({known}), false)"
    if kind == '"NULL"':
        return "false", "false"
    raise _wrong_type(log, field, name, "true and false")


def time_sql(log: Log, field: str, name: str) -> tuple[str, str]:
    """Return SQL for a time in seconds or in its own unit, and for whether it is neither.

    Numbers that can only be milliseconds, microseconds or nanoseconds since 1970 become seconds.
    """
    kind, raw = _kind(log, name)
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return f"epoch({raw})", "false"
    if kind == "VARCHAR":
        stamp = f"epoch(TRY_CAST({raw} AS TIMESTAMP))"
        value, _ = number_sql(log, field, name)
        words = ", ".join(map(text, MISSING))
        gone = f"({raw} IS NULL OR lower(trim({raw})) IN ({words}))"
        either = f"coalesce({stamp}, {_in_seconds(log, name, value)})"
        return either, f"(NOT {gone} AND {either} IS NULL)"
    if kind in WHOLE or kind in REAL or kind in ("DECIMAL", '"NULL"'):
        value, bad = number_sql(log, field, name)
        return _in_seconds(log, name, value), bad
    raise _wrong_type(log, field, name, "times")


def _in_seconds(log: Log, name: str, value: str) -> str:
    scale = epoch_scale(log, name)
    return value if scale in (None, 1.0) else f"({value}) * '{scale!r}'::DOUBLE"


def epoch_scale(log: Log, name: str) -> float | None:
    """Return the seconds in a unit of a column that counts time since 1970, or None.

    It does if its first numbers all lie in this century in seconds, milliseconds, microseconds or
    nanoseconds.

    Examples
    --------
    >>> from halfseen.logs.source import open_log
    >>> log = open_log({"t": [1_794_810_000_000], "day": [17]})
    >>> epoch_scale(log, "t"), epoch_scale(log, "day")
    (0.001, None)
    """
    if name not in log.scales:
        log.scales[name] = None
        kind, _ = _kind(log, name)
        if kind in (*WHOLE, *REAL, "DECIMAL", "VARCHAR"):
            value, _ = number_sql(log, "time", name)
            head = f"(SELECT {value} AS x FROM {log.relation} WHERE ({value}) > 0 LIMIT 1000)"
            found = log.query(f"SELECT min(x) AS low, max(x) AS high FROM {head}")
            low, high = filled(found["low"])[0], filled(found["high"])[0]
            for scale in (1.0, 1e-3, 1e-6, 1e-9):
                if CENTURY[0] <= low * scale and high * scale < CENTURY[1]:
                    log.scales[name] = scale
    return log.scales[name]


def is_dated(log: Log, name: str) -> bool:
    """Return whether a column of times counts seconds since 1970 once read."""
    kind, raw = _kind(log, name)
    if kind != "VARCHAR":
        dated = kind.startswith(("TIMESTAMP", "DATE"))
        return dated or epoch_scale(log, name) is not None
    head = f"(SELECT {raw} AS x FROM {log.relation} WHERE trim({raw}) <> '' LIMIT 1000)"
    found = log.query(f"SELECT count(TRY_CAST(x AS TIMESTAMP)) AS dates FROM {head}")
    return int(found["dates"][0]) > 0 or epoch_scale(log, name) is not None


def decisions_sql(
    log: Log, columns: Columns, place: str | None = None
) -> tuple[str, list[tuple[str, str, str]]]:
    """Return SQL for a table of decisions in one form, and for the cells that cannot be read.

    The table has the columns ``action``, ``reward`` (null unless seen), ``seen``, ``hidden`` (a
    reward recorded where none was seen), ``contradicts`` and, where named, ``time``,
    ``feedback_time``, ``propensity``, ``cost``, ``feature_0``, ..., ``context`` and ``unit``, and
    ``bin`` if SQL for a place in time is given; ``bad_0``, ``bad_1``, ... mark the rows whose cell
    cannot be read.
    """
    action = "'all'" if columns.action is None else name_sql(log, columns.action)
    parts = [f"{action} AS action"]
    bad: list[tuple[str, str, str]] = []

    def read(field: str, how: Any, wanted: str, name: str | None = None) -> str:
        name = name or getattr(columns, field)
        assert name is not None
        value, wrong = how(log, field, name)
        if wrong != "false":
            parts.append(f"{wrong} AS bad_{len(bad)}")
            bad.append((field, name, wanted))
        return str(value)

    reward = read("reward", number_sql, "numbers") if columns.reward else None
    flag = read("observed", flag_sql, "true and false") if columns.observed else None
    if reward is None:
        parts += ["CAST(NULL AS DOUBLE) AS reward", f"{flag} AS seen"]
        parts += ["CAST(NULL AS DOUBLE) AS hidden", "false AS contradicts"]
    elif flag is None:
        parts += [f"{reward} AS reward", f"({reward}) IS NOT NULL AS seen"]
        parts += ["CAST(NULL AS DOUBLE) AS hidden", "false AS contradicts"]
    else:
        parts += [
            f"CASE WHEN {flag} THEN {reward} END AS reward",
            f"({flag} AND ({reward}) IS NOT NULL) AS seen",
            f"CASE WHEN NOT {flag} THEN {reward} END AS hidden",
            f"({flag} AND ({reward}) IS NULL) AS contradicts",
        ]
    for field in ("time", "feedback_time"):
        if getattr(columns, field):
            parts.append(f"{read(field, time_sql, 'times')} AS {field}")
    if columns.propensity:
        parts.append(f"{read('propensity', number_sql, 'numbers')} AS propensity")
    if columns.cost:
        parts.append(f"{read('cost', number_sql, 'numbers')} AS cost")
    for i, name in enumerate(columns.features):
        parts.append(f"{read('features', number_sql, 'numbers', name)} AS feature_{i}")
    for field in ("context", "unit"):
        if getattr(columns, field):
            parts.append(f"{name_sql(log, getattr(columns, field))} AS {field}")
    if place is not None:
        parts.append(f"{place} AS bin")
    return f"(SELECT {', '.join(parts)} FROM {log.relation})", bad


class WrongType(InvalidInput):
    """A column whose type does not fit its role."""


def _wrong_type(log: Log, field: str, name: str, wanted: str) -> WrongType:
    kind = log.columns[name]
    return WrongType(field, f"must be a column of {wanted}", f"{name} ({kind})", "Name another.")
