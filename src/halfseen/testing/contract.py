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
from dataclasses import dataclass, is_dataclass
from typing import Any, ParamSpec

import numpy as np

from halfseen.checks import Vector
from halfseen.engine.compile_ahead import as_a_process_gets_it
from halfseen.errors import InvalidInput, compiler_complaint, shorten
from halfseen.fingerprint import NoFingerprint, fingerprint
from halfseen.kinds import other_of_the_name

REPLICATIONS = 2
STREAM = (1, 2, 3, 4)  # what kernels are given to draw from while they are tried
OTHER_STREAM = (5, 6, 7, 8)
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
    """Decorate a check of a kind, which must not raise and must keep no state.

    Any exception raised by the kind becomes an AssertionError.
    """

    @functools.wraps(check)
    def checked(*given: Given.args, **options: Given.kwargs) -> None:
        noun = next(iter((*given, *options.values())), None)
        kind, before = type(noun).__name__, _hash(noun)
        try:
            check(*given, **options)
        except AssertionError:
            raise
        except Exception as error:
            said = str(error) if isinstance(error, InvalidInput) else raised(error)
            raise AssertionError(f"{kind} must accept its test input: {said}") from error
        assert _hash(noun) == before, (
            f"{kind} must keep no state: an attribute, or a variable that its code reads, changed"
            " while it was checked. Stored results are found again by what a kind is made of;"
            " functools.cache remembers results without being part of it"
        )

    return checked


def _hash(noun: Any) -> str | None:
    """Return the fingerprint of an object; None if it has none, which `check_kind` tells."""
    try:
        return fingerprint(noun)
    except NoFingerprint:
        return None


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
    taken = other_of_the_name(type(noun))
    assert taken is None, (
        f"{name} must have a name of its own: {taken} is called {kind!r}. Set another `kind`"
    )
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
    """Raise AssertionError if a kernel draws though its policy says that no choice is random.

    The last two arguments of the kernel are the stream and the table.
    """
    assert function(*given) == function(*given[:-2], OTHER_STREAM, given[-1]), (
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
    check_same(what, first, function(*arguments))
    return first


def check_same(what: str, first: Any, second: Any) -> None:
    """Raise AssertionError unless two results of a kernel for the same arguments are equal."""
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


def raised(error: Exception) -> str:
    """Return an exception's name, message and the line that raised it."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    where = f"{os.path.basename(frame.f_code.co_filename)}, line {line}"
    return f"{type(error).__name__}: {error} ({where})"


def arguments_of(function: Callable[..., Any]) -> int:
    """Return how many arguments a kernel takes."""
    return len(inspect.signature(getattr(function, "py_func", function)).parameters)


def ignore(replications: int) -> None:
    """Ignore progress."""
