"""The decisions of a log as groups of equal ones, or row by row with features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.logs import reward_cells
from halfseen.logs.counts import Decisions
from halfseen.logs.group_sums import sum_by
from halfseen.logs.option_names import option
from halfseen.logs.queries import filled, too_large
from halfseen.values.group_sql import GroupColumns, grouped_sql
from halfseen.values.influence import Sample

NO_CONTEXT = "(none)"  # name of the context of rows without one


@dataclass(frozen=True, eq=False)
class LogGroups(ByValue):
    """Decisions in groups that agree in arm, context, propensity and whether they were seen.

    Attributes
    ----------
    arms, contexts
        Their names; one context if the log has none.
    sample
        Counts and rewards of the groups.
    arm, context
        Indices of each group's arm and context.
    propensity
        Logging propensity of the arm; None if the log has none.
    extra
        Further columns, by name.
    features
        One row per decision; no columns if decisions are grouped.
    names
        Of the features.
    """

    arms: tuple[str, ...]
    contexts: tuple[str, ...]
    sample: Sample
    arm: NDArray[np.int64]
    context: NDArray[np.int64]
    propensity: Vector | None
    extra: dict[str, Vector]
    features: Vector
    names: tuple[str, ...]

    @property
    def by_row(self) -> bool:
        """Whether each decision is its own group, because of features."""
        return bool(self.names)

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The row of each group in tables over what policies look at: a context or a decision."""
        return np.arange(len(self.arm)) if self.by_row else self.context

    @cached_property
    def cell(self) -> NDArray[np.int64]:
        """The number of each group's context and arm."""
        return np.asarray(self.context * len(self.arms) + self.arm)

    def by_cell(self, values: Vector) -> Vector:
        """Return sums of a value of the groups as a table of contexts and arms."""
        shape = len(self.contexts), len(self.arms)
        return sum_by(self.cell, values, shape[0] * shape[1]).reshape(shape)


def name_of(key: Any, names: Sequence[str]) -> str:
    """Return the name in a log that a key stands for; the key as text if there is none.

    Parameters
    ----------
    key
        An arm or context as a user writes it.
    names
        Those of the log.

    Examples
    --------
    >>> name_of(1, ["1.0", "2.0"]), name_of(True, ["false", "true"]), name_of(None, [NO_CONTEXT])
    ('1.0', 'true', '(none)')
    """
    written = str(key)
    if isinstance(key, bool | np.bool_):
        written = written.lower()
    if key is None or (isinstance(key, float) and math.isnan(key)):
        written = NO_CONTEXT
    if written in names:
        return written
    same = [name for name in names if _number(name) == _number(written)]
    return same[0] if len(same) == 1 else written


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def read_groups(
    decisions: Decisions,
    extra: Sequence[str],
    *,
    target: str | None = None,
    observe: str | None = None,
    exact_rows: int = reward_cells.EXACT,
) -> LogGroups:
    """Group the decisions of a log.

    Parameters
    ----------
    decisions
        The log; its features are the extra columns, then those that describe decisions.
    extra
        Names of the extra columns.
    target, observe
        Which of them hold the policy's probability of the logged arm, and that of being seen.
    exact_rows
        Decisions up to which rewards and probabilities are grouped by exact value.

    Notes
    -----
    Decisions with features are read one by one; others as `halfseen.values.group_sql` groups them.
    """
    log, columns, counts = decisions.log, decisions.columns, decisions.counts
    if max(-counts.least, counts.most) > reward_cells.LARGEST:
        raise too_large(log.name)
    names = columns.features[len(extra) :]
    numbers = ["propensity"] if columns.propensity else []
    numbers += [f"feature_{i}" for i in range(len(columns.features))]
    context = "context" if columns.context else "'all'"
    contexts = _contexts(decisions, context)
    if names:
        order = "time, place" if columns.time else "place"
        held = ", ".join(["action", f"{context} AS context", "seen", *numbers])
        held += ", 1 AS count, reward, 0.0 AS within, row_number() OVER () AS place"
        held += ", time" if columns.time else ""
        inner = f"(SELECT {held} FROM {decisions.sql} WHERE action IS NOT NULL)"
    else:
        place = {name: f"feature_{i}" for i, name in enumerate(extra)}
        keys = GroupColumns(
            context=context,
            numbers=tuple(numbers),
            propensity="propensity" if columns.propensity else None,
            target=place.get(target or ""),
            observe=place.get(observe or ""),
        )
        inner = grouped_sql(decisions, keys, len(contexts), exact_rows)
        order = ", ".join(["arm", "context", "seen", "bin", *numbers])
    found = log.query(
        "SELECT dense_rank() OVER (ORDER BY action) - 1 AS arm,"
        " dense_rank() OVER (ORDER BY context NULLS LAST) - 1 AS context,"
        f" {', '.join(['seen', 'count', 'reward', 'within', *numbers])} FROM {inner}"
        f" ORDER BY {order}"
    )
    seen = np.asarray(found["seen"]).astype(bool)
    values = [filled(found[name]) for name in numbers]
    described = values[1 if columns.propensity else 0 :]
    features = described[len(extra) :]
    return LogGroups(
        arms=counts.names,
        contexts=contexts,
        sample=Sample(
            count=filled(found["count"]),
            seen=seen,
            reward=np.where(seen, filled(found["reward"]), 0.0),
            within=filled(found["within"]),
        ),
        arm=np.asarray(found["arm"]).astype(np.int64),
        context=np.asarray(found["context"]).astype(np.int64),
        propensity=values[0] if columns.propensity else None,
        extra=dict(zip(extra, described, strict=False)),
        features=_complete(features, names) if names else np.empty((len(seen), 0)),
        names=tuple(names),
    )


def _contexts(decisions: Decisions, context: str) -> tuple[str, ...]:
    found = decisions.log.query(
        "SELECT CAST(context AS VARCHAR) AS name FROM (SELECT DISTINCT"
        f" {context} AS context FROM {decisions.sql} WHERE action IS NOT NULL)"
        " ORDER BY context NULLS LAST"
    )
    names = np.ma.filled(np.ma.asarray(found["name"]).astype(object), NO_CONTEXT)
    return tuple(names.tolist())


def _complete(features: list[Vector], names: Sequence[str]) -> Vector:
    table = np.column_stack(features)
    for i, name in enumerate(names):
        gaps = int(np.sum(~np.isfinite(table[:, i])))
        if gaps:
            raise InvalidInput(
                "features",
                "must hold a finite number in every row",
                f"{gaps:,} other cells in column {name}",
                f"Fill them in, or leave those rows out with {option('where')}.",
            )
    return table
