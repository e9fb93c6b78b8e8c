"""Validation of the arguments of this package's functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.errors import InvalidInput, counted_entries


def observation(observe: Any) -> Vector:
    """Return validated probabilities of being observed, each in ]0, 1] and at least 1e-300."""
    found = many("observe", observe, above=0.0, at_most=1.0, fix=checks.OBSERVE_FIX)
    if found.min() < checks.SMALLEST_OBSERVE:
        checks.observation_probabilities("observe", found)
    return found


def per_arm(field: str, value: Any, arms: int, *, positive: bool = False) -> Vector:
    """Return one number per arm, all at least 0, or all above 0 if they must be positive."""
    above, at_least = (0.0, -math.inf) if positive else (-math.inf, 0.0)
    if np.ndim(np.asarray(value, dtype=object)) == 0:
        return np.full(arms, checks.number(field, value, above=above, at_least=at_least))
    result = many(field, value, above=above, at_least=at_least)
    if len(result) != arms:
        raise InvalidInput(
            field,
            f"must be one number or have {arms} entries, one per arm",
            counted_entries(len(result)),
            "Match the number of arms.",
        )
    return result


def regularization(value: Any, arms: int) -> Vector:
    """Return the regularization of each arm, above 0."""
    return per_arm("regularization", value, arms, positive=True)


def order(alpha: Any) -> float:
    """Return the order of a potential, above 0."""
    return checks.number("alpha", alpha, above=0.0, at_most=64.0, fix="Use 0.5 or 1.")


def rounds(horizon: Any) -> float:
    """Return a number of rounds, whole or not."""
    return checks.number("horizon", horizon, at_least=0.0, fix="Give the number of rounds.")


def many(
    field: str,
    value: Any,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    fix: str = "",
) -> Vector:
    """Check many entries as an array; leave anything doubtful to `checks.vector`."""
    array = _plain(value)
    if array is not None:
        inside = (array > above) & (array >= at_least) & (array <= at_most) & np.isfinite(array)
        if inside.all():
            return array
    checked = checks.vector(field, value, above=above, at_least=at_least, at_most=at_most, fix=fix)
    return np.array(checked, dtype=np.float64)


def _plain(value: Any) -> Vector | None:
    """Return a new array from a plain list or array of numbers, None from anything else."""
    if isinstance(value, np.ndarray):
        plain = value.dtype.kind in "fiu" and value.ndim == 1 and value.size > 0
        return value.astype(np.float64) if plain else None
    if isinstance(value, list | tuple) and value and set(map(type, value)) <= {float, int}:
        return np.array(value, dtype=np.float64)
    return None


def action_observation(censorship: Any, rows: Vector) -> Vector:
    """Return how often each action is observed, from a censorship or one number per action."""
    if isinstance(censorship, Censorship):
        return censorship.checked(rows)
    observe = observation(censorship)
    if len(observe) != len(rows):
        raise InvalidInput(
            "observe",
            f"must have {len(rows)} entries, one per action",
            counted_entries(len(observe)),
            "Match the number of actions.",
        )
    return observe
