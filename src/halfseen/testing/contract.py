"""Helpers shared by the checks of all kinds."""

from __future__ import annotations

import copy
import functools
import inspect
import math
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, ParamSpec

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.engine.arguments import Track
from halfseen.engine.backends import cpu, reference
from halfseen.engine.compile_ahead import as_a_process_gets_it
from halfseen.engine.player import AnyCell, blank_track
from halfseen.errors import InvalidInput, compiler_complaint, shorten
from halfseen.fingerprint import NoFingerprint, fingerprint

REPLICATIONS = 2
STREAM = (1, 2, 3, 4)  # what kernels are given to draw from while they are tried
Given = ParamSpec("Given")


@dataclass(frozen=True)
class OpenName:
    """One kernel and the name under which a loop calls it."""

    name: str
    kernel: Callable[..., Any]

    def names(self) -> dict[str, Any]:
        """Return the kernel by the name under which the loop calls it."""
        return {self.name: self.kernel}


def promised(check: Callable[Given, None]) -> Callable[Given, None]:
    """Decorate a check so that any exception raised by the kind becomes an AssertionError."""

    @functools.wraps(check)
    def checked(*given: Given.args, **options: Given.kwargs) -> None:
        try:
            check(*given, **options)
        except AssertionError:
            raise
        except Exception as error:
            kind = type(next(iter((*given, *options.values())), None)).__name__
            said = str(error) if isinstance(error, InvalidInput) else _raised(error)
            raise AssertionError(f"{kind} must accept its test input: {said}") from error

    return checked


def check_pickled(noun: Any) -> None:
    """Raise AssertionError unless an object survives pickling, as workers of a cluster need."""
    name = type(noun).__name__
    try:
        again = as_a_process_gets_it(noun)
    except Exception as error:
        raise AssertionError(f"{name} must be pickled ({type(error).__name__}: {error})") from error
    assert again == noun, f"{name} must be equal to itself once pickled"


def check_kind(noun: Any, base: type[Any]) -> None:
    """Raise AssertionError unless an object is a frozen dataclass of a kind, with a name."""
    name = type(noun).__name__
    if isinstance(noun, type):
        raise AssertionError(f"Give an object, {noun.__name__}(...), not the class itself")
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


def check_signature(noun: Any, kernel: str, arguments: str) -> None:
    """Raise AssertionError unless a kernel, if there is one, is a plain function of its arguments.

    Parameters
    ----------
    noun, kernel
        The object and the name of the kernel among its attributes.
    arguments
        The names of the arguments that the contract lists, separated by commas.
    """
    what, function = f"{type(noun).__name__}.{kernel}", getattr(noun, kernel, None)
    if function is None:
        return
    call = f"{kernel}({arguments})"
    assert not inspect.ismethod(function), (
        f"{what} must be a plain function without self: define {call} outside the class and write"
        f" {kernel} = staticmethod(...) inside it"
    )
    assert callable(function), f"{what} must be a function, {call}, not {shorten(function)}"
    wanted, taken = len(arguments.split(",")), arguments_of(function)
    assert taken == wanted, f"{what} must take {wanted} arguments, ({arguments}); it takes {taken}"


def check_methods(noun: Any, **arguments: str) -> None:
    """Raise AssertionError unless methods take the arguments that the contract lists.

    Parameters
    ----------
    noun
        The object.
    **arguments
        For each method, by its name, the names of its arguments, separated by commas.
    """
    for name, listed in arguments.items():
        method, call = getattr(noun, name), f"{name}({listed})"
        what = f"{type(noun).__name__}.{name}"
        assert callable(method), f"{what} must be a method, {call}, not {shorten(method)}"
        try:
            inspect.signature(method).bind(*listed.split(", "))
        except TypeError as error:
            raise AssertionError(f"{what} must be called as {call} ({error})") from None


def call_kernel(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a kernel; its exceptions become an AssertionError that names it."""
    try:
        return function(*arguments)
    except AssertionError:
        raise
    except Exception as error:
        names = inspect.signature(function).parameters
        given = [
            f"{name} is an array of shape {value.shape}"
            if isinstance(value, np.ndarray)
            else f"{name} is {shorten(value)}"
            for name, value in zip(names, arguments, strict=False)
            if isinstance(value, np.ndarray | int | float)
        ]
        raise AssertionError(
            f"{what} must work on every input from the loop. It raised {type(error).__name__}:"
            f" {error}, where {', '.join(given)}"
        ) from error


def check_number(what: str, value: Any) -> float:
    """Return a kernel's result after checking that it is a number and not NaN."""
    assert isinstance(value, int | float | np.integer | np.floating), (
        f"{what} must return a number, not {shorten(value)}"
    )
    assert not math.isnan(value), f"{what} must return a number, not NaN"
    return float(value)


def check_attributes(policy: Any, *flags: str) -> None:
    """Raise AssertionError unless flags of a policy are True or False and its lambda above 0."""
    name, weight = type(policy).__name__, policy.regularization
    for flag in flags:
        value = getattr(policy, flag)
        assert isinstance(value, bool), f"{name}.{flag} must be True or False, not {shorten(value)}"
    number = isinstance(weight, int | float) and not isinstance(weight, bool)
    assert number and weight > 0.0, (  # noqa: PT018
        f"{name}.regularization must be a number above 0, not {shorten(weight)}"
    )


def check_no_draws(what: str, function: Callable[..., Any], *given: Any) -> None:
    """Raise AssertionError if a kernel draws though its policy says that no choice is random."""
    other = [(5, 6, 7, 8) if value is STREAM else value for value in given]
    assert function(*given) == function(*other), (
        f"{what} must not draw from the stream where `randomises` is False, or None and `waits`"
        " True: probabilities of choices are taken to be 0 or 1"
    )


def check_constants(noun: Any, *arguments: Any) -> Vector:
    """Return the result of `table` as an array of floats, after checking that it is numeric."""
    what, before = f"{type(noun).__name__}.table", copy.deepcopy(noun)
    try:
        returned, again = noun.table(*arguments), noun.table(*arguments)
    except InvalidInput:
        raise
    except Exception as error:
        raise AssertionError(f"{what} raised {type(error).__name__}: {error}") from error
    try:
        constants = None if returned is None else np.array(returned, dtype=float, order="C")
    except (TypeError, ValueError):
        constants = None
    assert constants is not None, f"{what} must return an array of numbers, not {shorten(returned)}"
    assert np.array_equal(constants, np.asarray(again, dtype=float), equal_nan=True), (
        f"{what} must return the same every time: no randomness, no state"
    )
    assert noun == before, f"{what} must not change the fields of {type(noun).__name__}"
    return constants


def check_pure(what: str, function: Callable[..., Any], *arguments: Any) -> float:
    """Return a kernel's number after checking that it is pure: repeatable, arguments unchanged."""
    kept = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    first = check_number(what, call_kernel(what, function, *arguments))
    for given, before in zip(arguments, kept, strict=True):
        same = not isinstance(given, np.ndarray) or np.array_equal(given, before, equal_nan=True)
        assert same, f"{what} must not write to its arguments"
    _check_same(what, first, function(*arguments))
    return first


def _check_same(what: str, first: Any, second: Any) -> None:
    assert first == second, (
        f"{what} must return the same for the same arguments: draw from the stream, keep no state"
    )


@contextmanager
def compiling(noun: Any) -> Iterator[None]:
    """Turn the compiler's errors about a kernel into an AssertionError that explains them."""
    try:
        yield
    except Exception as error:
        said = compiler_complaint(error)
        if said is None:
            raise
        raise AssertionError(
            f"The kernels of {noun} must be plain functions that numba can compile: {said}"
        ) from None


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
        raise AssertionError(f"{noun}: {what} raised {_raised(error)}, {playing}") from error
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
    for kernel in ("index", "width", "radius", *watchers):
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
            _check_same(what, value, function(*given))
        return value

    return checked


def _watched_choice(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that checks that it returns the number of an action that is playable."""

    def checked(*given: Any) -> Any:
        third = given[2]  # which arms are playable, or the memory of a policy for vectors
        arms = third.dtype == np.uint8
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
            _check_same(what, value, again)
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


def _arrays(given: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays among a kernel's arguments by name."""
    found: dict[str, NDArray[Any]] = {}
    for name, value in given.items():
        inner = value._asdict() if hasattr(value, "_asdict") else {name: value}
        found |= {n: array for n, array in inner.items() if isinstance(array, np.ndarray)}
    return found


def _raised(error: Exception) -> str:
    """Return an exception's name, message and the line that raised it."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    where = f"{os.path.basename(frame.f_code.co_filename)}, line {line}"
    return f"{type(error).__name__}: {error} ({where})"


def arguments_of(function: Callable[..., Any]) -> int:
    """Return how many arguments a kernel takes."""
    return len(inspect.signature(getattr(function, "py_func", function)).parameters)


def ignore(replications: int) -> None:
    """Ignore progress."""
