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


def distinct_pairs(a: Vector, b: Vector) -> tuple[Vector, NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct pairs in order, the place of each pair among them, and their counts."""
    width = b.max(initial=0.0) + 1.0
    small = (a.max(initial=0.0) + 1.0) * width < 2.0**53
    if small and not (a % 1.0).any() and not (b % 1.0).any():  # sorted faster as one number
        keys, place, times = np.unique(
            (a * width + b).astype(np.int64), return_inverse=True, return_counts=True
        )
        return np.stack(np.divmod(keys.astype(float), width), axis=1), place, times
    pairs, place, times = np.unique(a + 1j * b, return_inverse=True, return_counts=True)
    return np.stack([pairs.real, pairs.imag], axis=1), place, times
