"""Tells attributes that come from source code from Python's own bookkeeping."""

from __future__ import annotations

import dataclasses
import functools
import reprlib
import types
from collections import namedtuple
from dataclasses import fields, is_dataclass
from enum import Enum
from types import FunctionType
from typing import Any

_TUPLE = {*vars(namedtuple("_Empty", ())), "__replace__"}
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
_KEPT_BY_PYTHON = {
    *("__module__", "__qualname__", "__name__", "__doc__", "__dict__", "__weakref__", "__slots__"),
    *("__dataclass_fields__", "__dataclass_params__", "__match_args__", "__orig_bases__"),
    *("__parameters__", "__type_params__", "__firstlineno__", "__static_attributes__"),
    *("__abstractmethods__", "__protocol_attrs__", "__non_callable_proto_members__"),
    *("__final__", "__classcell__", "__classdictcell__", "__slotnames__"),
}
_EQUALITY = ("halfseen.equality", "equal_fields")  # that base classes of kinds give
_OF_MEMBERS = {"_value_", "_name_", "__objclass__", "_sort_order_"}


def is_written(kind: Any, name: str, value: Any) -> bool:
    """Return whether a class attribute comes from source code and is not bookkeeping."""
    if "_fields" in vars(kind) and (name in kind._fields or name in _TUPLE):
        return False
    if isinstance(value, _SLOTS) or name.startswith(("_abc_", "__annotat")):
        return False
    if name == "__init_subclass__":  # what it does to a class is seen there
        return False
    inner = value.__func__ if isinstance(value, staticmethod | classmethod) else value
    if issubclass(kind, Enum) and (
        name in kind.__members__
        or not isinstance(inner, FunctionType | property | functools.cached_property)
        or getattr(inner, "__module__", "") == "enum"
    ):
        return False
    if isinstance(inner, FunctionType):
        return not (is_dataclass(kind) and _is_generated(inner))
    return name not in _KEPT_BY_PYTHON and not (name == "__hash__" and value is None)


def _is_generated(function: FunctionType) -> bool:
    code = function.__code__
    files = (dataclasses.__file__, reprlib.__file__)
    if (function.__module__, code.co_qualname) == _EQUALITY:
        return True
    return code.co_qualname.startswith("__create_fn__.") or code.co_filename in files


def unseen_defaults(kind: Any) -> list[Any]:
    """Return the defaults of a dataclass's fields that are no attributes of the class."""
    found: list[Any] = []
    for entry in fields(kind):
        if entry.default_factory is not dataclasses.MISSING:
            found.append(entry.default_factory)
        elif entry.default is not vars(kind).get(entry.name, dataclasses.MISSING):
            found.append(entry.default)
    return found


def others_than_fields(value: Any) -> dict[str, Any]:
    """Return an object's attributes, in `__dict__` and slots, that are no fields; sorted."""
    kind = type(value)
    skipped = {entry.name for entry in fields(value)} if is_dataclass(value) else set()
    found = dict(getattr(value, "__dict__", {}))
    for base in kind.__mro__:
        for name, entry in vars(base).items():
            if isinstance(entry, types.MemberDescriptorType) and hasattr(value, name):
                found[name] = getattr(value, name)
            if isinstance(entry, functools.cached_property):
                skipped.add(name)
    if isinstance(value, Enum):
        skipped |= _OF_MEMBERS
    return {name: found[name] for name in sorted(found) if name not in skipped}


def without_cached(kind: type, state: Any) -> Any:
    """Return an object's state without the values that its cached properties keep."""
    if not isinstance(state, dict):
        return state
    cached = functools.cached_property
    return {n: v for n, v in state.items() if not isinstance(getattr(kind, n, None), cached)}
