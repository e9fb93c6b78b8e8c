"""Decorators that control how functions are compiled into loops.

A loop and every function it can reach become one module, which is optimized once as a whole. For
each function the compiler decides by itself whether to inline it, unless it carries a marker:

`inline`
    is always inlined. For short functions in the innermost loop that, according to a measurement,
    the compiler would not inline.
`shared`
    is compiled once, separately, cached on disk under its own fingerprint and called by every loop.
    For coarse work that does not depend on the policy (recording a design, eigenvalues,
    refactoring): it is not compiled again with each policy, and a call costs a few nanoseconds per
    array passed. A shared function must not raise, and must not use names that are replaced by a
    policy's kernels.
`allocates`
    allocates arrays. It and the functions that can call it count references to arrays, which costs
    about 10 ns for every view of a matrix row; the other functions of this package do not count
    references and must not allocate.
`loop`
    is called from Python, once for many rounds, with named tuples of arrays, and returns nothing.
    It is called by its address, without a wrapper that unpacks the tuples.

A marker has no effect in plain Python or on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
INLINE, SHARED, ALLOCATES, LOOP = "inline", "shared", "allocates", "loop"


def inline(function: Function) -> Function:
    """Mark a function as always inlined."""
    vars(function)["__compile__"] = INLINE
    return function


def shared(function: Function) -> Function:
    """Mark a function as compiled once, separately, and called by every loop."""
    vars(function)["__compile__"] = SHARED
    return function


def allocates(function: Function) -> Function:
    """Mark a function as allocating arrays."""
    vars(function)["__compile__"] = ALLOCATES
    return function


def loop(function: Function) -> Function:
    """Mark a function as called from Python, once for many rounds."""
    vars(function)["__compile__"] = LOOP
    return function


def hint(function: Callable[..., Any]) -> str | None:
    """Return a function's marker, None if it has none.

    >>> hint(shared(lambda x: x)), hint(lambda x: x)
    ('shared', None)
    """
    found: str | None = vars(function).get("__compile__")
    return found
