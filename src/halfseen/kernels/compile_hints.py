"""Decorators that control how functions are compiled into loops.

A loop and every function it can reach become one module, which is optimized once as a whole. For
each function the compiler decides by itself whether to inline it, unless it carries a marker:

`inline`
    is always inlined. For short functions in the innermost loop, where a measurement shows that
    the compiler decides otherwise.
`shared`
    is compiled once, apart, kept on disk under its own fingerprint and called by every loop. For
    coarse work that does not depend on the policy (recording a design, eigenvalues, refactoring):
    it is not compiled again with each policy, and a call costs a few nanoseconds per array
    passed. A shared function must not raise, and none of the names it uses may be left open
    for a policy's kernels.
`allocates`
    makes new arrays. It and the functions that can call it count references to arrays, which
    costs about 10 ns for every row of a matrix that is named; no other function of this package
    counts them, so that none may allocate.
`loop`
    is called from Python, once for many rounds, with named tuples of arrays, and returns nothing.
    It is called by its address, without a wrapper that takes the tuples apart.

A marker changes nothing in plain Python nor on a GPU.
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
    """Mark a function as compiled once, apart, and called."""
    vars(function)["__compile__"] = SHARED
    return function


def allocates(function: Function) -> Function:
    """Mark a function as making new arrays."""
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
