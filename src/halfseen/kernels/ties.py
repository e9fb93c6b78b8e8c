"""Comparisons up to rounding: of two indices, and of a mean with an interval."""

from __future__ import annotations

import math

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import inline

TIE = 1e-12  # relative difference up to which two indices are equal
ROUNDING_ERROR = 1e-9  # relative error of a sum of many rewards


@inline
def tie_edge(top: float) -> float:
    """Return the number that an index must exceed to be larger than `top`.

    The widths of two actions of the same length differ by rounding errors. With a small margin,
    equal actions tie on every machine and the first of them is played.

    >>> 1.0 + 1e-13 > tie_edge(1.0), 1.0 + 1e-11 > tie_edge(1.0), -1e9 > tie_edge(-math.inf)
    (False, True, True)
    """
    return top + TIE * abs(top) if top > -math.inf else top


@inline
def first_largest(values: Vector) -> int:
    """Return the index of the largest value, the first among equals.

    >>> import numpy as np
    >>> first_largest(np.array([1.0, 1.0 + 1e-15, 0.5]))
    0
    """
    chosen, edge = 0, -math.inf
    for k in range(values.size):
        if values[k] > edge:
            chosen, edge = k, tie_edge(values[k])
    return chosen


@inline
def outside(mean: float, upper: float, width: float) -> bool:
    """Return whether a mean lies outside ``[upper - 2 width, upper]`` by more than rounding.

    Without noise a mean lies exactly on the edge.

    >>> outside(0.6, 0.6 - 1e-16, 0.1), outside(0.6, 0.59, 0.1), outside(0.3, 0.6, 0.1)
    (False, True, True)
    """
    slack = ROUNDING_ERROR * (abs(mean) + abs(upper))
    return mean > upper + slack or mean < upper - 2.0 * width - slack
