"""Call a compiled loop by its address, without numba's wrapper for unpacking tuples.

A loop takes three named tuples of some forty arrays. Numba's wrapper for them is a third of the
code of a linear loop and takes longer to compile than the rest, for every policy. Here Python
unpacks the tuples: every array becomes its address, shape and strides. The global interpreter lock
is released during the call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import types as numba_types

from halfseen.engine.entry_points import WORD, entry_name, passed

types: Any = numba_types  # numba fills this module at run time
DOUBLE = ir.DoubleType()
Kinds = tuple[Any, ...]


class NativeCall:
    """A compiled function of numbers, arrays and tuples of them that returns nothing.

    Parameters
    ----------
    dispatcher
        The function compiled without a wrapper.
    wrapped
        The same function with a wrapper, compiled only when it is called: for arguments of other
        types, and to raise the exceptions of the function.
    """

    def __init__(self, dispatcher: Any, wrapped: Any) -> None:
        self._dispatcher = dispatcher
        self._wrapped = wrapped
        self._native: dict[tuple[Any, ...], Any] = {}

    @property
    def stats(self) -> Any:
        """Numbers of cache hits and misses on disk."""
        return self._dispatcher.stats

    @property
    def overloads(self) -> Any:
        """The compiled code by the types of the arguments."""
        return self._dispatcher.overloads

    @property
    def may_be_kept(self) -> bool:
        """Whether the compiled code can be kept on disk."""
        return self._dispatcher._cache.cache_path is not None

    @property
    def stems(self) -> list[str]:
        """Prefixes of the names of its entries on disk, without and with a wrapper."""
        both = (self._dispatcher, self._wrapped)
        return [each._cache.stem(each.targetctx.codegen()) for each in both]

    def __call__(self, *arguments: Any) -> None:
        """Call the function."""
        layout = tuple(layouts(arguments))
        if layout not in self._native:
            self._native[layout] = self._find(tuple(map(typeof, arguments)))
        native = self._native[layout]
        if native is None or native(*taken_apart(arguments)):
            self._wrapped(*arguments)

    def _find(self, kinds: Kinds) -> Any:
        """Return the function at its address, None if its arguments cannot be unpacked."""
        taken = argument_kinds(self._dispatcher.targetctx, kinds)
        if taken is None:
            return None
        self._dispatcher.compile(kinds)
        result = self._dispatcher.overloads[kinds]
        assert result.signature.return_type == types.none
        address = result.library.get_pointer_to_function(entry_name(result.fndesc))
        return ctypes.CFUNCTYPE(ctypes.c_int32, *taken)(address)


def argument_kinds(context: Any, kinds: Kinds) -> list[Any] | None:
    """Return the C types for arguments of given types, None if they are not supported."""
    found: list[Any] = []
    for word in (word for kind in kinds for word in passed(context, kind)):
        if isinstance(word, ir.PointerType):
            found.append(ctypes.c_void_p)
        elif word == WORD:
            found.append(ctypes.c_int64)
        elif word == DOUBLE:
            found.append(ctypes.c_double)
        else:
            return None
    return found


def layouts(argument: Any) -> Iterator[Any]:
    """Yield the properties that determine an argument's type, faster than numba's `typeof`."""
    if isinstance(argument, np.ndarray):
        yield from (argument.dtype, argument.ndim, argument.flags.num)
    elif isinstance(argument, tuple):
        yield type(argument)
        yield len(argument)
        for part in argument:
            yield from layouts(part)
    else:
        yield type(argument)


def taken_apart(argument: Any) -> Iterator[Any]:
    """Yield the numbers and addresses that an argument consists of.

    An array is passed as its address, its shape and its strides.

    >>> array = np.zeros((2, 3))
    >>> address = array.__array_interface__["data"][0]
    >>> list(taken_apart((5, array))) == [5, address, 2, 3, 24, 8]
    True
    """
    if isinstance(argument, np.ndarray):
        yield argument.__array_interface__["data"][0]
        yield from argument.shape
        yield from argument.strides
    elif isinstance(argument, tuple):
        for part in argument:
            yield from taken_apart(part)
    else:
        yield argument
