"""Sums, distinct pairs and smallest numbers of very many at once are those of plain sorting."""

import numpy as np
import pytest

from halfseen.logs.group_sums import distinct_pairs, smallest


@pytest.mark.parametrize("count", [0, 1, 7, 30, 60, 61, 500])
@pytest.mark.parametrize("values", [3, 1000])
def test_smallest_are_the_first_of_a_stable_sort(count, values):
    rng = np.random.default_rng(count)
    some = rng.integers(0, values, 120).astype(float)
    some[rng.random(120) < 0.1] = -np.inf
    assert smallest(some, count).tolist() == np.argsort(some, kind="stable")[:count].tolist()


@pytest.mark.parametrize("scale", [1.0, 1e3, 0.5])
def test_distinct_pairs_are_those_of_unique_rows(scale):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, (2, 300)) * scale
    pairs, place, times = distinct_pairs(a, b)
    rows, inverse, counts = np.unique(
        np.stack([a, b], axis=1), axis=0, return_inverse=True, return_counts=True
    )
    assert (pairs == rows).all()
    assert (place == inverse.ravel()).all()
    assert (times == counts).all()
