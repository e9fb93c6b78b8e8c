r"""SQL that groups the decisions of a log for the estimators.

Rewards and probabilities of a short log are grouped by exact value. In a long one, rewards that are
not 0 and 1, and probabilities that differ from row to row, are grouped by interval. A group then
has the probabilities and the reward at which sums of weights, and of weighted rewards, are those of
its decisions; only the spread of the weights inside an interval is lost, which is a share
:math:`\delta^2/12` of the squares for an interval of logarithms of length :math:`\delta`. The
largest weights of each cell are kept one by one: the tail is judged by them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from halfseen.logs import reward_cells
from halfseen.logs.counts import Decisions
from halfseen.logs.queries import filled
from halfseen.logs.source import Log

GROUPS = 400_000  # number of groups that intervals are chosen for
FEW = 1000  # distinct values of a probability up to which each is a group
LEAST, MOST = 16, 1000  # intervals of a reward or a probability


@dataclass(frozen=True)
class GroupColumns:
    """Columns of `halfseen.logs.columns.decisions_sql` that groups agree in.

    Attributes
    ----------
    context
        SQL of the context.
    numbers
        The columns of probabilities.
    propensity, target, observe
        Which of them are the logging propensity, the policy's probability of the logged arm and the
        probability of being seen; None where there is no such column.
    """

    context: str
    numbers: tuple[str, ...]
    propensity: str | None = None
    target: str | None = None
    observe: str | None = None


def grouped_sql(decisions: Decisions, columns: GroupColumns, contexts: int, exact_rows: int) -> str:
    """Return SQL of groups: their keys, ``count``, ``reward`` and ``within``.

    Parameters
    ----------
    decisions
        The log.
    columns
        What groups agree in.
    contexts
        The number of contexts.
    exact_rows
        Decisions up to which nothing is grouped by interval.
    """
    log, counts = decisions.log, decisions.counts
    rows = (
        f"(SELECT action, {columns.context} AS context, seen, reward"
        f"{''.join(f', {name}' for name in columns.numbers)} FROM {decisions.sql}"
        " WHERE action IS NOT NULL)"
    )
    if counts.rows.sum() > exact_rows and columns.numbers:
        ends = _varied(log, rows, columns.numbers)
        if ends:
            return _in_intervals(decisions, columns, rows, contexts * len(counts), ends)
    exact = counts.binary or counts.seen.sum() <= exact_rows
    value = "reward" if exact else reward_cells.bin_sql(log, f"{rows} WHERE seen")
    return (
        f"(SELECT * EXCLUDE (reward), {value} AS bin, count(*) AS count, avg(reward) AS reward,"
        f" coalesce(var_pop(reward), 0.0) AS within FROM {rows} GROUP BY ALL)"
    )


def _varied(log: Log, rows: str, numbers: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the ends of the logarithms of each column of too many distinct probabilities."""
    asked = []
    for name in numbers:
        inside = f"FILTER ({_valid(name)})"
        asked += [f"approx_count_distinct({name}) AS n_{name}"]
        asked += [f"min({name}) {inside} AS low_{name}, max({name}) {inside} AS high_{name}"]
    found = {
        name: float(filled(x)[0])
        for name, x in log.query(f"SELECT {', '.join(asked)} FROM {rows}").items()
    }
    return {
        name: (math.log(found[f"low_{name}"]), math.log(found[f"high_{name}"]))
        for name in numbers
        if found[f"n_{name}"] > FEW and found[f"low_{name}"] < found[f"high_{name}"]
    }


def _valid(name: str) -> str:
    return f"({name} > 0 AND {name} <= 1)"


def _in_intervals(
    decisions: Decisions,
    columns: GroupColumns,
    rows: str,
    cells: int,
    ends: dict[str, tuple[float, float]],
) -> str:
    binary = decisions.counts.binary
    room, dimensions = GROUPS / cells / (3.0 if binary else 1.0), len(ends) + (not binary)
    bins = int(min(max(room ** (1.0 / dimensions), LEAST), MOST))
    value = "reward"
    if not binary:
        value = reward_cells.bin_sql(decisions.log, f"{rows} WHERE seen", bins)
    part = {name: _valid(name) for name in columns.numbers}

    def factor(name: str | None, power: int) -> str:
        if name is None:
            return "1.0"
        return f"(CASE WHEN {part[name]} THEN {'' if power > 0 else '1.0 / '}{name} ELSE 1.0 END)"

    inverse = factor(columns.propensity, -1)
    played = "1.0" if columns.target is None else f"coalesce({columns.target}, 0.0)"
    weighed = f"SELECT *, {inverse} AS inverse, {inverse} * {played} AS played,"
    weighed += f" {inverse} * {played} * {factor(columns.observe, -1)} AS weight FROM {rows}"
    size = float(decisions.counts.rows.sum())
    tail = int(min(3.0 * math.sqrt(size) + 2.0, GROUPS / 2.0 / cells + 1.0))
    edges = (
        f"SELECT action, context, list_min(max(weight, {tail})) AS edge FROM weighed"
        " WHERE seen GROUP BY ALL"
    )
    keys, values = [], []
    for name in columns.numbers:
        if name in ends:
            low, high = ends[name]
            step = (high - low) / bins
            place = f"CAST(floor((ln({name}) - {_double(low)}) / {_double(step)}) AS SMALLINT)"
            keys.append(f"CASE WHEN {part[name]} AND NOT heavy THEN {place} END AS place_{name}")
            keys.append(f"CASE WHEN heavy OR NOT {part[name]} THEN {name} END AS exact_{name}")
        else:
            keys.append(f"{name} AS exact_{name}")
        values.append(f"{_mean(name, columns, part[name])} AS {name}")
    return (
        f"(WITH weighed AS NOT MATERIALIZED ({weighed}), edges AS ({edges}),"
        " told AS (SELECT weighed.*, seen AND coalesce(weight >= edge, false) AS heavy"
        " FROM weighed LEFT JOIN edges ON weighed.action = edges.action"
        " AND weighed.context IS NOT DISTINCT FROM edges.context),"
        f" keyed AS (SELECT *, {', '.join(keys)}, {value} AS bin FROM told)"
        f" SELECT action, context, seen, bin, {', '.join(values)}, count(*) AS count,"
        " CASE WHEN sum(weight) > 0 THEN sum(reward * weight) / sum(weight) ELSE avg(reward) END"
        " AS reward, coalesce(var_pop(reward), 0.0) AS within FROM keyed GROUP BY action, context,"
        f" seen, bin, {', '.join(key.rpartition(' AS ')[2] for key in keys)})"
    )


def _mean(name: str, columns: GroupColumns, valid: str) -> str:
    """Return SQL of a group's probability: that at which sums of weights are right."""
    if name == columns.propensity:
        mean = "1.0 / avg(inverse)"
    elif name == columns.observe:
        mean = f"CASE WHEN avg(weight) > 0 THEN avg(played) / avg(weight) ELSE avg({name}) END"
    elif name == columns.target:
        mean = "avg(played) / avg(inverse)"
    else:
        mean = f"avg({name} * inverse) / avg(inverse)"
    return f"CASE WHEN bool_and({valid}) THEN {mean} ELSE any_value({name}) END"


def _double(value: float) -> str:
    return f"'{value!r}'::DOUBLE"
