"""Which column means what, and the SQL that reads each one whatever its type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from halfseen.errors import InvalidInput
from halfseen.logs.source import Log, identifier, text

MISSING = ("", "na", "n/a", "nan", "null", "none", "nil", "-", "missing", "?")
YES = ("true", "t", "yes", "y", "1", "1.0", "observed", "seen")
NO = ("false", "f", "no", "n", "0", "0.0", "missing", "unseen", "censored")
_SIZES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
WHOLE = (*_SIZES, *(f"U{size}" for size in _SIZES))
REAL = ("FLOAT", "DOUBLE")


@dataclass(frozen=True)
class Columns:
    """The columns of a log by what they mean.

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
        What the decision is about; one that stands in several rows was measured again.
    id
        What tells decisions apart; one that stands in several rows was written twice.
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
        """Refuse columns the log does not have, and a log that cannot tell what was seen."""
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


def number_sql(log: Log, field: str, name: str) -> tuple[str, str]:
    """Return SQL for a number that is null where missing, and for whether it is no number."""
    kind, raw = log.columns[name].split("(")[0], identifier(name)
    if kind in REAL:
        return f"CASE WHEN isnan({raw}) THEN NULL ELSE CAST({raw} AS DOUBLE) END", "false"
    if kind in WHOLE or kind == "DECIMAL":
        return f"CAST({raw} AS DOUBLE)", "false"
    if kind == "BOOLEAN":
        return f"CAST(CAST({raw} AS INTEGER) AS DOUBLE)", "false"
    if kind == '"NULL"':  # a column in which nothing stands
        return "CAST(NULL AS DOUBLE)", "false"
    if kind == "VARCHAR":
        words = ", ".join(map(text, MISSING))
        value = f"TRY_CAST(trim({raw}) AS DOUBLE)"
        gone = f"({raw} IS NULL OR lower(trim({raw})) IN ({words}))"
        bad = f"(NOT {gone} AND {value} IS NULL)"
        return f"CASE WHEN {gone} OR isnan({value}) THEN NULL ELSE {value} END", bad
    raise _wrong_type(log, field, name, "numbers")


def flag_sql(log: Log, field: str, name: str) -> tuple[str, str]:
    """Return SQL for true or false, and for whether a value is neither."""
    kind, raw = log.columns[name].split("(")[0], identifier(name)
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
    """Return SQL for a time as seconds or as the number it is, and for whether it is neither."""
    kind, raw = log.columns[name].split("(")[0], identifier(name)
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return f"epoch({raw})", "false"
    if kind == "VARCHAR":
        stamp = f"epoch(TRY_CAST({raw} AS TIMESTAMP))"
        value, _ = number_sql(log, field, name)
        words = ", ".join(map(text, MISSING))
        gone = f"({raw} IS NULL OR lower(trim({raw})) IN ({words}))"
        either = f"coalesce({stamp}, {value})"
        return either, f"(NOT {gone} AND {either} IS NULL)"
    if kind in WHOLE or kind in REAL or kind in ("DECIMAL", '"NULL"'):
        return number_sql(log, field, name)
    raise _wrong_type(log, field, name, "times")


def is_dated(log: Log, name: str) -> bool:
    """Say whether a column of times counts seconds since 1970 once read."""
    if log.columns[name] != "VARCHAR":
        return log.columns[name].startswith(("TIMESTAMP", "DATE"))
    raw = identifier(name)
    head = f"(SELECT {raw} FROM {log.relation} WHERE trim({raw}) <> '' LIMIT 1000)"
    found = log.query(f"SELECT count(TRY_CAST({raw} AS TIMESTAMP)) AS dates FROM {head}")
    return int(found["dates"][0]) > 0


def decisions_sql(
    log: Log, columns: Columns, place: str | None = None
) -> tuple[str, list[tuple[str, str, str]]]:
    """Return SQL for a table of decisions in one form, and what makes a cell bad.

    The table has the columns ``action``, ``reward`` (null unless seen), ``seen``, ``hidden`` (a
    reward that stands where none was seen), ``contradicts`` and, where named, ``time``,
    ``feedback_time``, ``propensity``, ``cost``, ``feature_0``, ..., ``context`` and ``unit``, and
    ``bin`` if SQL for a place in time is given; ``bad_0``, ``bad_1``, ... mark the rows whose cell
    cannot be read.
    """
    action = "'all'" if columns.action is None else identifier(columns.action)
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
            parts.append(f"{identifier(getattr(columns, field))} AS {field}")
    if place is not None:
        parts.append(f"{place} AS bin")
    return f"(SELECT {', '.join(parts)} FROM {log.relation})", bad


class WrongType(InvalidInput):
    """A column that cannot mean what it is named for."""


def _wrong_type(log: Log, field: str, name: str, wanted: str) -> WrongType:
    kind = log.columns[name]
    return WrongType(field, f"must be a column of {wanted}", f"{name} ({kind})", "Name another.")
