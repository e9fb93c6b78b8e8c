"""The functions and constants that a kernel can reach through its globals and closures.

Halfseen's own functions are identified by their bytecode, all others by `halfseen.fingerprint`,
which follows every object that can hold a constant.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from halfseen.fingerprint import NoFingerprint
from halfseen.fingerprint import fingerprint as code_fingerprint
from halfseen.fingerprint.canonical_source import codes_in
from halfseen.fingerprint.numba_overloads import declared_types
from halfseen.kernels.compile_hints import hint

Kernel = TypeVar("Kernel")
_states: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()
_OWN_FILES = os.path.join(Path(__file__).parent.parent, "")  # ends in a separator


def renewed(kernel: Kernel) -> Kernel:
    """Return a kernel, or a copy of it if anything it reaches has changed since the first call.

    Numba caches compiled code by function object, with the helpers and constants of the time of
    compilation. In a notebook a helper can be redefined while the kernel that calls it stays the
    same object. If a change could not be detected, every call returns a new copy. Anything that is
    not a function of the user, plain or compiled by numba, is returned unchanged.
    """
    plain = _plain(kernel) if _is_compiled(kernel) else kernel
    if not isinstance(plain, FunctionType) or is_own(plain):
        return kernel
    try:
        now = code_fingerprint(kernel)
    except NoFingerprint:
        return _copied_with_types(kernel)
    states = _states.setdefault(kernel, {})
    if now not in states:
        # Code that numba compiled before may contain old constants.
        first = not states and not any(map(_is_compiled, _all_reached(kernel)))
        states[now] = kernel if first else _copied_with_types(kernel)
    return states[now]


def is_own(function: Any) -> bool:
    """Return whether a function belongs to this package."""
    return isinstance(function, FunctionType) and (
        _written_here(function) and not function.__closure__
    )


def _is_compiled(value: Any) -> bool:
    """Return whether an object was made by numba's njit or vectorize."""
    return type(value).__module__.startswith("numba.") and _plain(value) is not None


def _plain(value: Any) -> FunctionType | None:
    """Return the Python function behind an object made by numba's njit or vectorize."""
    found = getattr(getattr(value, "_dispatcher", value), "py_func", None)
    return found if isinstance(found, FunctionType) else None


def _copied_with_types(kernel: Kernel) -> Kernel:
    """Return a copy of a kernel whose callees are declared for the same types as before."""
    copies: dict[int, Any] = {}
    copy = cast(Kernel, _copied(kernel, copies))
    for value in reversed(list(_all_reached(kernel))):  # what is called before what calls it
        again, declared = copies.get(id(value), value), declared_types(value)
        if again is not value and declared:
            declare = again.add if hasattr(again, "add") else again.compile
            for signature in declared:
                declare(signature)
            again.disable_compile()
    return copy


def _copied(value: Any, copies: dict[int, Any]) -> Any:
    """Return a copy of a function, with copies of the functions it currently calls.

    Numba's compiled functions are copied in uncompiled form; of modules, only the names used are
    copied.
    """
    if id(value) in copies:
        return copies[id(value)]
    if _is_compiled(value):
        plain = _plain(value)
        if plain is None or is_own(plain):
            return value
        again = _copied(plain, copies)
        if id(value) not in copies:  # it is there if the function calls itself
            copies[id(value)] = _not_compiled(value, again)
        return copies[id(value)]
    if not isinstance(value, FunctionType) or is_own(value):
        return value
    names = dict(value.__globals__)
    cells = tuple(CellType() for _ in value.__closure__ or ())
    copy = FunctionType(value.__code__, names, value.__name__, value.__defaults__, cells or None)
    copy.__kwdefaults__, copy.__module__ = value.__kwdefaults__, value.__module__
    vars(copy).update(vars(value))
    copies[id(value)] = copy
    used = _names(value)
    for name in used & set(names):
        if isinstance(names[name], ModuleType):
            names[name] = _module_copied(names[name], used, copies)
        else:
            names[name] = _copied(names[name], copies)
    for cell, before in zip(cells, value.__closure__ or (), strict=True):
        try:
            cell.cell_contents = _copied(before.cell_contents, copies)
        except ValueError:  # not filled yet
            continue
    return copy


def _not_compiled(value: Any, plain: FunctionType) -> Any:
    from numba import vectorize

    if hasattr(value, "_dispatcher"):
        options = {k: v for k, v in value.targetoptions.items() if k != "nopython"}
        return vectorize(identity=value.identity, **options)(plain)
    return type(value)(
        plain,
        locals=value.locals,
        targetoptions=dict(value.targetoptions),
        pipeline_class=value._compiler.pipeline_class,
    )


def _module_copied(module: ModuleType, used: set[str], copies: dict[int, Any]) -> ModuleType:
    """Return a copy of a module with numba's functions uncompiled, if it has any."""
    known = {name: vars(module)[name] for name in used & set(vars(module))}
    own = {name: _copied(value, copies) for name, value in known.items() if _is_compiled(value)}
    if all(own[name] is known[name] for name in own):
        return module
    copy = ModuleType(module.__name__)
    vars(copy).update(vars(module) | own)
    return copy


def _names(function: FunctionType) -> set[str]:
    return {name for code in codes_in(function.__code__) for name in code.co_names}


def _all_reached(function: Any) -> Iterator[Any]:
    """Yield the objects a function reaches by name, through functions and one level of modules."""
    seen: set[int] = set()
    ahead: list[Any] = [function]
    while ahead:
        current = ahead.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        plain = _plain(current) if _is_compiled(current) else current
        if isinstance(plain, FunctionType) and not is_own(plain):
            used = _names(plain)
            held = [plain.__globals__.get(name) for name in used]
            for cell in plain.__closure__ or ():
                try:
                    held.append(cell.cell_contents)
                except ValueError:  # not filled yet
                    continue
            for value in held:
                inside = vars(value) if isinstance(value, ModuleType) else {}
                ahead += [value, *(inside[name] for name in used if name in inside)]


def reach(function: FunctionType) -> dict[Any, None]:
    """Return every function that a function can call through its globals, itself first.

    A function that numba has compiled is among them, what it calls in turn is not.
    """
    reached: dict[Any, None] = {}
    _walk(function, reached, lambda text: None)
    return reached


def fingerprint(function: FunctionType) -> str | None:
    """Return a digest of all code and constants that a function can reach.

    None if it reaches an object without a fingerprint, so that its code cannot be cached.
    """
    digest = hashlib.sha256()
    reached: dict[Any, None] = {}
    _walk(function, reached, digest.update)
    try:
        for found in reached:
            if not isinstance(found, FunctionType) or not _written_here(found):
                digest.update(code_fingerprint(found).encode())
    except NoFingerprint:
        return None
    return digest.hexdigest()


def _written_here(function: FunctionType) -> bool:
    return function.__code__.co_filename.startswith(_OWN_FILES)


def _walk(function: FunctionType, reached: dict[Any, None], note: Callable[[bytes], None]) -> None:
    """Visit every function and constant that `function` can reach through its globals."""
    if function in reached:
        return
    reached[function] = None
    note(f"{function.__module__} {hint(function)}".encode())
    for text in _contents(function.__code__):
        note(text.encode())
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        if isinstance(default, bool | int | float | complex | str | tuple):
            note(repr(default).encode())
    free = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name in sorted({*function.__code__.co_names, *free}):
        value = free[name].cell_contents if name in free else function.__globals__.get(name)
        if isinstance(value, FunctionType):
            note(name.encode())
            _walk(value, reached, note)
        elif _is_compiled(value):
            note(name.encode())
            reached[value] = None
        elif isinstance(value, BuiltinFunctionType | np.ufunc):
            note(f"{name}={getattr(value, '__module__', 'numpy')}.{value.__name__}".encode())
        elif isinstance(value, np.ndarray | np.generic):
            note(f"{name} {value.dtype.descr} {value.shape}".encode() + value.tobytes())
        elif isinstance(value, bool | int | float | complex | str | tuple):
            note(f"{name}={value!r}".encode())
        elif isinstance(value, ModuleType):
            note(f"{name}:{value.__name__}".encode())


def _contents(code: CodeType) -> list[str]:
    found = [code.co_code.hex(), repr(code.co_names), repr(code.co_varnames)]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += _contents(constant)
        elif not isinstance(constant, str):
            found.append(repr(constant))
    return found
