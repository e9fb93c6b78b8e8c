"""The two actions between which to randomise to minimise the information ratio."""

from __future__ import annotations

import math

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import inline, shared

FIRST, SECOND, CHANCE, RATIO = range(4)


@shared
def least_ratio(gaps: Vector, gains: Vector, out: Vector) -> None:
    r"""Write the distribution over actions that minimises (mean gap)^2 / (mean gain).

    Two actions suffice. With gaps g, h and gains u, v of a pair, B = h - g > 0 and E = v - u > 0,
    the second is played with probability :math:`q = g/B - 2u/E`; if that lies between 0 and 1 the
    ratio is :math:`4B(gE - Bu)/E^2`, otherwise one of the two is better alone. The ratio is convex,
    so the search starts from the best single action, mixes in actions that lower the ratio, and
    ends at the minimum when no action does. If all gains are 0, the action of least gap is played.

    Parameters
    ----------
    gaps, gains
        Expected gap and information gain of each action, at least 0.
    out
        Output: the two actions, the probability of the second, and the ratio.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.zeros(4)
    >>> least_ratio(np.array([0.1, 0.5]), np.array([0.01, 0.3]), out)
    >>> out.round(6).tolist()
    [0.0, 1.0, 0.181034, 0.475624]
    """
    smallest, least = math.inf, math.inf
    lone, first = 0, -1
    for k in range(gaps.size):  # without branches, which would be guessed wrong
        lone = k if gaps[k] < smallest else lone
        smallest = gaps[k] if gaps[k] < smallest else smallest
        ratio = gaps[k] * gaps[k] / gains[k] if gains[k] > 0.0 else math.inf
        ratio = ratio if gains[k] > 0.0 or gaps[k] > 0.0 else 0.0
        first = k if ratio < least else first
        least = ratio if ratio < least else least
    out[FIRST] = first if first >= 0 else lone
    out[SECOND] = out[FIRST]
    out[CHANCE] = 0.0
    out[RATIO] = least if least < math.inf else 0.0
    if 0.0 < least < math.inf:
        mix_in(gaps, gains, out)


@inline
def mix_in(gaps: Vector, gains: Vector, out: Vector) -> None:
    """Mix in the action along which the ratio decreases fastest, until it decreases along none."""
    i = j = int(out[FIRST])
    chance, least = 0.0, out[RATIO]
    falls = True
    while falls:
        gap = gaps[i] + chance * (gaps[j] - gaps[i])
        gain = gains[i] + chance * (gains[j] - gains[i])
        steepest = gap * gain
        third = i
        for k in range(gaps.size):
            slope = 2.0 * gain * gaps[k] - gap * gains[k]
            third = k if slope < steepest else third
            steepest = slope if slope < steepest else steepest
        falls = False
        if third != i and third != j:
            for other in (i, j):
                low, high = (third, other) if gaps[third] < gaps[other] else (other, third)
                rise, growth = gaps[high] - gaps[low], gains[high] - gains[low]
                inside = gaps[low] * growth - 2.0 * gains[low] * rise
                if growth > 0.0 and 0.0 < inside < rise * growth:
                    ratio = (
                        4.0 * rise * (gaps[low] * growth - rise * gains[low]) / (growth * growth)
                    )
                    if ratio < least:
                        falls = True
                        i, j, least = low, high, ratio
                        chance = inside / (rise * growth)
    out[FIRST], out[SECOND], out[CHANCE], out[RATIO] = i, j, chance, least
