"""Any censorship along a direction as steps: angles, and a probability between each two."""

from __future__ import annotations

from typing import Any, NamedTuple

from halfseen import checks
from halfseen.censorship import MultiThreshold, Population, Uniform, staircase
from halfseen.censorship.link_models import LinkedCensorship
from halfseen.errors import InvalidInput

MOST_REGIONS = 100_000


class Steps(NamedTuple):
    """What of a censorship its theory needs, once the direction is known.

    Attributes
    ----------
    thresholds
        The angles between regions, in radians.
    observe
        The probability of being observed in each region.
    dimension
        Number of coordinates of an action.
    error
        The largest difference in probability from the censorship given, 0 if it has steps itself.
    """

    thresholds: tuple[float, ...]
    observe: tuple[float, ...]
    dimension: int
    error: float


def as_steps(censorship: Any, dimension: int | None, regions: int) -> Steps:
    """Return the steps of a multi-threshold, uniform, population or smooth model.

    >>> as_steps(Uniform(0.5), 3, regions=8)
    Steps(thresholds=(), observe=(0.5,), dimension=3, error=0.0)
    """
    if isinstance(censorship, Uniform):
        return Steps((), (censorship.observe,), _dimension(dimension, None), 0.0)
    length, error = None, 0.0
    if isinstance(censorship, Population):
        censorship = censorship.censorship([1.0])
    elif isinstance(censorship, LinkedCensorship):
        count = checks.whole("regions", regions, at_least=1, at_most=MOST_REGIONS)
        censorship, error = staircase(censorship, count)
        length = len(censorship.direction)
    elif isinstance(censorship, MultiThreshold):
        length = len(censorship.direction)
    else:
        raise InvalidInput(
            "censorship",
            "must be a model along a direction",
            censorship,
            "Give a MultiThreshold, Uniform, Population, Logistic or LinkModel.",
        )
    thresholds, observe = tuple(censorship.thresholds), tuple(censorship.observe)
    return Steps(thresholds, observe, _dimension(dimension, length), error)


def _dimension(value: int | None, length: int | None) -> int:
    if value is None and length is not None:
        return length
    if value is None:
        raise InvalidInput(
            "dimension",
            "must be given, for this censorship has no direction",
            value,
            "Give the number of coordinates of an action.",
        )
    dimension = checks.whole("dimension", value, at_least=1)
    if length is not None and dimension != length:
        raise InvalidInput(
            "dimension",
            f"must be {length}, the length of the censorship's direction",
            dimension,
            "Leave it out.",
        )
    return dimension
