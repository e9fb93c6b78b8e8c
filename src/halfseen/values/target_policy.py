"""The probabilities of a policy on the decisions of a log."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.tables import brief, listed
from halfseen.values.log_groups import LogGroups, name_of

LOGGING = "logging"  # names the policy that made the log
SLACK = 1e-6  # by which probabilities may miss 1
Target = str | Mapping[str, Any] | Callable[..., Any]


@dataclass(frozen=True, eq=False)
class PolicyOnLog(ByValue):
    """A policy's probabilities on a log.

    Attributes
    ----------
    name
        What to call it.
    logged
        Its probability of each group's own arm.
    table
        Its probability of every arm at each place of the log; None if only that of logged arms is
        known. Sums below 1 leave the rest to arms that were not logged there.
    is_logging
        Whether it is the policy that made the log: its weights are 1.
    unknown
        Arms it plays that the log does not have.
    """

    name: str
    logged: Vector
    table: Vector | None
    is_logging: bool = False
    unknown: tuple[str, ...] = ()


def columns_of(*targets: Any) -> tuple[str, ...]:
    """Return the columns that policies are read from."""
    named = [t for t in targets if isinstance(t, str) and t != LOGGING]
    return tuple(dict.fromkeys(named))


def policy_on(log: LogGroups, field: str, target: Any, propensity: Vector) -> PolicyOnLog:
    """Return a policy's probabilities on a log.

    Parameters
    ----------
    log
        The decisions.
    field
        What messages call it.
    target
        A column of probabilities of the logged arm, ``"logging"``, probabilities by arm or by
        context and arm, or a function of columns.
    propensity
        Logging propensities, given or estimated.
    """
    if isinstance(target, str):
        if target == LOGGING:
            logged = np.where(np.isfinite(propensity), propensity, 1.0)
            # Estimated propensities are shares of the arms drawn: the draws, not the shares, have
            # the right spread.
            table = None if log.propensity is None else constant_table(log, propensity)
            if table is not None and np.any(np.abs(table.sum(axis=1) - 1.0) > SLACK):
                table = None
            return PolicyOnLog("the logging policy", logged, table, True)
        return _from_column(log, field, target)
    if callable(target):
        table = _from_function(log, field, target)
        name = getattr(target, "__name__", "the function")
        return _looked_up(log, "the function" if name == "<lambda>" else name, table)
    if isinstance(target, Mapping) and target:
        nested = [isinstance(value, Mapping) for value in target.values()]
        if all(nested):
            table, unknown = _by_context(log, field, target)
            return _looked_up(log, "the policy by context", table, unknown)
        if not any(nested):
            row, unknown = _by_arm(log, field, target)
            table = np.tile(row, (len(log.place) if log.by_row else len(log.contexts), 1))
            return _looked_up(log, mixture_name(target), table, unknown)
    raise InvalidInput(
        field,
        "must be a column, probabilities by arm or by context and arm, or a function",
        target,
        'Write for example {"a": 0.7, "b": 0.3}.',
    )


def mixture_name(target: Mapping[str, Any]) -> str:
    """Name a policy given by its probabilities of arms.

    >>> mixture_name({"a": 1}), mixture_name({"a": 0.7, "b": 0.3})
    ('always a', '70% a, 30% b')
    """
    played = {arm: float(p) for arm, p in target.items() if float(p) > 0.0}
    if len(played) == 1:
        return f"always {brief(str(next(iter(played))), 40)}"
    return listed([f"{100.0 * p:.4g}% {brief(str(arm), 30)}" for arm, p in played.items()])


def _looked_up(
    log: LogGroups, name: str, table: Vector, unknown: tuple[str, ...] = ()
) -> PolicyOnLog:
    return PolicyOnLog(name, table[log.place, log.arm], table, unknown=unknown)


def _by_arm(
    log: LogGroups, field: str, target: Mapping[Any, Any]
) -> tuple[Vector, tuple[str, ...]]:
    """Return the probability of each arm of the log, and the other arms that are played."""
    row, place = np.zeros(len(log.arms)), {name: i for i, name in enumerate(log.arms)}
    met: set[str] = set()
    others: dict[str, float] = {}
    for arm, given in target.items():
        chance = checks.number(f"{field}[{arm}]", given, at_least=0.0, at_most=1.0)
        name = name_of(arm, log.arms)
        if name in met:
            raise InvalidInput(field, "must name each arm once", name, "Keep one.")
        met.add(name)
        if name in place:
            row[place[name]] = chance
        elif chance > 0.0:
            others[name] = chance
    _check_sums(field, np.append(row, list(others.values()))[None], ("all rows",), "all arms")
    return row, tuple(others)


def _by_context(
    log: LogGroups, field: str, target: Mapping[Any, Any]
) -> tuple[Vector, tuple[str, ...]]:
    given = {name_of(context, log.contexts): row for context, row in target.items()}
    lacking = [name for name in log.contexts if name not in given]
    if lacking:
        raise InvalidInput(
            field,
            "must name every context of the log",
            f"none for {listed(lacking)}",
            "Add them, or name the column of contexts that the table is about.",
        )
    rows = [_by_arm(log, f"{field}[{name}]", given[name]) for name in log.contexts]
    table = np.stack([row for row, _ in rows])
    unknown = dict.fromkeys(name for _, others in rows for name in others)
    return (table[log.context] if log.by_row else table), tuple(unknown)


def _from_function(log: LogGroups, field: str, rule: Callable[..., Any]) -> Vector:
    names = np.array(log.contexts, dtype=object)
    if "context" in log.names:
        raise InvalidInput(
            "features",
            "must not have the name under which a function gets the contexts",
            "context",
            "Rename that column.",
        )
    if log.by_row:
        columns = dict(zip(log.names, log.features.T, strict=True)) | {
            "context": names[log.context]
        }
    else:
        columns = {"context": names}
    shape = len(columns["context"]), len(log.arms)
    answer = rule(columns)
    if isinstance(answer, Mapping):
        empty = np.zeros(shape[0])
        by_name = {name_of(arm, log.arms): given for arm, given in answer.items()}
        unknown = [name for name in by_name if name not in log.arms]
        if unknown:
            raise InvalidInput(
                field, "must give arms of the log", listed(unknown), "Correct their names."
            )
        answer = [by_name.get(arm, empty) for arm in log.arms]
        other = [np.shape(one) for one in answer if np.shape(one) not in ((), shape[:1])]
        if other:
            raise InvalidInput(
                field,
                f"must return for every arm a number, or a list with one per row ({shape[0]:,})",
                f"shape {other[0]}",
                "Return a dictionary of one array per arm, each with an entry per row.",
            )
        answer = np.transpose([np.broadcast_to(one, shape[:1]) for one in answer])
    try:
        table = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape != shape:
        raise InvalidInput(
            field,
            f"must return {shape[0]:,} rows of probabilities, one per arm ({shape[1]})",
            f"shape {table.shape}",
            "Return a dictionary of one array per arm, or an array of that shape.",
        )
    wrong = ~((table >= 0.0) & (table <= 1.0 + SLACK))
    if wrong.any():
        raise InvalidInput(field, "must return probabilities", float(table[wrong][0]), "Check it.")
    _check_sums(field, table, log.contexts if not log.by_row else (), "each row")
    return table


def _from_column(log: LogGroups, field: str, column: str) -> PolicyOnLog:
    logged = log.extra[column]
    wrong = ~((logged >= 0.0) & (logged <= 1.0))
    if wrong.any():
        raise InvalidInput(
            field,
            "must hold the policy's probability of the logged arm, from 0 to 1, in every row",
            f"{int(log.sample.count[wrong].sum()):,} other cells in column {column}",
            "Fill them in, or leave those rows out.",
        )
    table = constant_table(log, logged)
    if table is not None:
        sums = table.sum(axis=1)
        over = np.flatnonzero(sums > 1.0 + SLACK)
        if len(over):
            _check_sums(field, table[over], [log.contexts[i] for i in over], f"column {column}")
    return PolicyOnLog(f"column {brief(column, 40)}", logged, table)


def constant_table(log: LogGroups, logged: Vector) -> Vector | None:
    """Return a column as a table of contexts and arms, if it depends on nothing else."""
    if log.by_row or not np.all(np.isfinite(logged)):
        return None
    number = log.by_cell(np.ones(len(logged)))
    with np.errstate(invalid="ignore", divide="ignore"):
        table = np.where(number > 0.0, log.by_cell(logged) / number, 0.0)
    away = np.abs(logged - table[log.context, log.arm])
    return table if bool(np.all(away <= SLACK)) else None


def _check_sums(field: str, table: Vector, names: Any, what: str) -> None:
    sums = table.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1.0) > SLACK)
    if len(wrong):
        i = int(wrong[0])
        where = f" in {names[i]}" if len(names) > 1 else ""
        total = f"{sums[i]:.6g}" if math.isfinite(sums[i]) else str(sums[i])
        raise InvalidInput(
            field,
            "must hold probabilities that sum to 1",
            f"a sum of {total} over {what}{where}",
            "Give every arm that may be played.",
        )
