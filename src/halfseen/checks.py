"""Validation of user input; every error names the field, the value and how to fix it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from halfseen.errors import InvalidInput, counted_entries, did_you_mean

Vector = NDArray[np.float64]
Method = TypeVar("Method", bound=Callable[..., Any])
NAMED_LIMIT = 10**12  # larger limits are named only where they are exceeded
IN_LIMITS = "Give a number within these limits."


def number(
    field: str,
    value: Any,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    below: float = math.inf,
    fix: str = "",
) -> float:
    """Return `value` as a finite float inside the given limits.

    >>> number("UCB.regularization", 2, above=0)
    2.0
    """
    limits = _limits(above, at_least, at_most, below)
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InvalidInput(field, f"must be a number{limits}", value, fix or "Give a number.")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    inside = above < result < below and at_least <= result <= at_most
    if not math.isfinite(result) or not inside:
        raise InvalidInput(field, f"must be a finite number{limits}", value, fix or IN_LIMITS)
    return result


def whole(
    field: str, value: Any, *, at_least: int, at_most: int | None = None, fix: str = ""
) -> int:
    """Return `value` as an int of at least `at_least`."""
    integral = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if not integral and isinstance(value, float) and value.is_integer():
        value, integral = int(value), True
    beyond = integral and at_most is not None and value > at_most
    if integral and value >= at_least and not beyond:
        return int(value)
    named = at_most is not None and (beyond or at_most < NAMED_LIMIT)
    span = f"at least {at_least}" + (f" and at most {at_most}" if named else "")
    usual = f"Use {at_most} or less." if beyond else f"Use {at_least} or more."
    fix = (fix or usual) if integral else "Give a whole number."
    raise InvalidInput(field, f"must be a whole number of {span}", value, fix)


def vector(
    field: str,
    value: Any,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    length: int | None = None,
    may_be_empty: bool = False,
    fix: str = "",
) -> tuple[float, ...]:
    """Return `value` as a tuple of finite floats inside the given limits."""
    unordered = isinstance(value, dict | set | frozenset)
    if unordered or isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidInput(
            field, "must be a list of numbers", value, "Give a list, such as [0.6, 0.5]."
        )
    entries = np.atleast_1d(value).tolist() if isinstance(value, np.ndarray) else list(value)
    if not entries and not may_be_empty:
        raise InvalidInput(field, "must not be empty", value, "Give at least one number.")
    limits = {"above": above, "at_least": at_least, "at_most": at_most}
    result = tuple(
        number(f"{field}[{place}]", entry, fix=fix, **limits) for place, entry in enumerate(entries)
    )
    if length is not None and len(result) != length:
        raise InvalidInput(
            field,
            f"must have {length} entries, one per arm",
            counted_entries(len(result)),
            "Match the number of arms.",
        )
    return result


def seed(field: str, value: Any) -> int:
    """Return `value` as a whole number of at most 128 bits."""
    return whole(field, value, at_least=0, at_most=2**128 - 1, fix="Use for example 1.")


def yes_or_no(field: str, value: Any) -> bool:
    """Return `value` if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(field, "must be true or false", value, "Give one of the two.")
    return bool(value)


def one_of(
    field: str, value: Any, choices: Iterable[str], other_names: Mapping[str, str] | None = None
) -> str:
    """Return `value` if it is among `choices`, otherwise name the nearest one.

    Parameters
    ----------
    field, value
        What is given.
    choices
        The names it may be.
    other_names
        What to suggest for names that others use.
    """
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    meant = (other_names or {}).get(value) if isinstance(value, str) else None
    fix = did_you_mean(value, known) if meant is None else f"Did you mean {meant!r}?"
    raise InvalidInput(field, f"must be one of {', '.join(known)}", value, fix)


def by_name(positional: int, example: str) -> Callable[[Method], Method]:
    """Decorate a method that takes only so many arguments by place: more get a sentence.

    Python's own message counts `self`, and does not say what the others are called.
    """

    def decorate(method: Method) -> Method:
        @wraps(method)
        def checked(self: object, *args: Any, **options: Any) -> Any:
            if len(args) > positional:
                raise InvalidInput(
                    type(self).__name__,
                    f"takes {positional} arguments by place and the others by name",
                    args[positional],
                    f"Write {example}.",
                )
            return method(self, *args, **options)

        return cast(Method, checked)

    return decorate


@contextmanager
def inside(owner: str) -> Iterator[None]:
    """Prefix the field of errors raised inside the with block with the owner's name."""
    try:
        yield
    except InvalidInput as error:
        field = f"{owner}.{error.field.partition('.')[2] or error.field}"
        raise InvalidInput(field, error.requirement, error.value, error.fix) from None


def observation_probabilities(field: str, value: Any) -> tuple[float, ...]:
    """Return probabilities of being observed, each in ]0, 1]."""
    values = vector(field, value, above=0.0, at_most=1.0, fix=OBSERVE_FIX)
    for place, entry in enumerate(values):
        _not_vanishing(f"{field}[{place}]", entry)
    return values


def observation_probability(field: str, value: Any) -> float:
    """Return one probability of being observed, in ]0, 1]."""
    result = number(field, value, above=0.0, at_most=1.0, fix=OBSERVE_FIX)
    _not_vanishing(field, result)
    return result


OBSERVE_FIX = (
    "Give the probability that feedback is seen, above 0 and at most 1 (0.9 for 90%);"
    " an arm that is never seen cannot be learned, so leave it out."
)


SMALLEST_OBSERVE = 1e-300  # below, sums of 1/p overflow


def _not_vanishing(field: str, value: float) -> None:
    if value < SMALLEST_OBSERVE:
        raise InvalidInput(
            field, f"must not be below {SMALLEST_OBSERVE:g}, which is never", value, OBSERVE_FIX
        )


def _limits(above: float, at_least: float, at_most: float, below: float) -> str:
    parts = []
    if above > -math.inf:
        parts.append(f"above {above:g}")
    if at_least > -math.inf:
        parts.append(f"at least {at_least:g}")
    if below < math.inf:
        parts.append(f"below {below:g}")
    if at_most < math.inf:
        parts.append(f"at most {at_most:g}")
    return " " + " and ".join(parts) if parts else ""


def row_per_arm(noun: object, table: Any, arms: int) -> Vector:
    """Return what the `table` of a policy or a law returned: a row of constants per arm.

    Compiled kernels read it without looking whether a row is there.
    """
    try:
        rows = np.ascontiguousarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.zeros(0)
    if rows.ndim != 2 or len(rows) != arms:
        raise InvalidInput(
            f"{type(noun).__name__}.table",
            "must return a row of constants per arm",
            table,
            f"Return an array of {arms} rows.",
        )
    return rows
