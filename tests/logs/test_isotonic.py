"""Curves and staircases are the most likely ones, by trying all others."""

import itertools

import numpy as np
import pytest
from scipy.special import xlogy

from halfseen.logs.isotonic import isotonic, log_likelihood, merge_blocks


def likelihood(k, n):
    return float(xlogy(k, k / n) + xlogy(n - k, 1 - k / n))


@pytest.mark.parametrize("seed", range(8))
def test_no_falling_staircase_is_better(seed):
    rng = np.random.default_rng(seed)
    size = 9
    n = rng.integers(1, 30, size).astype(float)
    k = rng.binomial(n.astype(int), np.sort(rng.random(size))[::-1]).astype(float)
    curve = isotonic(np.arange(size) * 1.0, k, n)
    assert (np.diff(curve.rates) < 0).all()
    found = merge_blocks(curve, size)
    for steps in range(1, len(found) + 1):
        best = -np.inf
        for cuts in itertools.combinations(range(1, size), steps - 1):
            edges = (0, *cuts, size)
            sums = [(k[i:j].sum(), n[i:j].sum()) for i, j in itertools.pairwise(edges)]
            rates = [a / b for a, b in sums]
            if all(x >= y for x, y in itertools.pairwise(rates)):
                best = max(best, sum(likelihood(a, b) for a, b in sums))
        assert log_likelihood(curve, found[steps - 1]) == pytest.approx(best)


def test_equal_places_are_joined():
    curve = isotonic(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0]), np.ones(3))
    assert curve.rates.tolist() == [1.0, 0.5]
    assert curve.first.tolist() == [0.0, 1.0]
