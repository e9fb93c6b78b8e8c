r"""All models with one threshold, by its angle and the ratio r of the probabilities beside it.

Up to the angle with :math:`\sin^2=1/d` the region above the threshold explores evenly alone. From
there on both regions are played in the end while :math:`1<r<r^\star`, the reachability threshold of
the equator.
"""

from __future__ import annotations

import math

from halfseen.censorship import MultiThreshold
from halfseen.theory.linear.path import InformationPath, information_path
from halfseen.theory.linear.reachability import reachability_threshold


def even_angle(d: int) -> float:
    """Return the largest angle, in radians, at which the upper region explores evenly alone.

    >>> round(math.degrees(even_angle(2)), 9)
    45.0
    """
    return math.asin(math.sqrt(1.0 / d))


def largest_ratio(angle: float, d: int) -> float:
    """Return the ratio of probabilities from which on only one region is played in the end.

    >>> round(largest_ratio(math.radians(60), 3), 9)
    2.666666667
    """
    return reachability_threshold(1.0 / math.cos(angle) ** 2, 0.0, d)


def largest_ratio_at(ratio: float, d: int) -> float:
    """Return the angle, in radians, at which `largest_ratio` is some number.

    >>> round(math.degrees(largest_ratio_at(8 / 3, 3)), 9)
    60.0
    """
    return math.acos(math.sqrt((d - 1) / (d * ratio)))


def path_of(angle: float, ratio: float, d: int) -> InformationPath:
    """Return the information path of the model in which all is observed below the threshold.

    >>> path_of(math.radians(60), 2.0, 3).regime
    'bi-region'
    """
    direction = [0.0] * (d - 1) + [1.0]
    return information_path(MultiThreshold([angle], [1.0, 1.0 / ratio], direction))
