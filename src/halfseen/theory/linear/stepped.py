"""Any censorship along a direction as steps: a multi-threshold model."""

from __future__ import annotations

from typing import Any, NamedTuple

from halfseen import checks
from halfseen.censorship import MultiThreshold, Population, Uniform, staircase
from halfseen.censorship.link_models import LinkedCensorship
from halfseen.errors import InvalidInput

MOST_REGIONS = 100_000


class Steps(NamedTuple):
    """A censorship as steps, with the dimension and the error of the approximation.

    Attributes
    ----------
    model
        The steps.
    dimension
        Number of coordinates of an action.
    error
        The largest difference in probability from the censorship given, 0 if it has steps itself.
    """

    model: MultiThreshold
    dimension: int
    error: float


def as_steps(censorship: Any, dimension: int | None, regions: int = 8) -> Steps:
    """Return the steps of a multi-threshold, uniform, population or smooth model.

    >>> steps = as_steps(Uniform(0.5), 3)
    >>> steps.model.observe, steps.dimension, steps.error
    ((0.5,), 3, 0.0)
    """
    error = 0.0
    if isinstance(censorship, Uniform | Population):
        d = _given(dimension, type(censorship).__name__)
        direction = [1.0] + [0.0] * (d - 1)
        if isinstance(censorship, Population):
            return Steps(censorship.censorship(direction), d, error)
        return Steps(MultiThreshold([], [censorship.observe], direction), d, error)
    if isinstance(censorship, LinkedCensorship):
        count = checks.whole("regions", regions, at_least=1, at_most=MOST_REGIONS)
        censorship, error = staircase(censorship, count)
    if not isinstance(censorship, MultiThreshold):
        raise InvalidInput(
            "censorship",
            "must be a model along a direction",
            censorship,
            "Give a MultiThreshold, Uniform, Population, Logistic or LinkModel.",
        )
    return Steps(censorship, same_dimension(len(censorship.direction), dimension), error)


def same_dimension(known: int, dimension: int | None) -> int:
    """Return the known dimension; raise if another one was given."""
    if dimension is not None and checks.whole("dimension", dimension, at_least=1) != known:
        raise InvalidInput(
            "dimension", f"must be {known}, that of the censorship", dimension, "Leave it out."
        )
    return known


def _given(dimension: int | None, model: str) -> int:
    if dimension is None:
        raise InvalidInput(
            "dimension",
            f"must be given, for {model} has no direction",
            None,
            "Give the number of coordinates of an action.",
        )
    return checks.whole("dimension", dimension, at_least=1)
