"""What the names in a function stand for: globals, closures, imports, and parts of modules."""

from __future__ import annotations

import builtins
import importlib
import sys
from types import CellType, FunctionType, ModuleType
from typing import Any

from halfseen.fingerprint.canonical_source import Source, codes_in
from halfseen.fingerprint.known_code import is_library, package
from halfseen.fingerprint.numba_overloads import overloads

_MISSING = object()
_SINGLE = (None, True, False, ..., NotImplemented)


def reached(function: FunctionType, source: Source) -> list[tuple[str, Any]]:
    """Return what a function's names stand for, apart from locals and builtins."""
    code = function.__code__
    within = {name for part in codes_in(code) for name in (*part.co_names, *part.co_freevars)}
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    imported = _imported(function, source)
    found: dict[str, Any] = {}
    for chain in source.names:
        first = chain[0]
        if first in imported:
            found |= _along(chain, imported[first])
        elif first in cells:
            found |= _along(chain, cells[first].cell_contents) if is_filled(cells[first]) else {}
        elif first in within:
            found |= _along(chain, function.__globals__.get(first, _added_to_builtins(first)))
    if source.alone is None:
        found |= imported
    return sorted(found.items(), key=lambda pair: pair[0])


def _imported(function: FunctionType, source: Source) -> dict[str, Any]:
    """Return what the names stand for that a function imports when it runs."""
    found = {}
    inside = function.__globals__.get("__package__") or ""
    for module, name, bound in source.imports:
        try:
            value: Any = importlib.import_module(module, inside)
            if name is None:
                value = sys.modules[package(module)]
            elif name == "*":  # cannot be, inside a function
                continue
            elif not hasattr(value, name):
                value = importlib.import_module(f"{value.__name__}.{name}")
            else:
                value = getattr(value, name)
        except Exception:  # whatever a missing or failing module raises, the function would too
            continue
        found[bound] = value
    return found


def is_filled(cell: CellType) -> bool:
    """Return whether a variable of a closure has a value yet."""
    try:
        return cell.cell_contents is not _MISSING
    except ValueError:
        return False


def _added_to_builtins(name: str) -> Any:
    """Return what somebody added to the builtins under a name."""
    value = getattr(builtins, name, _MISSING)
    if any(value is single for single in _SINGLE) or getattr(value, "__module__", "") in (
        "builtins",
        "_sitebuiltins",
        "_io",
        "io",
    ):
        return _MISSING
    return value


def _along(chain: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Follow a dotted name through modules, to the first thing that is not one."""
    name = chain[0]
    for part in chain[1:]:
        if not isinstance(value, ModuleType):
            break
        inner = getattr(value, part, _MISSING)
        if is_library(value.__name__) and not isinstance(inner, ModuleType):
            own = isinstance(inner, FunctionType) and not is_library(inner.__module__)
            added = (
                own
                or overloads(inner)
                or type(inner) in (bool, int, float, complex, str, tuple, list, dict)
            )
            return {f"{value.__name__}.{part}": inner if added else value}
        name, value = f"{name}.{part}", inner
    return {} if value is _MISSING else {name: value}
