"""Exact probabilities that a random walk ever leaves a region."""

from __future__ import annotations

import numpy as np

from halfseen.checks import Vector


def shortfall_probability(observe: float, least: Vector) -> float:
    """Return the probability that the observed count ever falls below a limit.

    Parameters
    ----------
    observe
        Probability p that a round is observed.
    least
        The smallest count allowed after rounds 1, 2, ...; minus infinity for no limit.

    Examples
    --------
    >>> shortfall_probability(0.5, np.array([-np.inf, 1.0]))  # neither of two rounds observed
    0.25
    """
    law = np.zeros(len(least) + 1)
    law[0] = 1.0
    counts = np.arange(len(law))
    left = 0.0
    for limit in least:
        law[1:] = (1.0 - observe) * law[1:] + observe * law[:-1]
        law[0] *= 1.0 - observe
        out = counts < limit
        left += float(law[out].sum())
        law[out] = 0.0
    return left


def excursion_probability(most: Vector) -> float:
    """Return the probability that a walk of fair steps of plus or minus 1 ever exceeds a limit.

    Parameters
    ----------
    most
        The largest distance from 0 allowed after steps 1, 2, ...

    Examples
    --------
    >>> excursion_probability(np.array([1.0, 1.0]))
    0.5
    """
    steps = len(most)
    places = np.abs(np.arange(-steps - 1, steps + 2))
    law = (places == 0).astype(float)
    left = 0.0
    for limit in most:
        law[1:-1] = 0.5 * (law[:-2] + law[2:])
        out = places > limit
        left += float(law[out].sum())
        law[out] = 0.0
    return left
