"""The two actions between which to randomise so that regret buys the most information."""

from __future__ import annotations

import math

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import shared

FIRST, SECOND, CHANCE, RATIO = range(4)


@shared
def least_ratio(gaps: Vector, gains: Vector, out: Vector) -> None:
    r"""Write the distribution over actions that minimises (mean gap)^2 / (mean gain).

    Two actions suffice. With gaps g, h and gains u, v of a pair, B = h - g > 0 and E = v - u > 0,
    the second is played with probability :math:`q = g/B - 2u/E`; if that lies between 0 and 1 the
    ratio is :math:`4B(gE - Bu)/E^2`, otherwise one of the two is better alone. Where nothing can
    be gained the least gap is played.

    Parameters
    ----------
    gaps, gains
        Of each action, at least 0.
    out
        The two actions, the probability of the second and the ratio are written here.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.zeros(4)
    >>> least_ratio(np.array([0.1, 0.5]), np.array([0.01, 0.3]), out)
    >>> out.round(6).tolist()
    [0.0, 1.0, 0.181034, 0.475624]
    """
    actions = gaps.size
    least = math.inf
    lone = 0
    out[CHANCE] = 0.0
    for k in range(actions):
        if gaps[k] < gaps[lone]:
            lone = k
    out[FIRST] = lone
    for k in range(actions):
        if gains[k] > 0.0 or not gaps[k] > 0.0:
            ratio = gaps[k] * gaps[k] / gains[k] if gains[k] > 0.0 else 0.0
            if ratio < least:
                least = ratio
                out[FIRST] = k
    out[SECOND] = out[FIRST]
    for i in range(actions):
        for j in range(actions):
            rise, growth = gaps[j] - gaps[i], gains[j] - gains[i]
            if rise > 0.0 and growth > 0.0:
                inside = gaps[i] * growth - 2.0 * gains[i] * rise
                if 0.0 < inside < rise * growth:
                    ratio = 4.0 * rise * (gaps[i] * growth - rise * gains[i]) / (growth * growth)
                    if ratio < least:
                        least = ratio
                        out[FIRST] = i
                        out[SECOND] = j
                        out[CHANCE] = inside / (rise * growth)
    out[RATIO] = least if least < math.inf else 0.0
