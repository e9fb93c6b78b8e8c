"""A hash of code and values that is the same in every process and on every version of Python.

It covers a function, what it is called with by default, every function, class and constant it
reaches through globals, closures and imports, and the state of objects among them. Functions of
the standard library, numpy, scipy and numba are known by name; those of other installed packages
by name, version and the hashes their files were installed with. What a function reads from a file,
the environment, a docstring or an annotation, or looks up by a name it computes, is not seen.
"""

from __future__ import annotations

import copyreg
import functools
import hashlib
import sys
import types
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from numbers import Integral, Real
from pathlib import PurePath
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from halfseen.fingerprint.canonical_source import source_of
from halfseen.fingerprint.class_contents import (
    is_written,
    others_than_fields,
    unseen_defaults,
    without_cached,
)
from halfseen.fingerprint.known_code import (
    is_installed,
    is_library,
    is_library_class,
    package,
    version,
)
from halfseen.fingerprint.numba_overloads import declared_types, given_to_numba, overloads
from halfseen.fingerprint.reached_names import is_filled, reached
from halfseen.kinds import is_registry

# Known by name: validation, which changes no number, and loops, versioned by `TRAJECTORIES`.
OWN_NAMED = (
    "halfseen.checks",
    "halfseen.engine",
    "halfseen.errors",
    "halfseen.fingerprint",
    "halfseen.kernels.reachable",
)
# Bases that decide how objects are shown and compared, not what they do.
NOT_DECISIVE = ("halfseen.display", "halfseen.equality")
_BUILTIN = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    np.ufunc,
)


class NoFingerprint(TypeError):
    """Something reachable cannot be hashed, such as an open file."""


def fingerprint(thing: Any) -> str:
    """Return a hash of a value, a function, a class or an object, and of all the code it reaches.

    The fields of a dataclass count as JSON would hold them: a list, a tuple and an array of the
    same numbers are the same.

    Raises
    ------
    NoFingerprint
        If something reachable cannot be hashed.

    Examples
    --------
    >>> def double(x):
    ...     return 2 * x
    >>> def twice(x):
    ...     return double(x)
    >>> before = fingerprint(twice)
    >>> def double(x):
    ...     return x + x
    >>> fingerprint(twice) == before
    False
    """
    walk = _Walk()
    try:
        walk.visit(thing)
    except RecursionError:
        raise NoFingerprint(f"{type(thing).__name__} is nested too deeply") from None
    return walk.hash.hexdigest()[:32]


class _Walk:
    """Hashes everything reachable; an object seen before is represented by its index."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # kept alive so that ids stay unique
        self._package = ""  # the package of the code being visited

    def note(self, *words: str) -> None:
        """Add words to the hash, each prefixed by its length."""
        for word in words:
            content = word.encode("utf-8", "surrogatepass")
            self.hash.update(f"{len(content)}:".encode() + content)

    def visit(self, value: Any, plain: bool = False) -> None:
        """Add a value and all it reaches; `plain` where JSON's types are all that counts."""
        if plain:
            value = _as_json(value)
        kind = type(value)
        if value is None or kind in (bool, int, float, complex, str, bytes, type(...)):
            self.note(kind.__name__, ascii(value))
        elif isinstance(value, np.ndarray | np.generic):
            if isinstance(value, np.ndarray) and kind not in (np.ndarray, np.memmap):
                self.note("subclass")
                self.visit(kind)
                self.visit(others_than_fields(value))
            self._array(np.asarray(value))
        elif kind in (tuple, list):
            self.note("list" if plain else kind.__name__, str(len(value)))
            for entry in value:
                self.visit(entry, plain)
        elif kind is dict and is_registry(value):
            self.note("registry")  # an object names its kinds in its fields
        elif kind is dict:
            self.note("dict", str(len(value)))
            for key, entry in value.items():
                self.visit(key)
                self.visit(entry, plain)
        elif kind in (set, frozenset):
            self.note("set", *sorted(fingerprint(entry) for entry in value))
        elif isinstance(value, ModuleType):
            self._module(value)
        elif isinstance(value, Enum):
            self.note("enum", kind.__name__, str(value.name))
            self.visit(value.value)
            self.visit(kind)
        elif isinstance(value, PurePath | np.dtype | range | slice):
            self.note(kind.__name__, str(value))
        else:
            self._object(value)

    def _array(self, array: np.ndarray[Any, Any]) -> None:
        if array.dtype.hasobject:
            self.note("objects", str(array.shape))
            self.visit(array.tolist())
            return
        of = array.dtype.str if array.dtype.names is None else str(array.dtype)
        self.note("array", of, str(array.shape) if array.size else "empty")
        rows = array.reshape(-1) if array.ndim == 0 else array
        for begin in range(0, len(rows), step := max(1, (1 << 24) // max(1, rows[:1].nbytes))):
            self.hash.update(np.ascontiguousarray(rows[begin : begin + step]).tobytes())

    def _object(self, value: Any) -> None:
        """Add a function, a class or an object with a state."""
        for instead in overloads(value):
            self.note("overload")
            self.visit(instead)
        if isinstance(value, types.MethodType):
            self.note("method")
            self.visit(value.__func__)
            self.visit(value.__self__)
        elif isinstance(value, staticmethod | classmethod):
            self.note("static" if isinstance(value, staticmethod) else "class method")
            self.visit(value.__func__)
        elif isinstance(value, property):
            for part in (value.fget, value.fset, value.fdel):
                self.visit(part)
        elif isinstance(value, functools.cached_property):
            self.visit(value.func)
        elif isinstance(value, _BUILTIN):
            self._named_builtin(value)
        elif isinstance(value, types.UnionType | types.GenericAlias) or _is_typing(value):
            self.note("type", str(getattr(value, "__name__", getattr(value, "_name", ""))))
            self.visit(tuple(getattr(value, "__args__", ())))
        elif _is_named(value) and self._is_library(value):
            self._library(value.__module__, value.__qualname__)
        elif is_dataclass(value) and not isinstance(value, type):
            self.visit(type(value))
            for entry in fields(value):
                self.note(entry.name)
                self.visit(getattr(value, entry.name), plain=True)
            if not type(value).__module__.startswith("halfseen."):
                for name, extra in others_than_fields(value).items():
                    self.note("beside", name)
                    self.visit(extra)
        elif id(value) in self._seen:
            self.note("again", str(self._seen[id(value)]))
        else:
            self._seen[id(value)] = len(self._seen)
            self._kept.append(value)
            self._first_time(value)

    def _first_time(self, value: Any) -> None:
        before = self._package
        if isinstance(value, FunctionType):
            self._package = package(value.__module__)
            self._function(value)
        elif isinstance(value, type):
            self._package = package(value.__module__)
            self._class(value)
        elif (plain := given_to_numba(value)) is not None:
            self.note("compiled")
            types = {name: str(kind) for name, kind in getattr(value, "locals", {}).items()}
            self.visit((getattr(value, "targetoptions", None), types))
            self.note(*map(str, declared_types(value)))
            self.visit(plain)
        elif isinstance(value, functools._lru_cache_wrapper):
            self.visit(value.__wrapped__)
        else:
            self._state(value)
        self._package = before

    def _function(self, function: FunctionType) -> None:
        if hasattr(function, "registry") and hasattr(function, "dispatch"):  # functools'
            self.note("dispatch by type")
            for kind, chosen in function.registry.items():
                self.visit((kind, chosen))
            return
        source = source_of(function)
        self.note("function", source.text)
        self.visit(function.__defaults__)
        self.visit(function.__kwdefaults__)
        for name, value in reached(function, source):
            self.note(name)
            if isinstance(value, ModuleType):
                self.note("module")  # only the names read from a module count
                if source.alone is None or name in source.alone:
                    self._module(value)
            else:
                self.visit(value)
        held = [cell.cell_contents for cell in function.__closure__ or () if is_filled(cell)]
        for name, value in sorted(vars(function).items()):
            wrapped = name == "__wrapped__" and any(value is other for other in held)
            if not wrapped and name != "__compile__":
                self.note("attribute", name)
                self.visit(value)

    def _module(self, module: ModuleType) -> None:
        """Add a module that is used as a value: all that it holds counts, if it is the user's."""
        name = module.__name__
        file = getattr(module, "__file__", None) or ""
        self.note("module", name)
        if is_library(name) or package(name) == "halfseen":
            return
        if is_installed(file) and version(package(name)):
            self.note(version(package(name)))
        elif id(module) not in self._seen:
            self._seen[id(module)] = len(self._seen)
            self._kept.append(module)
            for inner, value in sorted(vars(module).items()):
                if not (inner.startswith("__") and inner.endswith("__")):
                    self.note(inner)
                    self.visit(value)

    def _class(self, kind: Any) -> None:
        bases = [base for base in kind.__mro__[1:] if _decides(base)]
        self.note("class", str(len(bases)))
        if issubclass(kind, Enum):
            for member in kind:
                self.note(member.name)
                self.visit(member.value)
                for name, value in others_than_fields(member).items():
                    self.note("beside", name)
                    self.visit(value)
        if is_dataclass(kind):
            for entry in fields(kind):
                self.note(entry.name, str(entry.kw_only), str(entry.init))
            for default in unseen_defaults(kind):
                self.visit(default)
        if _is_named_tuple(kind):
            self.note(*kind._fields)
            self.visit(kind._field_defaults)
        for name, value in sorted(vars(kind).items()):
            if is_written(kind, name, value):
                self.note(name)
                self.visit(value)
        metaclass = [] if is_library_class(type(kind)) else [type(kind)]
        for base in (*bases, *metaclass):
            self.visit(base)

    def _state(self, value: Any) -> None:
        """Add an object's class and what a copy of it would be made from."""
        try:
            reduced = value.__reduce_ex__(4)
        except Exception as error:
            raise NoFingerprint(f"a {type(value).__name__} cannot be written down") from error
        self.note("object")
        self.visit(type(value))
        if _hides_its_state(type(value)):
            self.visit(others_than_fields(value))
        if isinstance(reduced, str):
            self.note(reduced)
            return
        make, arguments, state, *items = (*reduced, None)[:6]
        made = (copyreg.__newobj__, copyreg.__newobj_ex__)  # type: ignore[attr-defined]
        if make not in made:
            self.visit(make)
        self.visit(tuple(arguments))
        self.visit(without_cached(type(value), state))
        for entries in items:
            if isinstance(entries, Iterable):
                self.visit(list(entries))

    def _named_builtin(self, value: Any) -> None:
        if isinstance(value, np.ufunc) and not _is_known_ufunc(value):
            raise NoFingerprint(f"{value.__name__} does not show the function it was made from")
        owner = getattr(value, "__self__", None)
        where = package(getattr(value, "__module__", None) or type(value).__module__)
        name = getattr(value, "__qualname__", value.__name__)
        self.note("builtin", where.lstrip("_"), str(name))
        if owner is not None and not isinstance(owner, ModuleType | type):
            self.visit(owner)

    def _is_library(self, thing: Any) -> bool:
        """Return whether code is known by its name: not the user's, nor of the same package."""
        module = getattr(thing, "__module__", None)
        module = module if isinstance(module, str) else ""
        top = package(module)
        if module == "builtins" and isinstance(thing, FunctionType):  # made by exec
            return False
        if isinstance(thing, type) and is_library(module):
            return is_library_class(thing)
        if is_library(module) or (module.startswith(OWN_NAMED) and not _is_typed_in(thing)):
            return True
        if top in ("halfseen", self._package) or not self._package:
            return False
        file = getattr(sys.modules.get(module), "__file__", None) or ""
        return is_installed(file) and bool(version(top))

    def _library(self, module: str, name: str) -> None:
        top = package(module)
        of = "" if is_library(module) or top == "halfseen" else version(top)
        self.note("library", top.lstrip("_"), name, of)


def _as_json(value: Any) -> Any:
    """Return a field of a dataclass as it would be after writing it as JSON and reading it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Real) and not isinstance(value, Integral):
        return float(value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if not isinstance(value, list | tuple | np.ndarray):
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return value
    if array.size and array.dtype.kind == "f":
        return array.astype(np.float64)
    if array.size and array.dtype.kind == "i":
        return array.astype(np.int64)
    return array.tolist() if isinstance(value, np.ndarray) else value


def _is_named(value: Any) -> bool:
    return hasattr(value, "__qualname__") and given_to_numba(value) is None


def _is_known_ufunc(value: Any) -> bool:
    places = (np, sys.modules.get("scipy.special"))
    return any(getattr(place, value.__name__, None) is value for place in places)


def _hides_its_state(kind: type) -> bool:
    names = ("__reduce__", "__reduce_ex__", "__getstate__")
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    if is_library_class(kind) or is_installed(file):
        return False
    return any(getattr(kind, name) is not getattr(object, name) for name in names)


def _is_named_tuple(kind: Any) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _is_typed_in(thing: Any) -> bool:
    """Return whether a function was not read from a file: a doctest runs inside its module."""
    return isinstance(thing, FunctionType) and thing.__code__.co_filename.startswith("<")


def _is_typing(value: Any) -> bool:
    return type(value).__module__ == "typing"


def _decides(base: type) -> bool:
    return not is_library_class(base) and base.__module__ not in NOT_DECISIVE
