"""Fit the loop with a policy's kernels, raw or compiled, and keep the compiled code on disk.

A compiled function is found again by its name, its source file and its argument types. The names
given here end in a fingerprint of everything the function can reach, so that editing any kernel,
or a function it calls, or a constant, asks for a new compilation and nothing else does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from halfseen.policies.policy import Kernels


def fitted(function: Callable[..., Any], kernels: Kernels, jumps: bool) -> FunctionType:
    """Return `function` with a policy's kernels in place of the names it leaves open."""
    assert isinstance(function, FunctionType)
    names = {
        "index": kernels.index,
        "learn": kernels.learn,
        "width": kernels.width or _no_width,
        "fill": kernels.fill or _no_fill,
        "HAS_WIDTH": kernels.width is not None,
        "FILLS": kernels.fill is not None,
        "WAITS": kernels.waits,
        "JUMPS": jumps,
        "STATISTICS": kernels.statistics,
    }
    return FunctionType(function.__code__, function.__globals__ | names, function.__name__)


@cache
def compiled(function: Callable[..., Any], kernels: Kernels, jumps: bool) -> Callable[..., Any]:
    """Return the fitted function compiled, from disk if it was compiled before."""
    from numba import njit
    from numba.extending import register_jitable

    result = fitted(function, kernels, jumps)
    reached: dict[FunctionType, None] = {}
    fingerprint = hashlib.sha256()
    _walk(result, reached, fingerprint.update)
    result.__qualname__ = f"{function.__name__}_{fingerprint.hexdigest()[:16]}"
    for callee in reached:
        if callee is not result and callee not in _registered:
            # Rare detours are named with an underscore; everything else is worth inlining.
            register_jitable(forceinline=not callee.__name__.startswith("_"))(callee)
            _registered.add(callee)
    return njit(cache=True, nogil=True, error_model="numpy")(result)


_registered: set[FunctionType] = set()


def _no_width(state: Any, arm: int, clock: int, table: Any) -> float:
    return 0.0


def _no_fill(state: Any, arm: int, table: Any) -> float:
    return 0.0


def _walk(
    function: FunctionType, reached: dict[FunctionType, None], note: Callable[[bytes], None]
) -> None:
    """Visit every function and constant that `function` can reach through its globals."""
    if function in reached:
        return
    reached[function] = None
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
