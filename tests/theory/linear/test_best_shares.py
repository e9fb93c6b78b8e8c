"""Concave functions of shares: known maxima, honest gaps."""

import numpy as np
import pytest

from halfseen.theory.linear import best_shares as simplex


class Logs:
    """sum_j w_j log(c_j + s_j): water-filling."""

    def __init__(self, weights, levels):
        self.weights, self.levels = np.array(weights), np.array(levels)

    def value(self, shares):
        return float(self.weights @ np.log(self.levels + shares))

    def slopes(self, shares):
        return self.weights / (self.levels + shares)

    def bends(self, shares):
        return self.slopes(shares), np.diag(self.weights / (self.levels + shares) ** 2)


def filled(weights, levels):
    """Find the water level by bisection."""
    low, high = 0.0, weights.sum() * 10 + 10
    for _ in range(200):
        price = (low + high) / 2
        if np.maximum(weights * price - levels, 0).sum() > 1:
            high = price
        else:
            low = price
    return np.maximum(weights * low - levels, 0)


@pytest.mark.parametrize("seed", range(10))
def test_water_filling(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 12))
    weights, levels = rng.uniform(0.1, 2, count), 10 ** rng.uniform(-6, 1, count)
    found = simplex.largest(Logs(weights, levels), count)
    np.testing.assert_allclose(found.shares, filled(weights, levels), atol=1e-9)
    assert found.shares.sum() == pytest.approx(1.0, abs=1e-15)
    assert found.gap < 1e-12 * found.slopes.max()
    assert found.residual < 1e-12


def test_one_share_and_a_flat_function():
    alone = simplex.largest(Logs([2.0], [1.0]), 1)
    assert alone.shares.tolist() == [1.0]
    assert alone.gap == 0.0
    flat = simplex.largest(Logs([0.0, 0.0], [1.0, 1.0]), 2)
    assert flat.value == 0.0
    assert flat.gap == 0.0


def test_the_gap_covers_the_maximum_from_anywhere():
    rng = np.random.default_rng(0)
    weights, levels = rng.uniform(0.1, 2, 5), rng.uniform(0.01, 1, 5)
    function = Logs(weights, levels)
    best = simplex.largest(function, 5).value
    for _ in range(50):
        tried = simplex.certified(function, rng.dirichlet(np.ones(5)))
        assert tried.value <= best <= tried.value + tried.gap
