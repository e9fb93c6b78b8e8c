"""Sums of numbers by group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector


def sum_by(group: NDArray[Any], values: NDArray[Any], groups: int = 0) -> Vector:
    """Return the sum of the values of each group, groups being numbered from 0.

    >>> sum_by(np.array([0, 2, 0]), np.array([1, 5, 2])).tolist()
    [3.0, 0.0, 5.0]
    """
    return np.bincount(group, values, groups).astype(float)
