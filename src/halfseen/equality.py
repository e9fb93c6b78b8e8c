"""Equality of objects that hold arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np


class ByValue:
    """A dataclass that equals another of its class if all fields do, arrays entry by entry.

    NaN equals NaN, so that an object equals its copy. Objects are not hashable. Use it with
    ``@dataclass(frozen=True, eq=False)``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, eq=False)
    ... class Found(ByValue):
    ...     values: np.ndarray
    >>> Found(np.array([1.0, np.nan])) == Found(np.array([1.0, np.nan]))
    True
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            same(getattr(self, entry.name), getattr(other, entry.name))
            for entry in fields(self)  # type: ignore[arg-type]
            if entry.compare
        )


class ComparedByField:
    """A base class whose subclasses, dataclasses as usual, are equal if all their fields are.

    The ``__eq__`` that `dataclass` writes cannot compare arrays; the one given here it leaves
    alone. One that a class writes itself stays.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Shares(ComparedByField):
    ...     of: np.ndarray
    >>> Shares(np.ones(2)) == Shares(np.ones(2)), Shares(np.ones(2)) == Shares(np.zeros(2))
    (True, False)
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__eq__" not in vars(cls):
            cls.__eq__ = equal_fields  # type: ignore[method-assign]


def equal_fields(self: Any, other: object) -> bool:
    """Return whether two dataclasses are equal; one with ``eq=False`` equals itself only."""
    parameters = getattr(self, "__dataclass_params__", None)
    if parameters is None or not parameters.eq:
        return NotImplemented
    return ByValue.__eq__(self, other)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, with arrays and NaN in them.

    >>> same({"x": np.zeros(2)}, {"x": np.zeros(2)}), same([np.zeros(2)], [np.zeros(3)])
    (True, False)
    >>> same(float("nan"), float("nan")), same((1, 2), [1, 2])
    (True, False)
    """
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return _same_array(one, other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other)
    return bool(one == other)


def _same_array(one: Any, other: Any) -> bool:
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return False
    if one.dtype.kind == "O" or other.dtype.kind == "O":
        return one.shape == other.shape and all(map(same, one.ravel(), other.ravel()))
    nan = one.dtype.kind in "fc" and other.dtype.kind in "fc"
    return np.array_equal(one, other, equal_nan=nan)
