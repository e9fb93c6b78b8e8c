"""The potential of four policies under a censorship along a direction, and its growth."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Any, NamedTuple

import numpy as np

from halfseen.checks import Vector
from halfseen.theory.arms.dimension import effective_dimension
from halfseen.theory.linear.kept_regions import EVEN
from halfseen.theory.linear.path import InformationPath
from halfseen.theory.linear.stepped import as_steps
from halfseen.theory.linear.worst_case import worst_case_potential


class WaysToPlay(NamedTuple):
    """One value, or one per horizon, for each of four policies.

    Attributes
    ----------
    largest
        For the policy with the largest potential.
    most_censored
        For playing only the most censored region.
    path
        For the paper's information path.
    least_known
        For always playing the least known direction.
    """

    largest: Any
    most_censored: Any
    path: Any
    least_known: Any


def potentials(path: InformationPath, censorship: Any, horizons: Vector) -> WaysToPlay:
    """Return the potential J of four policies at the given horizons.

    Parameters
    ----------
    path
        The information path of the censorship.
    censorship
        The censorship itself, for which the largest potential is computed.
    horizons
        Numbers of rounds.

    Returns
    -------
    WaysToPlay
        An array for each policy, with one value per horizon.
    """
    d, lam = path.dimension, path.regularization
    largest = [
        worst_case_potential(censorship, d, regularization=lam, horizon=float(horizon)).value
        for horizon in horizons
    ]
    p, sine = path.observe[-1], math.sin(path.angles_radians[-1]) ** 2
    along = 1.0 / d if path.edge == EVEN else sine
    across = (1.0 - along) / (d - 1) if d > 1 else 0.0
    seen = p * horizons / lam
    pure = ((d - 1) * np.log1p(across * seen) + np.log1p(along * seen)) / p
    widest = least_known_dimension(censorship, d)
    return WaysToPlay(
        np.array(largest),
        pure,
        path.potential(horizons),
        widest * np.log1p(horizons / (widest * lam)),
    )


def slopes(path: InformationPath, censorship: Any) -> WaysToPlay:
    """Return the growth of the potential per unit of log T, for large T, of four policies."""
    worst = path.dimension / path.observe[-1]
    least_known = least_known_dimension(censorship, path.dimension)
    return WaysToPlay(worst, worst, path.effective_dimension, least_known)


def least_known_dimension(censorship: Any, dimension: int | None = None) -> float:
    r"""Return the growth per log T of the potential of always playing the least known direction.

    .. math:: \frac1{p_{\mathrm{pole}}}+\frac{d-1}{p_{\mathrm{equator}}}

    Such a policy explores all directions evenly: the direction of the censorship at its pole, on
    the side where it is observed less often, and d - 1 directions across it at the equator.

    Examples
    --------
    >>> from halfseen.censorship import MultiThreshold
    >>> least_known_dimension(MultiThreshold([1.0], [1.0, 0.5], [0, 0, 1]))
    4.0
    """
    model, d, _ = as_steps(censorship, dimension)
    pole = min(model.observe[0], model.observe[-1])
    place = bisect_right(model.threshold_radians, 0.0)
    return effective_dimension([pole] + [model.observe[place]] * (d - 1))
