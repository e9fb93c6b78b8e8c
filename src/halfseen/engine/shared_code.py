"""Separately compiled functions, called by several loops through their symbols.

A symbol consists of the function's fingerprint and the types of its arguments, and is defined
before code that refers to it is loaded.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from halfseen.engine.entry_points import entry_name

SYMBOL = "halfseen_shared_"
Needs = list[tuple[str, tuple[Any, ...]]]  # fingerprints and types of shared functions


class Shared(NamedTuple):
    """A separately compiled function, with its fingerprint."""

    dispatcher: Any
    fingerprint: str


class _Provided(NamedTuple):
    """A symbol that code may refer to, and what to compile or load to define it."""

    fingerprint: str
    types: tuple[Any, ...]
    returns: Any
    library: Any  # lives as long as the process


_shared: dict[str, Shared] = {}
_provided: dict[str, _Provided] = {}


def share(dispatcher: Any, fingerprint: str) -> Shared:
    """Register a function under its fingerprint, so that other code can refer to it."""
    _shared[fingerprint] = Shared(dispatcher, fingerprint)
    return _shared[fingerprint]


def shared_symbols(module: Any) -> list[str]:
    """Return the symbols of the shared functions that a module calls."""
    return [f.name for f in module.functions if f.is_declaration and f.name.startswith(SYMBOL)]


def symbol_of(shared: Shared, kinds: tuple[Any, ...]) -> str:
    """Return the symbol of a shared function for given argument types."""
    text = "/".join([shared.fingerprint, *map(repr, kinds)])
    return SYMBOL + hashlib.sha256(text.encode()).hexdigest()[:32]


def define(shared: Shared, kinds: tuple[Any, ...]) -> _Provided:
    """Compile a shared function for given argument types, or load it, and define its symbol."""
    symbol = symbol_of(shared, kinds)
    if symbol not in _provided:
        shared.dispatcher.compile(kinds)
        result = shared.dispatcher.overloads[kinds]
        address = result.library.get_pointer_to_function(entry_name(result.fndesc))
        returns = result.signature.return_type
        assert address, f"{shared.dispatcher.py_func.__name__} cannot be shared: {returns}"
        llvm.add_symbol(symbol, address)
        _provided[symbol] = _Provided(shared.fingerprint, kinds, returns, result.library)
    return _provided[symbol]


def needs(library: Any) -> Needs:
    """Return the fingerprint and the types of every shared function that a library calls."""
    found = (_provided[symbol] for symbol in getattr(library, "needs", ()))
    return [(entry.fingerprint, entry.types) for entry in found]


def provide(needed: Needs) -> None:
    """Define the symbols of shared functions before code that calls them is loaded."""
    for fingerprint, kinds in needed:
        define(_shared[fingerprint], kinds)
