"""The decisions of a log in chunks, with arms as indices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.logs.columns import Columns
from halfseen.logs.counts import Decisions, read_decisions
from halfseen.logs.queries import explained, filled
from halfseen.logs.source import Log, open_log
from halfseen.tables import listed

PART = 100_000


@dataclass(frozen=True, eq=False)
class Part(ByValue):
    """A chunk of decisions.

    Attributes
    ----------
    action
        Index of each decision's arm among the arms of the log.
    reward
        NaN where it is missing.
    propensity
        The probability of having chosen that arm; without a column for it, the arm's share of the
        log.
    features
        One row per decision; no columns if none were named.
    """

    action: NDArray[np.int64]
    reward: Vector
    propensity: Vector
    features: Vector


def open_decisions(
    log: Any, action: str, reward: str, propensity: str | None, features: Sequence[str]
) -> Decisions:
    """Open a log whose rows keep their order, and count its arms."""
    columns = Columns(action, reward, propensity=propensity, features=tuple(features))
    return read_decisions(open_log(log, in_order=True), columns)


def check_propensities(decisions: Decisions, seen_only: bool) -> None:
    """Raise if rows, or rows with a reward, lack a propensity in ]0, 1]."""
    if decisions.columns.propensity is None:
        return
    where = "action IS NOT NULL" + (" AND reward IS NOT NULL" if seen_only else "")
    wrong = "coalesce(propensity <= 0 OR propensity > 1, true)"
    found = decisions.log.query(
        f"SELECT count(*) AS wrong FROM {decisions.sql} WHERE {where} AND {wrong}"
    )
    count = int(found["wrong"][0])
    if count:
        rows = "row" if count == 1 else "rows"
        of = f"{rows} with a reward" if seen_only else rows
        raise InvalidInput(
            "propensity",
            "must be above 0 and at most 1 wherever it divides",
            f"{count:,} {of} where it is missing or no such number",
            "Fill them in, or leave those rows out.",
        )


def check_every_arm_seen(decisions: Decisions) -> None:
    """Raise if an arm has no reward at all."""
    counts = decisions.counts
    never = [counts.names[i] for i in np.flatnonzero(counts.seen == 0)]
    if never:
        raise InvalidInput(
            "log",
            "must hold a reward of every arm, or policies that play the others get no value",
            f"none of {listed(never)}",
            "Leave those arms out of the log.",
        )


def check_row_rates(column: str, rates: Vector) -> None:
    """Raise if a column of probabilities of being seen holds others, where rewards were seen."""
    wrong = int(np.sum(~((rates >= checks.SMALLEST_OBSERVE) & (rates <= 1.0))))
    if wrong:
        raise InvalidInput(
            "observe",
            "must be above 0 and at most 1 wherever a reward was seen",
            f"{wrong:,} other cells in column {column}",
            "Fill them in, or leave those rows out.",
        )


def parts(decisions: Decisions) -> Iterator[Part]:
    """Yield the decisions that name an arm, in the order of the log."""
    counts, columns = decisions.counts, decisions.columns
    place = {name: i for i, name in enumerate(counts.names)}
    share = counts.rows / counts.rows.sum()
    names = ["propensity"] if columns.propensity else []
    names += [f"feature_{i}" for i in range(len(columns.features))]
    asked = ", ".join(["CAST(action AS VARCHAR) AS name", "reward", *names])
    log = decisions.log
    with explained(log.name, log.on_server):
        cursor = log.connection.execute(
            f"SELECT {asked} FROM {decisions.sql} WHERE action IS NOT NULL"
        )
    while rows := _fetched(log, cursor):
        name, reward, *rest = zip(*rows, strict=True)
        arm = np.array([place[entry] for entry in name])
        numbers = [filled(np.array(column, dtype=float)) for column in (reward, *rest)]
        chance = numbers[1] if columns.propensity else share[arm]
        described = numbers[2 if columns.propensity else 1 :]
        features = np.column_stack(described) if described else np.empty((len(arm), 0))
        yield Part(arm, numbers[0], chance, features)


def observation_rates(decisions: Decisions, observe: Mapping[str, float] | None) -> Vector:
    """Return the probability that each arm's reward is seen: as given, else its share of the log.

    Learning from seen rewards alone needs weights 1/p on top of inverse propensities; without them
    a rarely seen arm looks worse than it is.
    """
    counts = decisions.counts
    if observe is None:
        return np.asarray(counts.seen / counts.rows, dtype=float)
    for name in counts.names:
        if name not in observe:
            raise InvalidInput("observe", "must name every arm of the log", name, "Add that arm.")
    strange = sorted(map(str, set(observe) - set(counts.names)))
    if strange:
        raise InvalidInput(
            "observe",
            f"must name arms of the log ({listed(list(counts.names))})",
            listed(strange),
            "Leave out the others, or correct their names.",
        )
    return np.array(
        [checks.observation_probability(f"observe[{name}]", observe[name]) for name in counts.names]
    )


def _fetched(log: Log, cursor: Any) -> list[Any]:
    with explained(log.name, log.on_server):
        found: list[Any] = cursor.fetchmany(PART)
        return found
