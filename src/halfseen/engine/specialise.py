"""Fit the loop with a policy's kernels, raw or compiled, and keep the compiled code on disk.

A compiled function is found again by its name, its source file and its argument types. The names
given here end in a fingerprint of everything the function can reach, so that editing any kernel,
or a function it calls, or a constant, asks for a new compilation and nothing else does.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol

import numpy as np

from halfseen.kernels.compile_hints import INLINE, SHARED, hint

LONG = 700  # bytes of bytecode
BODIES = ("play_once", "pick")  # of loops, as fast as if written in place


class OpenNames(Protocol):
    """Kernels that know which of the loop's open names they stand for."""

    def names(self) -> dict[str, Any]:
        """Return what the open names stand for."""


def fitted(function: Callable[..., Any], kernels: OpenNames, **others: Any) -> FunctionType:
    """Return `function` with a policy's kernels in place of the names it leaves open.

    Functions of the same module that it calls are fitted too.
    """
    return _fitted(function, kernels.names() | others)


def _fitted(function: Callable[..., Any], open_names: dict[str, Any]) -> FunctionType:
    assert isinstance(function, FunctionType)
    names = function.__globals__ | open_names
    for name in set(function.__code__.co_names) - set(open_names):
        value = names.get(name)
        if isinstance(value, FunctionType) and value.__module__ == function.__module__:
            names[name] = _fitted(value, open_names)
    result = FunctionType(function.__code__, names, function.__name__)
    vars(result).update(vars(function))
    return result


@cache
def compiled(function: Callable[..., Any], kernels: OpenNames, **others: Any) -> Callable[..., Any]:
    """Return the fitted function compiled, from disk if it was compiled before."""
    from numba import njit
    from numba.extending import register_jitable

    result = fitted(function, kernels, **others)
    reached: dict[FunctionType, None] = {}
    fingerprint = hashlib.sha256(f"{LONG}{BODIES}".encode())
    _walk(result, reached, fingerprint.update)
    result.__qualname__ = f"{function.__name__}_{fingerprint.hexdigest()[:16]}"
    for callee in reached:
        if callee is not result and callee not in _registered:
            # Long functions and rare detours, named with an underscore, only slow the compiler.
            short = len(callee.__code__.co_code) <= LONG and not callee.__name__.startswith("_")
            forced = short or callee.__name__ in BODIES or hint(callee) == INLINE
            register_jitable(forceinline=forced and hint(callee) != SHARED)(callee)
            _registered.add(callee)
    # Code from a module that cannot be imported again cannot be loaded from disk again either.
    keep = all(callee.__module__ in sys.modules for callee in reached)
    return njit(cache=keep, nogil=True, error_model="numpy")(result)


_registered: set[FunctionType] = set()


def _walk(
    function: FunctionType, reached: dict[FunctionType, None], note: Callable[[bytes], None]
) -> None:
    """Visit every function and constant that `function` can reach through its globals."""
    if function in reached:
        return
    reached[function] = None
    note(str(function.__module__).encode())
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
