"""Specialise a loop to a policy's kernels, plain or compiled, and cache compiled code on disk.

A compiled function is identified by its argument types and a fingerprint of everything it can
reach, so that editing a kernel, a function it calls or a constant triggers a new compilation, and
nothing else does. The decorators of `halfseen.kernels.compile_hints` mark functions that are
inlined or shared by several loops.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Container, Iterable
from functools import cache, partial
from types import FunctionType
from typing import Any, Protocol

from halfseen.kernels.compile_hints import ALLOCATES, INLINE, LOOP, SHARED, hint
from halfseen.kernels.reachable import fingerprint, is_own, reach


class OpenNames(Protocol):
    """Kernels with the mapping of the loop's open names to them."""

    def names(self) -> dict[str, Any]:
        """Return what is substituted for the open names."""


def fitted(function: Callable[..., Any], kernels: OpenNames, **others: Any) -> FunctionType:
    """Return `function` with a policy's kernels substituted for its open names.

    Functions of the same module that it calls are fitted too, unless they are shared.
    """
    return _fitted(function, kernels.names() | others)


def _fitted(function: Callable[..., Any], open_names: dict[str, Any]) -> FunctionType:
    assert isinstance(function, FunctionType)
    names = function.__globals__ | open_names
    for name in set(function.__code__.co_names) - set(open_names):
        value = names.get(name)
        if not isinstance(value, FunctionType) or hint(value) == SHARED:
            continue
        if value.__module__ == function.__module__ and leaves_open(value, open_names):
            names[name] = _fitted(value, open_names)
    result = FunctionType(function.__code__, names, function.__name__)
    vars(result).update(vars(function))
    return result


def leaves_open(function: FunctionType, open_names: Container[str]) -> bool:
    """Return whether a function, or one of its module that it calls, uses an open name.

    Other functions are not copied for every policy, so that they are compiled once.
    """
    seen = {function}
    ahead = [function]
    while ahead:
        current = ahead.pop()
        for name in current.__code__.co_names:
            if name in open_names:
                return True
            value = current.__globals__.get(name)
            if isinstance(value, FunctionType) and value not in seen:
                seen.add(value)
                if value.__module__ == function.__module__:
                    ahead.append(value)
    return False


@cache
def compiled(function: Callable[..., Any], kernels: OpenNames, **others: Any) -> Callable[..., Any]:
    """Return the fitted function compiled, from disk if it was compiled before.

    With NUMBA_DISABLE_JIT, for a debugger, it is returned as it is.
    """
    from numba import config

    from halfseen.engine.one_module import native, register_part, register_shared, whole

    result = fitted(function, kernels, **others)
    if config.DISABLE_JIT:
        return result
    reached = reach(result)
    own = list(kernels.names().values())
    for callee in reached:
        plain = isinstance(callee, FunctionType)  # numba compiles its own functions by itself
        if callee is result or callee in _registered or not plain:
            continue
        _registered.add(callee)
        counts = may_allocate(callee)
        if hint(callee) == SHARED:
            register_shared(callee, *_key(callee), counts=counts)
        else:
            inlined = hint(callee) == INLINE or callee in own
            known = partial(part_fingerprint, callee, own)
            register_part(callee, known, inlined=inlined, counts=counts)
    make = native if hint(result) == LOOP else whole
    return make(result, *_key(result), counts=may_allocate(result))


def part_fingerprint(function: FunctionType, kernels: Iterable[Any]) -> str | None:
    """Return a function's fingerprint if loops of other policies may call it too, else None."""
    reached = reach(function)
    if any(kernel in reached for kernel in kernels) or not all(map(is_own, reached)):
        return None
    return fingerprint(function)


def may_allocate(function: FunctionType) -> bool:
    """Return whether a function may hold arrays that it, or a function it calls, has allocated.

    Users' functions may allocate; they pass only numbers to ours.
    """
    return not is_own(function) or any(hint(each) == ALLOCATES for each in reach(function))


def _key(function: FunctionType) -> tuple[str, bool]:
    """Return the cache key of compiled code, and whether it may be cached on disk."""
    found = fingerprint(function)
    if found is None:
        return f"{secrets.token_hex(16)} in this process", False
    return found, _importable(reach(function))


_registered: set[FunctionType] = set()


def _importable(functions: Iterable[Any]) -> bool:
    """Return whether a new process can import all functions, so that it can load their code."""
    return all(function.__module__ in sys.modules for function in functions)
