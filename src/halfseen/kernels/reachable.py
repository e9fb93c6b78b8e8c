"""What a kernel can reach: functions and constants, through its globals and closures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, ModuleType
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from halfseen.kernels.compile_hints import hint

Kernel = TypeVar("Kernel")
_states: WeakKeyDictionary[FunctionType, dict[str, FunctionType]] = WeakKeyDictionary()


def renewed(kernel: Kernel) -> Kernel:
    """Return a kernel, or a copy of it if what it reaches has changed since it was first asked for.

    Compiled code is found by the function it was made from and keeps the helpers and constants of
    that moment. In a notebook a helper can be defined anew while the kernel that calls it stays
    the same object. Anything that is not a function of the user's is returned as it is.
    """
    if not isinstance(kernel, FunctionType) or is_own(kernel):
        return kernel
    states = _states.setdefault(kernel, {})
    now = fingerprint(kernel)
    if now not in states:
        states[now] = _copied(kernel, {}) if states else kernel
    return states[now]  # type: ignore[return-value]


def is_own(function: FunctionType) -> bool:
    """Return whether a function is of this package, not of a user."""
    return str(function.__module__).startswith("halfseen.") and not function.__closure__


def _copied(function: FunctionType, copies: dict[FunctionType, FunctionType]) -> FunctionType:
    """Return a copy of a function with copies of the functions it calls, as they are now."""
    if is_own(function):
        return function
    if function in copies:
        return copies[function]
    names = dict(function.__globals__)
    cells = tuple(CellType() for _ in function.__closure__ or ())
    copy = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, cells or None
    )
    copy.__module__ = function.__module__
    vars(copy).update(vars(function))
    copies[function] = copy
    for name in function.__code__.co_names:
        if isinstance(names.get(name), FunctionType):
            names[name] = _copied(names[name], copies)
    for cell, before in zip(cells, function.__closure__ or (), strict=True):
        value = before.cell_contents
        cell.cell_contents = _copied(value, copies) if isinstance(value, FunctionType) else value
    return copy


def reach(function: FunctionType) -> dict[FunctionType, None]:
    """Return every function that a function can call through its globals, itself first."""
    reached: dict[FunctionType, None] = {}
    _walk(function, reached, lambda text: None)
    return reached


def fingerprint(function: FunctionType) -> str:
    """Return a digest of all code and constants that a function can reach."""
    digest = hashlib.sha256()
    _walk(function, {}, digest.update)
    return digest.hexdigest()


def _walk(
    function: FunctionType, reached: dict[FunctionType, None], note: Callable[[bytes], None]
) -> None:
    """Visit every function and constant that `function` can reach through its globals."""
    if function in reached:
        return
    reached[function] = None
    note(f"{function.__module__} {hint(function)}".encode())
    for text in _contents(function.__code__):
        note(text.encode())
    free = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name in sorted({*function.__code__.co_names, *free}):
        value = free[name].cell_contents if name in free else function.__globals__.get(name)
        if isinstance(value, FunctionType):
            note(name.encode())
            _walk(value, reached, note)
        elif isinstance(value, np.ndarray):
            note(name.encode() + value.tobytes())
        elif isinstance(value, bool | int | float | str | tuple):
            note(f"{name}={value!r}".encode())
        elif isinstance(value, ModuleType):
            note(f"{name}:{value.__name__}".encode())


def _contents(code: CodeType) -> list[str]:
    return [code.co_code.hex(), repr(code.co_names), repr(code.co_varnames)] + [
        repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType | str)
    ]
