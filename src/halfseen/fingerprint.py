"""A hash of code and values that is the same in every process and on every version of Python.

It covers a function, what it is called with by default, every function, class and constant it
reaches through globals, closures and imports, and the state of objects among them. Functions of
the standard library, numpy, scipy and numba are known by name; those of other installed packages
by name, version and the hashes their files were installed with. What a function reads from a file,
or looks up by a name it computes, is not seen.
"""

from __future__ import annotations

import copyreg
import dataclasses
import functools
import hashlib
import importlib
import sys
import types
from collections import namedtuple
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import metadata
from numbers import Integral, Real
from pathlib import PurePath
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from halfseen.canonical_source import Source, codes_in, source_of

LIBRARIES = {*sys.stdlib_module_names, "numpy", "scipy", "numba", "builtins"} - {"__main__"}
# Parts of this package that refuse and convert, and loops that `TRAJECTORIES` speaks for.
OWN_NAMED = (
    "halfseen.checks",
    "halfseen.engine",
    "halfseen.errors",
    "halfseen.fingerprint",
    "halfseen.kernels.reachable",
)
_MISSING = object()
_BUILTIN = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    np.ufunc,
)
_GENERATED = {*vars(namedtuple("_Empty", ())), "__replace__"}
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)


class NoFingerprint(TypeError):
    """Something reached has no value that could be written down, such as an open file."""


def fingerprint(thing: Any) -> str:
    """Return a hash of a value, a function, a class or an object, and of all the code it reaches.

    The fields of a dataclass count as JSON would hold them: a list, a tuple and an array of the
    same numbers are the same.

    Raises
    ------
    NoFingerprint
        If something reached cannot be written down.

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
    """Visits everything reachable and hashes it; what was seen before is known by its number."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # alive, so that no other object gets the same id
        self._package = ""  # of the code that is being looked at

    def note(self, *words: str) -> None:
        """Add words to the hash, told apart by their lengths."""
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
            self._array(np.asarray(value))
        elif kind in (tuple, list):
            self.note("list" if plain else kind.__name__, str(len(value)))
            for entry in value:
                self.visit(entry, plain)
        elif kind is dict:
            self.note("dict", str(len(value)))
            for key, entry in value.items():
                self.visit(key)
                self.visit(entry, plain)
        elif kind in (set, frozenset):
            self.note("set", *sorted(fingerprint(entry) for entry in value))
        elif isinstance(value, ModuleType):
            self.note("module", value.__name__)
        elif isinstance(value, Enum):
            self.note("enum", kind.__name__, value.name)
            self.visit(value.value)
        elif isinstance(value, PurePath | np.dtype | range | slice):
            self.note(kind.__name__, str(value))
        else:
            self._object(value)

    def _array(self, array: np.ndarray[Any, Any]) -> None:
        if array.dtype.hasobject:
            self.note("objects", str(array.shape))
            self.visit(array.tolist())
            return
        self.note("array", array.dtype.str, str(array.shape) if array.size else "empty")
        rows = array.reshape(-1) if array.ndim == 0 else array
        for begin in range(0, len(rows), step := max(1, (1 << 24) // max(1, rows[:1].nbytes))):
            self.hash.update(np.ascontiguousarray(rows[begin : begin + step]).tobytes())

    def _object(self, value: Any) -> None:
        """Add a function, a class or an object with a state."""
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
        elif hasattr(value, "__qualname__") and self._is_library(value):
            self._library(value.__module__, value.__qualname__)
        elif is_dataclass(value) and not isinstance(value, type):
            self.visit(type(value))
            for entry in fields(value):
                self.note(entry.name)
                self.visit(getattr(value, entry.name), plain=True)
        elif id(value) in self._seen:
            self.note("again", str(self._seen[id(value)]))
        else:
            self._seen[id(value)] = len(self._seen)
            self._kept.append(value)
            self._first_time(value)

    def _first_time(self, value: Any) -> None:
        package = self._package
        if isinstance(value, FunctionType):
            self._package = _package(value.__module__)
            self._function(value)
        elif isinstance(value, type):
            self._package = _package(value.__module__)
            self._class(value)
        elif isinstance(getattr(value, "py_func", None), FunctionType):  # compiled by numba
            self.note("compiled")
            self.visit(value.py_func)
        elif isinstance(value, functools._lru_cache_wrapper):
            self.visit(value.__wrapped__)
        else:
            self._state(value)
        self._package = package

    def _function(self, function: FunctionType) -> None:
        source = source_of(function)
        self.note("function", source.text)
        self.visit(function.__defaults__)
        self.visit(function.__kwdefaults__)
        for name, value in _reached(function, source):
            self.note(name)
            if isinstance(value, ModuleType):
                self.note("module")  # of which only what is named counts
            else:
                self.visit(value)

    def _class(self, kind: Any) -> None:
        bases = [base for base in kind.__mro__[1:] if _package(base.__module__) not in LIBRARIES]
        self.note("class", str(len(bases)))
        if issubclass(kind, Enum):
            for member in kind:
                self.note(member.name)
                self.visit(member.value)
        if is_dataclass(kind):
            for entry in fields(kind):
                self.note(entry.name, str(entry.kw_only), str(entry.init))
        if _is_named_tuple(kind):
            self.note(*kind._fields)
            self.visit(kind._field_defaults)
        for name, value in sorted(vars(kind).items()):
            if _is_own(kind, name, value):
                self.note(name)
                self.visit(value)
        metaclass = [] if _package(type(kind).__module__) in LIBRARIES else [type(kind)]
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
        if isinstance(reduced, str):
            self.note(reduced)
            return
        make, arguments, state, *items = (*reduced, None)[:6]
        made = (copyreg.__newobj__, copyreg.__newobj_ex__)  # type: ignore[attr-defined]
        if make not in made:
            self.visit(make)
        self.visit(tuple(arguments))
        self.visit(state)
        for entries in items:
            if isinstance(entries, Iterable):
                self.visit(list(entries))

    def _named_builtin(self, value: Any) -> None:
        owner = getattr(value, "__self__", None)
        where = _package(getattr(value, "__module__", None) or type(value).__module__)
        name = getattr(value, "__qualname__", value.__name__)
        self.note("builtin", where.lstrip("_"), str(name))
        if owner is not None and not isinstance(owner, ModuleType | type):
            self.visit(owner)

    def _is_library(self, thing: Any) -> bool:
        """Return whether code is known by its name: not the user's, nor of the same package."""
        module = getattr(thing, "__module__", None)
        module = module if isinstance(module, str) else ""
        top = _package(module)
        if top in LIBRARIES or (module.startswith(OWN_NAMED) and not _is_typed_in(thing)):
            return True
        if top in ("halfseen", self._package) or not self._package:
            return False
        file = getattr(sys.modules.get(module), "__file__", None) or ""
        return bool({"site-packages", "dist-packages"} & set(PurePath(file).parts))

    def _library(self, module: str, name: str) -> None:
        top = _package(module)
        version = "" if top in LIBRARIES or top == "halfseen" else _version(top)
        self.note("library", top.lstrip("_"), name, version)


def _reached(function: FunctionType, source: Source) -> list[tuple[str, Any]]:
    """Return what a function's names stand for, apart from locals and builtins."""
    code = function.__code__
    within = {name for part in codes_in(code) for name in (*part.co_names, *part.co_freevars)}
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    found: dict[str, Any] = {}
    for chain in source.names:
        if chain[0] not in within:
            continue
        value = function.__globals__.get(chain[0], _MISSING)
        if chain[0] in cells:
            try:
                value = cells[chain[0]].cell_contents
            except ValueError:  # not filled yet
                value = _MISSING
        found |= _along(chain, value)
    for module, name in source.imports:
        package = function.__globals__.get("__package__") or ""
        try:
            value = importlib.import_module(module, package)
        except Exception:  # whatever a missing or failing module raises, the function would too
            continue
        if name is not None:
            found |= _along((module, name), value)
    return sorted(found.items(), key=lambda pair: pair[0])


def _along(chain: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Follow a dotted name through modules, to the first thing that is not one."""
    name = chain[0]
    for part in chain[1:]:
        if not isinstance(value, ModuleType):
            break
        inner = getattr(value, part, _MISSING)
        if _package(value.__name__) in LIBRARIES and not isinstance(inner, ModuleType):
            return {f"{value.__name__}.{part}": value}
        name, value = f"{name}.{part}", inner
    return {} if value is _MISSING else {name: value}


def _is_own(kind: Any, name: str, value: Any) -> bool:
    """Return whether a class's attribute was written by somebody and is not bookkeeping."""
    if "_fields" in vars(kind) and (name in kind._fields or name in _GENERATED):
        return False
    if isinstance(value, _SLOTS) or name.startswith(("_abc_", "__annotat")) or name == "__repr__":
        return False
    inner = value.__func__ if isinstance(value, staticmethod | classmethod) else value
    if issubclass(kind, Enum) and (
        not isinstance(inner, FunctionType) or inner.__module__ == "enum"
    ):
        return False
    if isinstance(inner, FunctionType):
        generated = is_dataclass(kind)
        return not (generated and inner.__code__.co_filename in ("<string>", dataclasses.__file__))
    return not (name.startswith("__") and name.endswith("__"))


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
    return array.tolist()


def _is_named_tuple(kind: Any) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _is_typed_in(thing: Any) -> bool:
    """Return whether a function was not read from a file: a doctest runs inside its module."""
    return isinstance(thing, FunctionType) and thing.__code__.co_filename.startswith("<")


def _is_typing(value: Any) -> bool:
    return type(value).__module__ == "typing"


def _package(module: Any) -> str:
    return module.partition(".")[0] if isinstance(module, str) else ""


@functools.cache
def _version(package: str) -> str:
    """Return the version of an installed package and a hash of the sources it was installed with.

    Installing an edited package again under the same version changes the second.
    """
    names = [package, *metadata.packages_distributions().get(package, [])]
    for name in names:
        try:
            found = metadata.distribution(name)
            files = (found.read_text("RECORD") or "").splitlines()
        except Exception:  # no such distribution, or a broken one
            continue
        sources = "\n".join(sorted(line for line in files if ".py," in line))
        return f"{found.version} {hashlib.sha256(sources.encode()).hexdigest()}"
    return str(getattr(sys.modules.get(package), "__version__", ""))
