"""Problems, censorships and policies as plain values, as specs hold them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any

import numpy as np

from halfseen.censorship import Censorship


def describe(noun: Any) -> dict[str, Any]:
    """Return a problem, censorship or policy as plain values; `study_from` reverses it.

    A Python function becomes its name, from which nothing can be built.
    """
    content: dict[str, Any] = {"kind": noun.kind}
    for entry in fields(noun):
        value = getattr(noun, entry.name)
        if callable(value):
            name = getattr(value, "__qualname__", type(value).__qualname__)
            content[entry.name] = f"Python function {name}"
        elif value is not None:
            content[entry.name] = _plain(value)
    if isinstance(noun, Censorship):
        content |= noun.written()
    return content


def functions_in(noun: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the Python functions in an object, each with its path; a spec cannot hold them."""
    for entry in fields(noun):
        value, inner = getattr(noun, entry.name), f"{place}.{entry.name}"
        if callable(value):
            yield inner, value
        elif is_dataclass(value):
            yield from functions_in(value, inner)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return describe(value)
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Real) and not isinstance(value, int):
        return float(value)
    return value
