"""Rates and their intervals against exact values."""

import numpy as np
import pytest

from halfseen.logs.rates import RatePrior, fit_prior, shrunken_interval


def test_the_prior_is_found_again():
    rng = np.random.default_rng(4)
    rates = rng.beta(6.0, 14.0, 4000)
    rows = rng.integers(5, 200, 4000)
    fit = fit_prior(rng.binomial(rows, rates), rows)
    assert fit.mean == pytest.approx(0.3, abs=0.01)
    assert fit.worth == pytest.approx(20.0, rel=0.1)


def test_arms_that_are_alike_are_drawn_together():
    rng = np.random.default_rng(1)
    rows = np.full(300, 40)
    seen = rng.binomial(rows, 0.25)
    fit = fit_prior(seen, rows)
    assert fit.worth > 500
    rate, low, high = shrunken_interval(seen, rows, fit)
    assert np.abs(rate - 0.25).max() < 0.04
    assert ((low < 0.25) & (high > 0.25)).mean() > 0.95


def test_one_arm_borrows_nothing_and_nothing_breaks_at_the_ends():
    assert fit_prior(np.array([3]), np.array([10])) == RatePrior(0.5, 1.0, 1)
    for seen in ([0, 0, 0], [9, 9, 9]):
        fit = fit_prior(np.array(seen), np.full(3, 9))
        rate, low, high = shrunken_interval(np.array(seen), np.full(3, 9), fit)
        assert np.isfinite(rate).all()
        assert (low >= 0).all()
        assert (low <= high).all()
        assert (high <= 1).all()


@pytest.mark.slow
@pytest.mark.parametrize(("rates", "rows"), [((0.2, 0.3), 200), ((0.3, 0.5, 0.6), 30)])
def test_shrunken_intervals_of_few_arms_hold_the_truth_in_93_of_100_logs(rates, rows):
    rng, held = np.random.default_rng(3), []
    size = np.full(len(rates), rows)
    for _ in range(100):
        seen = rng.binomial(rows, rates)
        _, low, high = shrunken_interval(seen, size, fit_prior(seen, size))
        held.append((low <= rates) & (rates <= high))
    assert np.mean(held) >= 0.93  # 0.75 if the error of the prior is left out


def test_the_prior_is_the_most_likely_one():
    from scipy.stats import betabinom

    seen, rows = np.array([10, 50, 90, 3]), np.array([100, 100, 100, 20])
    fit = fit_prior(seen, rows)

    def likelihood(mean, worth):
        return betabinom(rows, worth * mean, worth * (1 - mean)).logpmf(seen).sum()

    best = likelihood(fit.mean, fit.worth)
    for mean in np.linspace(0.2, 0.7, 26):
        for worth in np.geomspace(0.3, 30, 30):
            assert likelihood(mean, worth) <= best + 1e-6
