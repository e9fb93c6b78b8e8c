"""Kernels that are checked at every call of a short study in plain Python."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.engine.arguments import Track
from halfseen.engine.backends import cpu, reference
from halfseen.engine.player import AnyCell, blank_track
from halfseen.errors import InvalidInput, shorten
from halfseen.policies import Policy
from halfseen.testing.contract import (
    OTHER_STREAM,
    REPLICATIONS,
    check_no_draws,
    check_number,
    check_same,
    compiling,
    ignore,
    raised,
)


def check_engines(cell: AnyCell, noun: Any) -> Track:
    """Return a cell's tracks after checking that plain and compiled code agree to the last bit."""
    plain = blank_track(cell, REPLICATIONS)
    playing = f"playing {cell.problem} under {cell.censorship}"
    try:
        reference.run(replace(cell, policy=watched(cell.policy)), plain, report=ignore, workers=1)
    except AssertionError as error:
        raise AssertionError(f"{error}, {playing}") from None
    except InvalidInput as error:
        raise AssertionError(f"{error} It was {playing}") from error
    except Exception as error:
        what = "a kernel" if noun is cell.policy else "its code"
        raise AssertionError(f"{noun}: {what} raised {raised(error)}, {playing}") from error
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


def watched(policy: Any) -> Any:
    """Return a policy whose kernels are checked at every call, for plain Python only."""
    kernels, name = policy.kernels(), type(policy).__name__
    changed: dict[str, Any] = {}
    watchers = {"choose": _watched_choice, "learn": _watched_learning, "fill": watched_fill}
    watchers |= {"pull": _watched_round, "mature": _watched_round}
    if not policy.is_random:
        timeless = isinstance(policy, Policy) and kernels.waits
        watchers["index"] = partial(_watched_index, timeless=timeless)
        watchers["choose"] = partial(_watched_choice, random=False)
    for kernel in dict.fromkeys(("index", "width", "radius", *watchers)):
        if getattr(kernels, kernel, None) is not None:
            watch = watchers.get(kernel, _watched_number)
            changed[kernel] = watch(f"{name}.{kernel}", getattr(kernels, kernel))
    same = copy.copy(policy)
    object.__setattr__(same, "kernels", lambda: replace(kernels, **changed))
    return same


def _watched_number(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that checks that it returns a number, the same for the same arguments."""

    def checked(*given: Any) -> Any:
        with _unchanged(what, function, given):
            value = check_number(what, function(*given))
            check_same(what, value, function(*given))
        return value

    return checked


def _watched_index(
    what: str, function: Callable[..., Any], *, timeless: bool
) -> Callable[..., Any]:
    """Return an index that checks that it draws nothing and, if `timeless`, ignores the clock."""

    def checked(*given: Any) -> Any:
        clock, _, table = given[-3:]
        with _unchanged(what, function, given):
            value = check_number(what, function(*given))
            other = function(*given[:-3], clock + timeless, OTHER_STREAM, table)
        if value != other:
            check_same(what, value, function(*given))
            check_no_draws(what, function, *given)
            later = function(*given[:-3], clock + 1, given[-2], table)
            raise AssertionError(
                f"{what} must not depend on the clock where `waits` is True: it is {value:g} in"
                f" round {clock} and {later:g} in round {clock + 1}. Set waits = False"
            )
        return value

    return checked


def _watched_choice(
    what: str, function: Callable[..., Any], *, random: bool = True
) -> Callable[..., Any]:
    """Return a kernel that checks that it returns the number of an action that is playable."""

    def checked(*given: Any) -> Any:
        third = given[2]  # which arms are playable, or the memory of a policy for vectors
        arms = third.dtype == np.uint8
        if not random:
            check_no_draws(what, lambda *values: function(*_copied(values)), *given)
        with _unchanged(what, function, given, own=0 if arms else 2):
            value = function(*given)
        assert isinstance(value, int | np.integer), (
            f"{what} must return the number of an action, not {shorten(value)}"
        )
        assert 0 <= value < len(given[0]), (
            f"{what} returned {value}: actions are numbered from 0 to {len(given[0]) - 1}"
        )
        assert not arms or third[value] == 1, (
            f"{what} returned arm {value}, which is not playable: playable[{value}] is 0"
        )
        return value

    return checked


def _watched_learning(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that checks that it adds one to the count of its arm, and to nothing else."""

    def checked(state: NDArray[Any], arm: int, *given: Any) -> None:
        before = state.copy()
        with _unchanged(what, function, (state, arm, *given), own=0):
            function(state, arm, *given)
        assert state[arm, 0] == before[arm, 0] + 1.0, (
            f"{what} must add one to state[arm, 0], the number of observations: it went from"
            f" {before[arm, 0]:g} to {state[arm, 0]:g}"
        )
        before[arm] = state[arm]
        assert np.array_equal(state, before, equal_nan=True), (
            f"{what} must change the row state[arm] only"
        )

    return checked


def _watched_round(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that checks that it changes the state alone, and no count of rewards."""

    def checked(state: NDArray[Any], *given: Any) -> None:
        counts = state[:, 0].copy()
        with _unchanged(what, function, (state, *given), own=0):
            function(state, *given)
        assert np.array_equal(state[:, 0], counts), (
            f"{what} must leave state[:, 0], the numbers of observations, as they are"
        )

    return checked


def watched_fill(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that checks that it returns the same for the same arguments; NaN too."""

    def checked(*given: Any) -> Any:
        with _unchanged(what, function, given):
            value, again = function(*given), function(*given)
        if value == value:  # NaN stands for learning nothing
            check_same(what, value, again)
        return value

    return checked


@contextmanager
def _unchanged(
    what: str, function: Callable[..., Any], given: tuple[Any, ...], own: int | None = None
) -> Iterator[None]:
    """Check that a kernel leaves the arrays among its arguments alone, except its own."""
    names = inspect.signature(function).parameters
    arrays = _arrays({n: a for k, (n, a) in enumerate(zip(names, given)) if k != own})  # noqa: B905
    kept = {name: array.copy() for name, array in arrays.items()}
    yield
    for name, array in arrays.items():
        assert np.array_equal(array, kept[name], equal_nan=True), (
            f"{what} must not write to its arguments: it changed `{name}`"
        )


def _copied(given: tuple[Any, ...]) -> list[Any]:
    return [value.copy() if isinstance(value, np.ndarray) else value for value in given]


def _arrays(given: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays among a kernel's arguments by name."""
    found: dict[str, NDArray[Any]] = {}
    for name, value in given.items():
        inner = value._asdict() if hasattr(value, "_asdict") else {name: value}
        found |= {n: array for n, array in inner.items() if isinstance(array, np.ndarray)}
    return found
