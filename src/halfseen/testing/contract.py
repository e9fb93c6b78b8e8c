"""What the checks of all kinds have in common."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np

from halfseen.engine.arguments import Track
from halfseen.engine.backends import cpu, reference
from halfseen.engine.player import AnyCell, blank_track
from halfseen.errors import InvalidInput
from halfseen.fingerprint import NoFingerprint, fingerprint

REPLICATIONS = 2


@dataclass(frozen=True)
class OpenName:
    """One kernel and the name under which a loop calls it."""

    name: str
    kernel: Callable[..., Any]

    def names(self) -> dict[str, Any]:
        """Return the kernel by the name under which the loop calls it."""
        return {self.name: self.kernel}


def check_kind(noun: Any, base: type[Any]) -> None:
    """Raise AssertionError unless something is a frozen, named dataclass of a kind."""
    name = type(noun).__name__
    assert isinstance(noun, base), f"{noun!r} must be derived from {base.__name__}"
    assert is_dataclass(noun), f"{name} must be a dataclass: write @dataclass(frozen=True) above it"
    frozen = getattr(type(noun), "__dataclass_params__").frozen  # noqa: B009
    assert frozen, f"{name} must be frozen: write @dataclass(frozen=True) above it"
    kind = getattr(noun, "kind", None)
    assert isinstance(kind, str), f"{name} must have a name: set `kind` to the name specs give it"
    assert kind.strip(), f"{name} must have a name: set `kind` to the name specs give it"
    try:
        fingerprint(noun)
    except NoFingerprint as error:
        raise AssertionError(f"{name} must be made of code and values ({error})") from None
    assert copy.deepcopy(noun) == noun, f"{name} must be equal to its copy"


def check_pure(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return a kernel's value after checking that it is pure: repeatable, arguments unchanged."""
    kept = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    first = function(*arguments)
    for given, before in zip(arguments, kept, strict=True):
        same = not isinstance(given, np.ndarray) or np.array_equal(given, before, equal_nan=True)
        assert same, f"{what} must not write to its arguments"
    second = function(*arguments)
    assert np.array_equal(first, second, equal_nan=True), (
        f"{what} must return the same for the same arguments: draw from the stream, keep no state"
    )
    return first


@contextmanager
def compiling(noun: Any) -> Iterator[None]:
    """Turn the compiler's complaints about a kernel into a sentence."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith("numba"):
            raise
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = next((line for line in lines if "Failed in" not in line), "unknown reason")
        raise AssertionError(
            f"The kernels of {noun} must be plain functions that numba can compile: {said}"
        ) from None


def check_engines(cell: AnyCell, noun: Any) -> Track:
    """Return a cell's tracks if plain Python and compiled code give the same, to the last bit."""
    plain = blank_track(cell, REPLICATIONS)
    reference.run(cell, plain, report=ignore, workers=1)
    for name, array in plain.arrays().items():
        assert np.isfinite(array).all(), f"{name}: not a number for {noun}"
    for workers in (1, 2):
        fast = blank_track(cell, REPLICATIONS)
        with compiling(noun):
            cpu.run(cell, fast, report=ignore, workers=workers)
        for name, array in plain.arrays().items():
            assert np.array_equal(array, fast.arrays()[name]), (
                f"{name}: plain Python and compiled with {workers} workers differ for"
                f" {cell.policy} on {cell.problem} under {cell.censorship}"
            )
    return plain


def refused(function: Callable[..., Any], *arguments: Any) -> str | None:
    """Return the sentence with which something is refused, None if it is not."""
    try:
        function(*arguments)
    except InvalidInput as error:
        return str(error)
    return None


def arguments_of(function: Callable[..., Any]) -> int:
    """Return how many arguments a kernel takes."""
    return len(inspect.signature(function).parameters)


def ignore(replications: int) -> None:
    """Ignore progress."""
