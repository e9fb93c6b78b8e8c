"""Whether any actions and rewards could have led to a saved state of a linear agent."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from halfseen.agents.ledger import PENDING, REMEMBER
from halfseen.checks import Vector
from halfseen.engine.arguments import DESIGN, DUE, INVERSE, LEARNED, REST, SPREAD, TARGET
from halfseen.problems.action_arrays import SLACK
from halfseen.problems.arms import LARGEST

ROUNDING = 1e-9
_Matrix = list[list[float]]


class SavedLinear(BaseModel):
    """The content of a file that `LinearAgent.save` writes; only types are checked here."""

    model_config = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)

    policy: dict[str, Any]
    code: dict[str, str]
    setting: dict[str, Any]
    seed: int
    probabilities: bool = True
    floor: float = 0.0
    matrices: list[_Matrix]
    vectors: _Matrix
    numbers: list[float]
    kept: _Matrix = []
    paid: list[float] = []


def renewed_linear(content: dict[str, Any]) -> dict[str, Any]:
    """Convert the format of an earlier version, which kept only open decisions."""
    pending = [
        [number, number, chosen, action, None, 0.0, None, PENDING, None]
        for number, chosen, action in content["pending"]
    ]
    return content | {"ledger": earlier(content["decisions"], content["observations"], pending)}


def earlier(made: int, seen: int, pending: list[Any]) -> dict[str, Any]:
    """Return the ledger of an agent of which only the open decisions are known."""
    return {
        "decisions": made,
        "observed": seen,
        "censored": made - seen - len(pending),
        "late": 0,
        "remember": REMEMBER,
        "open": pending,
        "settled": [],
    }


def of_unit_length(rows: Vector) -> bool:
    """Return whether no row is longer than an action may be."""
    longest = (1.0 + SLACK) ** 2 * (1.0 + 1e-12)
    if np.any(np.abs(rows) > longest):  # their squares might overflow
        return False
    return bool(np.all(np.sum(rows * rows, axis=-1) <= longest))


def in_range(
    matrices: Vector, vectors: Vector, numbers: Vector, regularization: float, longest: float
) -> bool:
    """Return whether actions and rewards of admissible size could have led to a state.

    `longest` is an upper bound on the log-determinant of any design.
    """
    learned, due, d = numbers[LEARNED], numbers[DUE], vectors.shape[1]
    width = 2.0 * max(1.0, 1.0 / regularization)
    gained = LARGEST * (1.0 + learned)
    return bool(
        np.all(np.abs(matrices[DESIGN]) <= (regularization + learned) * (1.0 + 1e-6))
        and np.all(np.abs(matrices[INVERSE]) <= width)
        and np.all(np.abs(matrices) <= gained * max(regularization, width))
        and np.all(np.abs(vectors[TARGET]) <= gained)
        and np.all(np.abs(vectors) <= gained * max(1.0, d * width))
        and abs(numbers[SPREAD]) <= longest
        and learned < due <= 2.0**53
    )


def is_of_observations(
    matrices: Vector, learned: float, regularization: float, inverts: bool
) -> bool:
    """Return whether a design is a ridge plus a sum of outer products, and its inverse matches.

    The design is symmetric, its eigenvalues are at least the regularization, and its trace grows
    by at most 1 per observation.
    """
    design, inverse, rest = matrices[DESIGN], matrices[INVERSE], matrices[REST]
    slack = ROUNDING * (regularization + learned)
    ridge = np.trace(design) - learned * (1.0 + SLACK) ** 2
    if not (
        np.array_equal(design, design.T)
        and np.all(np.abs(rest) <= slack)
        and ridge <= len(design) * (regularization + slack)
        and np.linalg.eigvalsh(design)[0] >= regularization * (1.0 - 1e-6) - slack
    ):
        return False
    apart = np.max(np.abs(design @ inverse - np.eye(len(design))))
    return not inverts or bool(apart <= 10.0 * slack / regularization)
