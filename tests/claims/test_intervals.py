"""Intervals cover as often as they say."""

import math

import numpy as np
import pytest
from scipy import stats

from halfseen.claims.intervals import (
    LEVEL,
    exponent,
    frequency,
    independent_ratio,
    mean,
    ratio,
)


def test_the_mean_has_students_interval():
    values = np.random.default_rng(1).normal(3.0, 2.0, 12)
    low, high = stats.t.interval(LEVEL, 11, values.mean(), stats.sem(values))
    found = mean(values)
    assert (found.value, found.low, found.high) == pytest.approx((values.mean(), low, high))


def test_the_frequency_has_the_exact_interval():
    happened = np.array([1, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    exact = stats.binomtest(2, 10).proportion_ci(LEVEL, method="exact")
    found = frequency(happened)
    assert (found.value, found.low, found.high) == pytest.approx((0.2, exact.low, exact.high))


@pytest.mark.parametrize("paired", [True, False])
def test_ratios_have_the_standard_error_they_show(paired):
    rng = np.random.default_rng(2)
    ratios, halves = [], []
    for _ in range(400):
        bottom = rng.normal(5.0, 1.0, 300)
        top = 2.0 * bottom + rng.normal(0.0, 0.5, 300) if paired else rng.normal(10.0, 2.0, 300)
        found = (ratio if paired else independent_ratio)(top, bottom)
        ratios.append(found.value)
        halves.append(found.half)
    quantile = stats.t.ppf(0.5 * (1 + LEVEL), 299)
    assert np.std(ratios) * quantile == pytest.approx(np.mean(halves), rel=0.1)
    assert np.mean(ratios) == pytest.approx(2.0, abs=0.01)


def test_the_exponent_and_its_standard_error():
    rng = np.random.default_rng(3)
    x = [1.0, 2.0, 5.0, 10.0]
    found = [exponent(x, [3.0 * v**0.7 * rng.normal(1.0, 0.2, 200) for v in x]) for _ in range(400)]
    quantile = stats.t.ppf(0.5 * (1 + LEVEL), 199)
    values = [f.value for f in found]
    assert np.mean(values) == pytest.approx(0.7, abs=0.001)
    assert np.std(values) * quantile == pytest.approx(np.mean([f.half for f in found]), rel=0.1)
    assert math.isclose(found[0].value - found[0].low, found[0].high - found[0].value)
