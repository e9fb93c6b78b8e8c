"""Sums of numbers by group, distinct pairs and smallest numbers, of very many at once."""

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
    if small and (a == np.rint(a)).all() and (b == np.rint(b)).all():  # sorted faster as one number
        keys, place, times = _distinct((a * width + b).astype(np.int64))
        return np.stack(np.divmod(keys.astype(float), width), axis=1), place, times
    pairs, place, times = np.unique(a + 1j * b, return_inverse=True, return_counts=True)
    return np.stack([pairs.real, pairs.imag], axis=1), place, times


def _distinct(
    keys: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct keys in order, the place of each key among them, and their counts."""
    if keys.max(initial=0) > len(keys):
        return np.unique(keys, return_inverse=True, return_counts=True)
    times = np.bincount(keys)  # counted without sorting, as they are small
    there = times > 0
    place = np.cumsum(there) - 1
    return np.flatnonzero(there), place[keys], times[there]


def smallest(values: Vector, count: int) -> NDArray[np.intp]:
    """Return the places of the smallest values, these first; of equal ones the first places.

    >>> smallest(np.array([3.0, 1.0, 2.0, 1.0, 1.0]), 2).tolist()
    [1, 3]
    """
    if count < len(values) // 2:
        limit = np.partition(values, count)[count]  # the sort below is of few values then
        below = np.flatnonzero(values < limit)
        level = np.flatnonzero(values == limit)[: count - len(below)]
        some = np.concatenate([below, level])
        return some[np.lexsort((some, values[some]))]
    return np.argsort(values, kind="stable")[:count]
