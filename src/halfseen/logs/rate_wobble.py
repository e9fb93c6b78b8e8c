"""Random variation of rates between slices of time (overdispersion), as between batches."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from halfseen.checks import Vector

FEWEST = 5  # slices that show whether they wobble


class Wobble(NamedTuple):
    """Overdispersion of the rates of slices of time.

    Attributes
    ----------
    variance
        Variance of the slices' log-odds, over the design effect of counts.
    free
        Degrees of freedom of the errors that allow for it; infinite without wobble.
    """

    variance: float = 0.0
    free: float = math.inf

    def damp(self, score: Vector, information: Vector) -> tuple[Vector, Vector]:
        r"""Return score and information if every slice has a random shift of its own.

        With shifts of variance :math:`\tau^2` the score has covariance :math:`I + \tau^2 I^2`, so
        generalized least squares turns the score U and its information I into

        .. math:: (1 + \tau^2 I)^{-1} U, \qquad (1 + \tau^2 I)^{-1} I
        """
        if not self.variance:
            return score, information
        both = np.column_stack([score, information])
        grown = np.eye(len(score)) + self.variance * information
        damped = np.asarray(np.linalg.solve(grown, both), dtype=float)
        return damped[:, 0], (damped[:, 1:] + damped[:, 1:].T) / 2.0


def find_wobble(score: Vector, variance: Vector, design: float = 1.0) -> Wobble:
    r"""Estimate the overdispersion from differences of neighbouring slices.

    The squared differences of neighbours, each over :math:`V_b^{-1} + V_{b+1}^{-1} + 2\tau^2`, must
    have the mean that those of a normal law have, the largest fifth of them apart: that is where
    changes are.

    Parameters
    ----------
    score, variance
        Score and information V of a shift of log-odds in each slice.
    design
        Design effect: the variance of counts over that of independent rows.

    Notes
    -----
    An estimated variance of few slices needs Student's law. A third of the slices count as degrees
    of freedom of :math:`\tau^2`; by the formula of Welch and Satterthwaite, they are the more for
    the whole error, the less of it is :math:`\tau^2`.

    Examples
    --------
    >>> found = find_wobble(np.tile([9.0, -9.0], 30), np.full(60, 9.0))
    >>> round(found.variance, 2), round(found.free, 1)
    (4.25, 21.1)
    """
    from scipy.special import chdtr, chdtri

    if len(score) < FEWEST:
        return Wobble()
    effect, error = score / variance, 1.0 / variance
    squares = np.diff(effect) ** 2 / design
    counted = error[1:] + error[:-1]
    kept = len(squares) - max(2, len(squares) // 5)
    usual = float(chdtr(3.0, chdtri(1.0, 1.0 - kept / len(squares)))) * len(squares) / kept

    def excess(between: float) -> float:
        return float(np.sort(squares / (counted + 2.0 * between))[:kept].mean()) - usual

    if excess(0.0) <= 0.0:
        return Wobble()
    low, high = 0.0, 1.0
    while excess(high) > 0.0:
        low, high = high, 4.0 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
    times = 1.0 + high * float(variance.mean())
    return Wobble(high, len(score) / 3.0 * (times / (times - 1.0)) ** 2)
