"""An audit as plain values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.logs.missing_bounds import bounds_as_dict
from halfseen.logs.sentences import ASSUMPTION

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit


MOST_ARMS = 10_000  # in a file or a printout
AUDIT_FILE = "audit.json"  # its folder is an audit's


def audit_as_dict(found: Audit, most: int | None) -> dict[str, Any]:
    """Return everything JSON can hold; at most so many arms, those that cost most."""
    whole, rest = found.effective_dimension, found.dimension_of_seen
    chosen = range(len(found.arms)) if most is None else found.costliest(most)
    content = {
        "log": found.log,
        "rows": found.rows,
        "seen": found.seen,
        "answers": list(found.answers),
        "effective_dimension": {
            "value": whole.value,
            "low": whole.low,
            "high": whole.high,
            "arms": whole.arms,
            "factor": whole.factor,
            "level": whole.level,
            "of_arms_seen": None if rest is None else {"value": rest.value, "factor": rest.factor},
        },
        "never_seen": list(found.never_seen[:MOST_ARMS]),
        "rates": [
            {
                key.replace(" ", "_").replace("1%", "one_percent"): value
                for key, value in zip(found.rates.columns, found.rates.rows[i], strict=True)
            }
            for i in chosen
        ],
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
        "direction": None if found.direction is None else found.direction.to_dict(),
        "assumption": ASSUMPTION,
    }
    values: dict[str, Any] = plain(content)
    return values


def plain(value: Any) -> Any:
    """Return a value that JSON can hold: None for what is infinite or not a number."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
