"""Each arm's share of the horizon: T/D observations, D known or learned, or T/K."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.policies.arms.base import COUNT, State
from halfseen.problems.setting import Setting

LEARNED, ARMS = "learned", "arms"


def learned_dimension(state: State, plays: Vector, playable: NDArray[Any]) -> float:
    """Return the sum over arms of (plays + 2)/(observations + 1), an estimate of sum 1/p."""
    total = 0.0
    for arm in range(playable.size):
        if playable[arm] == 1:
            total += (plays[arm] + 2.0) / (state[arm, COUNT] + 1.0)
    return total


def checked_dimension(field: str, dimension: Any) -> float | str:
    """Return a dimension that is a number of at least 1 or one of the two names."""
    if isinstance(dimension, str):
        if dimension not in (LEARNED, ARMS):
            raise InvalidInput(
                field,
                "must be a number, 'learned' or 'arms'",
                dimension,
                "Use 'learned', or the sum of 1/p over the arms.",
            )
        return dimension
    return checks.number(field, dimension, at_least=1.0, fix="Use 'learned'.")


def offered(setting: Setting) -> int:
    """Return how many arms can be played."""
    return setting.arms if setting.offered is None else setting.offered


def check_dimension(field: str, dimension: float | str, setting: Setting) -> None:
    """Refuse a dimension below the number of arms, which no sum of 1/p is."""
    arms = offered(setting)
    if not isinstance(dimension, str) and dimension < arms * (1.0 - 1e-9):
        raise InvalidInput(
            field,
            f"must be at least the number of arms, {arms}",
            dimension,
            "Use the sum of 1/p over the arms, or 'learned'.",
        )


def share(dimension: float | str, setting: Setting) -> float:
    """Return T/D, or T/K, or, where D is to be learned, T."""
    if dimension == LEARNED:
        return float(setting.horizon)
    return setting.horizon / (offered(setting) if dimension == ARMS else float(dimension))
