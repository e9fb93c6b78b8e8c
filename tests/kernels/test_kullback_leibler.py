"""Divergences and their inverses against golden values, scipy's own laws and plain root finding."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from halfseen.kernels.kullback_leibler import (
    BERNOULLI,
    EXPONENTIAL,
    GAUSSIAN,
    POISSON,
    divergence,
    level_term,
    own_term,
    slope_term,
    upper_mean,
)

CURVED = (BERNOULLI, POISSON, EXPONENTIAL)


def upper(family, mean, level, scale=0.0, start=0.0):
    return upper_mean(family, mean, own_term(family, mean), level, scale, start)


def expected_log_ratio(family, mean, larger):
    """Return the divergence as the mean of a log-likelihood ratio."""
    if family == EXPONENTIAL:
        here, there = stats.expon(scale=mean), stats.expon(scale=larger)
        value, _ = integrate.quad(
            lambda x: here.pdf(x) * (here.logpdf(x) - there.logpdf(x)), 0.0, 60.0 * mean
        )
        return value
    law = stats.bernoulli if family == BERNOULLI else stats.poisson
    points = np.arange(2 if family == BERNOULLI else 80)
    here, there = law(mean), law(larger)
    return float(np.sum(here.pmf(points) * (here.logpmf(points) - there.logpmf(points))))


@pytest.mark.parametrize("family", CURVED)
def test_divergence_is_the_mean_of_the_log_likelihood_ratio(family):
    for mean, larger in ((0.3, 0.5), (0.05, 0.9), (0.6, 0.61)):
        expected = expected_log_ratio(family, mean, larger)
        assert divergence(family, mean, larger, 0.0) == pytest.approx(expected, rel=1e-7)


def test_divergence_of_normal_laws():
    assert divergence(GAUSSIAN, 0.5, 0.9, 1 / (2 * 0.25)) == pytest.approx(0.16 / 0.5, rel=1e-14)


@pytest.mark.parametrize("family", [GAUSSIAN, *CURVED])
def test_no_divergence_from_a_mean_that_is_not_larger(family):
    assert divergence(family, 0.5, 0.5, 2.0) == divergence(family, 0.5, 0.2, 2.0) == 0.0


def test_certain_outcomes():
    assert divergence(BERNOULLI, 0.4, 1.0, 0.0) == math.inf
    assert divergence(BERNOULLI, 0.0, 0.5, 0.0) == pytest.approx(math.log(2.0))
    assert divergence(POISSON, 0.0, 0.7, 0.0) == 0.7
    assert divergence(EXPONENTIAL, 0.0, 0.7, 0.0) == math.inf
    assert upper(BERNOULLI, 1.0, 0.3) == 1.0
    assert upper(EXPONENTIAL, 0.0, 0.3) == 0.0


@pytest.mark.parametrize(
    ("family", "mean", "golden"),
    [
        (BERNOULLI, 0.3, 0.771382328608),
        (BERNOULLI, 0.0, 0.393469340287),
        (POISSON, 1.5, 3.07843376017),
        (EXPONENTIAL, 0.7, 2.32011207657),
    ],
)
def test_golden_upper_means(family, mean, golden):
    assert upper(family, mean, 0.5) == pytest.approx(golden, rel=1e-11)


@given(
    st.sampled_from(CURVED),
    st.floats(1e-4, 0.9999),
    st.floats(1e-7, 30.0),
    st.floats(0.0, 2.0),
)
def test_upper_mean_solves_its_equation_from_any_start(family, mean, level, start):
    found = upper(family, mean, level, start=start)
    largest = 1.0 if family == BERNOULLI else 2e15
    if found >= 1.0 - 1e-12 and family == BERNOULLI:
        assert divergence(family, mean, 1.0 - 1e-10, 0.0) < level
        return
    expected = optimize.brentq(
        lambda q: divergence(family, mean, q, 0.0) - level, mean, largest, xtol=1e-15, rtol=1e-14
    )
    assert found - mean == pytest.approx(expected - mean, rel=1e-6)


@given(st.sampled_from(CURVED), st.floats(1e-3, 0.999), st.floats(1e-3, 0.999))
def test_divergence_is_the_sum_of_its_terms(family, mean, other):
    smaller, larger = sorted((mean, other))
    total = own_term(family, smaller) + smaller * slope_term(family, larger)
    total += level_term(family, larger)
    assert total == pytest.approx(divergence(family, smaller, larger, 0.0), abs=1e-11)


MEANS = {
    BERNOULLI: (1e-12, 1e-3, 0.3, 0.9, 1.0 - 1e-9),
    POISSON: (1e-12, 1e-3, 1.0, 1e3, 1e6, 1e12),
    EXPONENTIAL: (1e-12, 1.0, 1e12),
}


@pytest.mark.parametrize("family", CURVED)
@pytest.mark.parametrize("level", [1e-15, 1e-12, 1e-6, 1e-3, 1.0, 20.0])
def test_divergences_and_bounds_keep_their_digits_at_huge_means_and_tiny_levels(family, level):
    """Against 60 digits: summing terms the size of the mean lost the rise of 1e-3 on 1e6."""
    with mpmath.workdps(60):
        for mean in MEANS[family]:
            found = upper(family, mean, level)
            exact = exact_rise(family, mean, level)
            rounding = math.ulp(found)
            assert abs(found - mean - float(exact)) <= 1e-9 * float(exact) + 2.0 * rounding
            if mean < found < (1.0 if family == BERNOULLI else math.inf):
                expected = float(exact_divergence(family, mpmath.mpf(mean), mpmath.mpf(found)))
                assert divergence(family, mean, found, 0.0) == pytest.approx(expected, rel=1e-9)


def exact_divergence(family, mean, larger):
    if family == EXPONENTIAL:
        return mean / larger - 1 - mpmath.log(mean / larger)
    total = mean * mpmath.log(mean / larger)
    if family == POISSON:
        return total + larger - mean
    return total + (1 - mean) * mpmath.log((1 - mean) / (1 - larger))


def exact_rise(family, mean, level):
    """Return how far the largest mean lies above, by bisection of its logarithm."""
    mean = mpmath.mpf(mean)
    low, high = mpmath.mpf(-100), mpmath.log(1 - mean) if family == BERNOULLI else mpmath.mpf(100)
    for _ in range(100):
        middle = (low + high) / 2
        if exact_divergence(family, mean, mean + mpmath.exp(middle)) > level:
            high = middle
        else:
            low = middle
    return mpmath.exp(low)


def test_means_whose_quotient_is_no_number_have_a_divergence():
    """IMED ended in an error after exponential rewards of 1e-250 and 1e99."""
    found = divergence(EXPONENTIAL, 1e-250, 1e99, 0.0)
    assert found == pytest.approx(349 * math.log(10) - 1, rel=1e-12)
