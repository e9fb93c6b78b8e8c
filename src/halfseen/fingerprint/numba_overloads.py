"""What compiled code calls in the place of a function, and the types it is declared for."""

from __future__ import annotations

import os
import sys
from threading import Lock
from types import FunctionType
from typing import Any

from halfseen.fingerprint.known_code import is_library

ENGINES = "pipeline_class"  # an option of functions that the engine registers, as they are
USUAL = ("no_cpython_wrapper", "nopython")  # that numba gives to all


class _Overloads:
    """The overloads of functions, read from numba's list as it grows."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._read = 0
        self._found: dict[int, list[Any]] = {}  # numba's list keeps the functions alive

    def of(self, thing: Any) -> list[Any]:
        """Return the overloads of a function."""
        templates: Any = sys.modules.get("numba.core.typing.templates")
        if templates is None:
            return []
        with self._lock:
            listed = templates.builtin_registry.globals[self._read :]
            self._read += len(listed)
            for known, kind in listed:
                for template in getattr(kind, "templates", ()):
                    self._note(known, template)
        return self._found.get(id(thing), [])

    def _note(self, known: Any, template: Any) -> None:
        written = getattr(template, "_overload_func", None)
        given = getattr(template, "_jit_options", None) or {}
        options = {name: value for name, value in given.items() if name not in USUAL}
        if written is None or ENGINES in options:
            return
        if not is_library(written.__module__) and not _is_numbas(written):
            self._found.setdefault(id(known), []).append((written, options))
        elif options and not is_library(getattr(known, "__module__", None)):  # register_jitable
            self._found.setdefault(id(known), []).append(options)


def _is_numbas(function: Any) -> bool:
    """Return whether a function, which may name no module, was written in a file of numba's."""
    folder = os.path.join(os.path.dirname(sys.modules["numba"].__file__ or ""), "")
    return bool(function.__code__.co_filename.startswith(folder))


_overloads = _Overloads()


def overloads(thing: Any) -> list[Any]:
    """Return what stands in for a function in compiled code, apart from numba's own overloads."""
    return _overloads.of(thing)


def declared_types(compiled: Any) -> list[Any]:
    """Return the signatures that numba was given for a function; none if it compiles for any."""
    if getattr(compiled, "_frozen", False):  # vectorize
        return list(compiled._dispatcher.overloads)
    return [] if getattr(compiled, "_can_compile", True) else list(compiled.nopython_signatures)


def given_to_numba(value: Any) -> FunctionType | None:
    """Return the function that numba's njit, vectorize or cfunc was given."""
    inner = getattr(value, "_dispatcher", value)
    found = getattr(inner, "py_func", getattr(inner, "_pyfunc", None))
    return found if isinstance(found, FunctionType) else None
