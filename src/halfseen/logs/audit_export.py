"""An audit as plain values."""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.logs.comparison import SCHEMA_VERSION, options_as_dict
from halfseen.logs.missing_bounds import bounds_as_dict
from halfseen.logs.rates import shrunken_interval
from halfseen.logs.sentences import ASSUMPTION
from halfseen.tables import Table
from halfseen.theory.arms.dimension import one_percent_more
from halfseen.theory.events import clopper_pearson

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit


MOST_ARMS = 10_000  # arms written to a file or printed
AUDIT_FILE = "audit.json"  # marks a folder as an audit's


def audit_as_dict(found: Audit, most: int | None) -> dict[str, Any]:
    """Return everything as JSON values; at most `most` arms, the costliest."""
    whole, rest = found.effective_dimension, found.dimension_of_seen
    chosen = None if most is None else found.costliest(most)
    content = {
        "schema_version": SCHEMA_VERSION,
        "log": found.log,
        "options": options_as_dict(found.asked),
        "rows": found.rows,
        "seen": found.seen,
        "share": found.share,
        "effective_rows": float(found.effective_rows.sum()),
        "left_out": None if found.left_out is None else found.left_out.to_dict(),
        "period": None
        if found.period is None
        else {"first": found.period[0], "last": found.period[1], "dated": found.dated},
        "answers": list(found.answers),
        "effective_dimension": {
            "value": whole.value,
            "low": whole.low,
            "high": whole.high,
            "arms": whole.arms,
            "factor": whole.factor,
            "level": whole.level,
            "upper_end": found.upper_end,
            "of_arms_seen": None
            if rest is None
            else {
                "value": rest.value,
                "low": rest.low,
                "high": rest.high,
                "arms": rest.arms,
                "factor": rest.factor,
            },
        },
        "never_seen": list(found.never_seen[:MOST_ARMS]),
        "rates": _rates(found, chosen),
        "drift": [
            {
                "arm": course.name,
                "changes": [float(course.starts[i]) for i in course.changes],
                "rates": list(course.levels),
            }
            for course in found.courses
        ],
        "maturity": None if found.maturity is None else found.maturity.to_dict(),
        "warnings": [vars(warning) for warning in found.warnings],
        "checks": [check.to_dict() for check in found.checks],
        "notes": list(found.notes),
        "best_arm": None if found.best is None else found.best.to_dict(),
        "worth_most": None if found.worth_most is None else found.worth_most.to_dict(),
        "missing_differ": None if found.rewards is None else bounds_as_dict(found.rewards, most),
        "context_means": None if found.context_means is None else found.context_means.to_dict(),
        "direction": None if found.direction is None else found.direction.to_dict(),
        "assumption": ASSUMPTION,
    }
    rates = content["rates"]  # has its keys, of very many records
    values: dict[str, Any] = plain(snake_keys(content | {"rates": []}) | {"rates": rates})
    return values


def _rates(found: Audit, places: list[int] | None) -> list[dict[str, Any]]:
    """Return one record per arm, with the number of rows its rate is worth."""
    table = rates_table(found, places)
    keys = [*map(snake_case, table.columns), "effective_rows"]
    worth = found.effective_rows[slice(None) if places is None else places].tolist()
    rows = zip(table.rows, worth, strict=True)
    return [dict(zip(keys, (*row, size), strict=True)) for row, size in rows]


def audit_schema() -> dict[str, Any]:
    """Return the JSON Schema of an audit's JSON.

    Examples
    --------
    >>> audit_schema()["properties"]["schema_version"]["const"] == SCHEMA_VERSION
    True
    """
    text = files("halfseen.logs").joinpath("audit.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def rates_table(found: Audit, places: list[int] | None = None) -> Table:
    """Return one row per arm, of all arms in the log's order or of some.

    Parameters
    ----------
    found
        The audit.
    places
        The arms to give; left out, all.
    """
    keep = slice(None) if places is None else places
    counts = found.counts if places is None else found.counts.part(places)
    seen, rows = found.effective_seen[keep], found.effective_rows[keep]
    low, high = clopper_pearson(seen, rows, found.level)
    rate, shrunk_low, shrunk_high = shrunken_interval(seen, rows, found.prior, found.level)
    with np.errstate(divide="ignore"):
        parts, more = rows / seen, one_percent_more(seen / rows)
    columns: dict[str, list[Any]] = {
        "arm": list(counts.names),
        "rows": counts.rows.tolist(),
        "seen": counts.seen.tolist(),
        "rate": (seen / rows).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "shrunken": rate.tolist(),
        "shrunken low": shrunk_low.tolist(),
        "shrunken high": shrunk_high.tolist(),
        "mean reward": [None if math.isnan(m) else m for m in counts.mean.tolist()],
        "contributes": parts.tolist(),
        "worth of 1% more": more.tolist(),
    }
    return Table(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def shown_rates(found: Audit, most: int) -> Table:
    """Return the arms that cost most, in the columns that fit on a screen."""
    keep = ["arm", "rows", "seen", "rate", "low", "high", "contributes", "worth of 1% more"]
    rates = rates_table(found, found.costliest(most))
    if found.columns.reward is not None:
        keep.insert(6, "mean reward")
    places = [rates.columns.index(name) for name in keep]
    titles = tuple("mean" if name == "mean reward" else name for name in keep)  # for 80 columns
    return Table(titles, tuple(tuple(row[i] for i in places) for row in rates.rows))


def left_to_show(found: Audit, most: int) -> list[str]:
    """Return a sentence on the arms that `shown_rates` leaves out, if there are any."""
    arms = len(found.arms)
    said = f"The {most} arms of {arms:,} that cost most; .rates has all."
    return [said] if arms > most else []


@lru_cache
def snake_case(name: str) -> str:
    """Return a column's title as a key.

    >>> snake_case("worth of 1% more")
    'worth_of_one_percent_more'
    """
    for sign, word in (
        ("1%", "one percent"),
        ("± 95%", "half width"),
        ("%", " percent"),
        ("'", ""),
    ):
        name = name.replace(sign, word)
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def snake_keys(value: Any) -> Any:
    """Return a value whose dictionaries, inner ones too, have keys in snake_case."""
    if type(value) in (float, int, str):
        return value
    if isinstance(value, dict):
        return {snake_case(key): snake_keys(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [snake_keys(entry) for entry in value]
    return value


def plain(value: Any) -> Any:
    """Return a value for JSON: None for infinities and NaN."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if type(value) in (int, str):
        return value
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
