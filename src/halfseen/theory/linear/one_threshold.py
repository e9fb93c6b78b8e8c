r"""Models with one threshold, by its angle and the ratio r of the probabilities on either side.

Up to the angle with :math:`\sin^2=1/d` the region above the threshold alone explores all directions
evenly. Beyond it both regions are eventually played while :math:`1<r<r^\star`, the reachability
threshold of the equator.
"""

from __future__ import annotations

import math

from halfseen.censorship import MultiThreshold
from halfseen.theory.linear.path import InformationPath, information_path
from halfseen.theory.linear.reachability import reachability_threshold


def even_angle(d: int) -> float:
    """Return the largest angle, in radians, at which the upper region alone explores evenly.

    >>> round(math.degrees(even_angle(2)), 9)
    45.0
    """
    return math.asin(math.sqrt(1.0 / d))


def largest_ratio(angle: float, d: int) -> float:
    """Return the ratio of probabilities from which only one region is eventually played.

    >>> round(largest_ratio(math.radians(60), 3), 9)
    2.666666667
    """
    return reachability_threshold(1.0 / math.cos(angle) ** 2, 0.0, d)


def largest_ratio_at(ratio: float, d: int) -> float:
    """Return the angle, in radians, at which `largest_ratio` takes a given value.

    >>> round(math.degrees(largest_ratio_at(8 / 3, 3)), 9)
    60.0
    """
    return math.acos(math.sqrt((d - 1) / (d * ratio)))


def path_of(angle: float, ratio: float, d: int) -> InformationPath:
    """Return the information path of the model with p = 1 below the threshold.

    >>> path_of(math.radians(60), 2.0, 3).regime
    'bi-region'
    """
    direction = [0.0] * (d - 1) + [1.0]
    return information_path(MultiThreshold([angle], [1.0, 1.0 / ratio], direction))
