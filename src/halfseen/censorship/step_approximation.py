"""The multi-threshold model nearest to a smooth one."""

from __future__ import annotations

from typing import NamedTuple

from halfseen.censorship.link_models import LinkedCensorship
from halfseen.censorship.multi_threshold import MultiThreshold
from halfseen.errors import InvalidInput


class Staircase(NamedTuple):
    """A multi-threshold approximation and how far off it is.

    Attributes
    ----------
    censorship
        The multi-threshold model.
    error
        The largest difference in probability over the unit ball.
    """

    censorship: MultiThreshold
    error: float


def staircase(censorship: LinkedCensorship, regions: int) -> Staircase:
    r"""Return the multi-threshold model with the smallest largest error.

    Over the unit ball p takes every value between its smallest and its largest. Steps of equal
    height, each at the middle of the values it stands for, are off by at most

    .. math:: \frac{p_{\max}-p_{\min}}{2\,k},

    and no k steps do better: one of them would have to cover a larger range of values.

    Parameters
    ----------
    censorship
        A `Logistic` or a `LinkModel`. Where its feedback grows along its direction, the result
        points the other way.
    regions
        Number k of regions, at least 1.

    Returns
    -------
    Staircase
        The multi-threshold model and its largest error.

    Examples
    --------
    >>> from halfseen.censorship.link_models import Logistic
    >>> steps, error = staircase(Logistic([0, 1], slope=-2.0), regions=2)
    >>> [round(p, 4) for p in steps.observe], round(error, 4)
    ([0.6904, 0.3096], 0.1904)
    """
    if not isinstance(censorship, LinkedCensorship):
        raise InvalidInput(
            "censorship",
            "must be a smooth model along a direction",
            censorship,
            "Give a Logistic or a LinkModel.",
        )
    return Staircase(*censorship.in_steps(len(censorship.direction), regions))
