"""Conversion of a censorship along a direction to a multi-threshold model."""

from __future__ import annotations

from typing import Any, NamedTuple

from halfseen import checks
from halfseen.censorship import MultiThreshold
from halfseen.errors import InvalidInput


class Steps(NamedTuple):
    """A multi-threshold model of a censorship, with the error of the approximation.

    Attributes
    ----------
    model
        The multi-threshold model.
    dimension
        Number of coordinates of an action.
    error
        The largest difference in probability from the given censorship; 0 if that is a step
        function itself.
    """

    model: MultiThreshold
    dimension: int
    error: float


def as_steps(censorship: Any, dimension: int | None, regions: int = 8) -> Steps:
    """Return a censorship as steps, by its method `in_steps`.

    >>> from halfseen.censorship import Uniform
    >>> steps = as_steps(Uniform(0.5), 3)
    >>> steps.model.observe, steps.dimension, steps.error
    ((0.5,), 3, 0.0)
    """
    direction = getattr(censorship, "direction", None)
    d = len(direction) if direction is not None else dimension or 1
    found = censorship.in_steps(d, regions) if hasattr(censorship, "in_steps") else None
    if found is None:
        raise InvalidInput(
            "censorship",
            "must be a model along a direction",
            censorship,
            "Give a MultiThreshold, Uniform, Population, Logistic or LinkModel.",
        )
    if direction is not None:
        same_dimension(d, dimension)
    elif dimension is None:
        raise InvalidInput(
            "dimension",
            f"must be given, because {type(censorship).__name__} has no direction",
            None,
            "Give the number of coordinates of an action.",
        )
    return Steps(found[0], checks.whole("dimension", d, at_least=1), found[1])


def range_along(censorship: Any, dimension: int | None) -> tuple[int, float, float]:
    """Return the dimension, the smallest and the largest probability of being observed.

    >>> from halfseen.censorship import MultiThreshold
    >>> range_along(MultiThreshold([0.5], [0.9, 0.2], [0, 1]), None)
    (2, 0.2, 0.9)
    """
    model, d, error = as_steps(censorship, dimension, regions=1)
    low, high = model.observe_range if error == 0.0 else censorship.observe_range
    return d, low, high


def same_dimension(known: int, dimension: int | None) -> int:
    """Return the known dimension; raise if another one was given."""
    if dimension is not None and checks.whole("dimension", dimension, at_least=1) != known:
        raise InvalidInput(
            "dimension", f"must be {known}, that of the censorship", dimension, "Leave it out."
        )
    return known
