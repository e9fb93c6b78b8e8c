"""The actions that a linear agent is offered."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.problems.action_arrays import action_rows


def offered_rows(actions: Any, dimension: int) -> Vector:
    """Return actions as an array (K, dimension), or refuse them; lengths are not checked here."""
    rows = actions
    if type(rows) is not np.ndarray or rows.dtype != np.float64 or not rows.flags.c_contiguous:
        rows = action_rows(actions)
    if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] != dimension:
        raise InvalidInput(
            "actions",
            f"must be an array (K, {dimension}), one action per row, not empty",
            f"shape {rows.shape}",
            "Offer at least one action of the right dimension.",
        )
    return rows
