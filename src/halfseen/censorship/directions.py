"""A direction in the space of actions, and how far actions point along it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput

ALREADY_UNIT = 1e-12  # a direction this close to length 1 is kept as it is


def unit_direction(field: str, value: Any) -> tuple[float, ...]:
    """Return a direction divided by its length; zero has none and is refused.

    >>> unit_direction("direction", [3, 4])
    (0.6, 0.8)
    """
    entries = checks.vector(field, value, fix="Give one number per coordinate of an action.")
    largest = max(abs(entry) for entry in entries)
    if largest == 0.0:
        raise InvalidInput(
            field, "must not be zero", value, "Give the direction in which feedback becomes rarer."
        )
    scaled = [entry / largest for entry in entries]
    length = math.sqrt(math.fsum(entry * entry for entry in scaled))
    if abs(largest * length - 1.0) <= ALREADY_UNIT:
        return entries
    return tuple(entry / length for entry in scaled)


def action_rows(field: str, actions: Any) -> Vector:
    """Return actions as an array (n, d) of finite floats."""
    if isinstance(actions, Integral):
        raise InvalidInput(
            field,
            "must be vectors, as the censorship depends on where an action points",
            f"{actions} arms",
            "On armed bandits use PerArm or Uniform.",
        )
    try:
        rows = np.asarray(actions)
    except ValueError:  # rows of different lengths
        rows = np.empty(0, dtype=object)
    if rows.dtype.kind not in "fiu" or rows.ndim != 2 or rows.size == 0:
        raise InvalidInput(
            field,
            "must be an array (n, d), one action of d numbers per row",
            actions,
            "Give for example [[1.0, 0.0], [0.0, 1.0]].",
        )
    rows = rows.astype(np.float64, copy=False)
    if not np.isfinite(rows).all():
        place = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise InvalidInput(
            f"{field}[{place}]", "must be finite", rows[place].tolist(), "Leave it out."
        )
    return rows


def projections(field: str, actions: Any, direction: Sequence[float]) -> Vector:
    r"""Return :math:`\langle a,u\rangle` of each action, added up coordinate by coordinate.

    The order of the sum is that of a plain loop over the coordinates, so that a compiled loop
    puts every action on the same side of a threshold.

    >>> projections("actions", [[1.0, 0.0], [0.5, 0.5]], (0.0, 1.0)).tolist()
    [0.0, 0.5]
    """
    rows = action_rows(field, actions)
    if rows.shape[1] != len(direction):
        raise InvalidInput(
            field,
            f"must have {len(direction)} coordinates each, like the direction of censorship",
            f"{rows.shape[1]} coordinates",
            "Match the two dimensions.",
        )
    total = np.zeros(len(rows))
    for coordinate, weight in enumerate(direction):
        total += rows[:, coordinate] * weight
    return total
