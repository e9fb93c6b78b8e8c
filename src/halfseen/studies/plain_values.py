"""Problems, censorships and policies as plain values, as specs hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from numbers import Real
from types import UnionType
from typing import Any, Union, get_args, get_origin

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
        else:
            yield from _functions_inside(value, inner)


def _functions_inside(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if is_dataclass(value):
        yield from functions_in(value, place)
    elif isinstance(value, Mapping):
        for name, entry in value.items():
            yield from _functions_inside(entry, f"{place}.{name}")
    elif isinstance(value, list | tuple):
        for k, entry in enumerate(value):
            yield from _functions_inside(entry, f"{place}[{k}]")


def as_annotated(value: Any, annotation: Any) -> Any:
    """Return a value read from a spec as the type of its field: a list as a tuple or an array.

    >>> as_annotated([1, 2], tuple[int, ...]), as_annotated([1, 2], list[int])
    ((1, 2), [1, 2])
    """
    if not isinstance(value, list):
        return value
    union = isinstance(annotation, UnionType) or get_origin(annotation) is Union
    choices = get_args(annotation) if union else (annotation,)
    types = {get_origin(choice) or choice: get_args(choice) for choice in choices}
    if np.ndarray in types:
        return np.array(value)
    if tuple not in types or list in types:
        return value
    inner = types[tuple][0] if types[tuple][1:] == (...,) else None
    return tuple(as_annotated(entry, inner) for entry in value)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return describe(value)
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Real) and not isinstance(value, int):
        return float(value)
    return value
