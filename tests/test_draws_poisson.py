"""Poisson numbers by counter: their law, and the same ones raw and compiled."""

import math

import numpy as np
import pytest
from scipy import stats

from halfseen.draws import exponential_from, log_factorial, poisson, words
from halfseen.engine.specialise import compiled
from halfseen.problems.links import LINKS


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.03, 1.0, 9.9, 10.0, 40.0, 3000.0])
def test_the_law(mean):
    size = 20_000
    drawn = np.array([poisson(mean, (3, 4, 0, 0), n, 7) for n in range(size)])
    assert (drawn == np.floor(drawn)).all()
    edges = stats.poisson.ppf(np.linspace(0, 1, 21)[1:-1], mean)
    edges = np.unique(edges)
    chances = np.diff(np.concatenate([[0.0], stats.poisson.cdf(edges, mean), [1.0]]))
    found = np.bincount(np.searchsorted(edges, drawn), minlength=len(chances))
    keep = chances * size > 5
    assert (
        stats.chisquare(found[keep], chances[keep] / chances[keep].sum() * found[keep].sum())[1]
        > 1e-4
    )
    assert drawn.mean() == pytest.approx(mean, abs=5 * math.sqrt(mean / size))


@pytest.mark.parametrize("mean", [3.0, 30.0])
def test_a_count_does_not_depend_on_how_long_it_is_waited_for(mean):
    stream, size = (1, 2, 3, 0), 20_000
    counts, waits = np.empty(size), np.empty(size)
    for n in range(size):
        _, _, high, low = words(stream, n, 0)  # what `feedback` makes the wait from
        counts[n] = poisson(mean, stream, n, 0)
        waits[n] = exponential_from(high, low, stream, n, 0)
    for moment in (counts, (counts - mean) ** 2):
        z = np.corrcoef(moment, waits)[0, 1] * math.sqrt(size)
        assert abs(z) < 4.0


def test_log_factorial():
    for k in (0, 1, 2, 15, 16, 100, 10**6):
        assert log_factorial(float(k)) == pytest.approx(math.lgamma(k + 1), rel=1e-13, abs=1e-13)


def test_compiled_code_draws_the_same_numbers():
    fast = compiled(poisson, LINKS["poisson"].kernels)
    for mean in (0.5, 9.0, 12.0, 1e4):
        for n in range(200):
            assert fast(mean, (1, 2, n, 0), n, 3) == poisson(mean, (1, 2, n, 0), n, 3)
