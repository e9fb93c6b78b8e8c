"""An audit as plain values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.logs.sentences import ASSUMPTION

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit


MOST_ARMS = 10_000  # in a file or a printout
AUDIT_FILE = "audit.json"  # its folder is an audit's


def audit_as_dict(found: Audit, most: int | None) -> dict[str, Any]:
    """Return everything JSON can hold; at most so many arms, those that cost most."""
    whole = found.effective_dimension
    chosen = range(len(found.arms)) if most is None else found.costliest(most)
    content = {
        "log": found.log,
        "rows": found.rows,
        "seen": found.seen,
        "left_out": None if found.left_out is None else found.left_out.to_dict(),
        "answers": list(found.answers),
        "effective_dimension": {
            "value": whole.value,
            "low": whole.low,
            "high": whole.high,
            "arms": whole.arms,
            "factor": whole.factor,
            "level": whole.level,
        },
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
        "warnings": [vars(caution) for caution in found.warnings],
        "sensitivity": None
        if found.sensitivity is None
        else vars(found.sensitivity) | {"moves": found.sensitivity.moves.records()},
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
