"""Confidence intervals of measured numbers, all at one level that allows for many claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from halfseen.checks import Vector
from halfseen.claims.claim import Measured
from halfseen.theory.events import clopper_pearson

LEVEL = 0.9999  # level of each interval: with some 300 of them, one error in 30 full runs


def mean(values: NDArray[Any]) -> Measured:
    """Return the mean over replications with Student's interval.

    >>> mean(np.array([1.0, 2.0, 3.0, 2.0])).value
    2.0
    """
    centre = float(values.mean(dtype=float))
    return around(centre, float(values.std(ddof=1, dtype=float)) / math.sqrt(len(values)), values)


def ratio(top: NDArray[Any], bottom: NDArray[Any]) -> Measured:
    """Return the ratio of two means over the same replications, by linearization."""
    value = float(top.mean(dtype=float) / bottom.mean(dtype=float))
    rest = (top - value * bottom) / bottom.mean(dtype=float)
    return around(value, float(rest.std(ddof=1)) / math.sqrt(len(rest)), top)


def independent_ratio(top: NDArray[Any], bottom: NDArray[Any]) -> Measured:
    """Return the ratio of two means over different replications, by linearization."""
    value = float(top.mean(dtype=float) / bottom.mean(dtype=float))
    parts = [values.var(ddof=1) / len(values) / values.mean() ** 2 for values in (top, bottom)]
    return around(value, value * math.sqrt(sum(parts)), top)


def frequency(happened: NDArray[Any]) -> Measured:
    """Return how often an event happened, with Clopper and Pearson's interval.

    >>> frequency(np.zeros(1000)).high < 0.01
    True
    """
    low, high = clopper_pearson(int((happened == 1).sum()), len(happened), LEVEL)
    return Measured(float((happened == 1).mean()), float(low), float(high))


def exponent(x: Sequence[float] | Vector, samples: Sequence[NDArray[Any]]) -> Measured:
    """Return the slope of log mean against log x, with an interval for the sampling error."""
    across = np.log(np.asarray(x, dtype=float))
    centred = across - across.mean()
    weights = centred / (centred**2).sum()
    logs = np.log([s.mean() for s in samples])
    errors = np.array([s.var(ddof=1) / len(s) / s.mean() ** 2 for s in samples])
    error = math.sqrt(float((weights**2 * errors).sum()))
    return around(float(weights @ logs), error, samples[0])


def around(centre: float, error: float, sample: NDArray[Any]) -> Measured:
    """Return an interval of Student's quantile times the standard error."""
    half = float(special.stdtrit(len(sample) - 1, 0.5 * (1.0 + LEVEL))) * error
    return Measured(centre, centre - half, centre + half)
