import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln, xlogy

from halfseen.errors import InvalidInput
from halfseen.theory import evidence


def test_golden():
    assert evidence((100, 50.0), (400, 80.0), rho=10) == pytest.approx(0.262238680479, abs=5e-13)
    found = evidence((100, 60), (400, 120), reward="bernoulli")
    assert found == pytest.approx(9.30903604617, abs=5e-12)


@pytest.mark.parametrize("noise", [(1.0, 1.0), (0.3, 2.0)])
def test_is_the_smallest_product_of_normal_mixtures_over_a_common_mean(noise):
    (n, x), (m, y), rho = (30, 21.0), (80, 20.0), 7.0
    means = np.linspace(-1.0, 2.0, 300_001)

    def log_mixture(count, total, scale):
        s = (total - count * means) / scale
        return s**2 / (2 * (count + rho)) - math.log1p(count / rho) / 2

    brute = (log_mixture(n, x, noise[0]) + log_mixture(m, y, noise[1])).min()
    assert evidence((n, x), (m, y), noise=noise, rho=rho) == pytest.approx(brute, abs=1e-8)


def test_is_the_smallest_product_of_beta_mixtures_over_a_common_mean():
    (n, x), (m, y) = (30, 21), (80, 20)
    q = np.linspace(0.001, 0.999, 200_001)

    def log_mixture(count, total):
        ratio = betaln(total + 0.5, count - total + 0.5) - betaln(0.5, 0.5)
        return ratio - xlogy(total, q) - xlogy(count - total, 1 - q)

    brute = (log_mixture(n, x) + log_mixture(m, y)).min()
    assert evidence((n, x), (m, y), reward="bernoulli") == pytest.approx(brute, abs=1e-8)


@given(st.integers(1, 1000), st.integers(1, 1000), st.floats(0, 1), st.floats(0, 1))
def test_never_speaks_for_both_arms(n, m, mean, other):
    for rewards in ("gaussian", "bernoulli"):
        there = evidence((n, n * mean), (m, m * other), reward=rewards)
        back = evidence((m, m * other), (n, n * mean), reward=rewards)
        assert min(there, back) == -math.inf


@pytest.mark.parametrize("mean", [0.2, 0.5])
def test_bernoulli_reaches_its_threshold_with_probability_at_most_alpha_exactly(mean):
    """Two arms of one mean played in turn: the exact law of both counts of successes."""
    alive, failed = np.ones((1, 1)), 0.0
    for n in range(1, 31):
        alive = (
            np.pad(alive, ((0, 1), (0, 0))) * (1 - mean) + np.pad(alive, ((1, 0), (0, 0))) * mean
        )
        alive = (
            np.pad(alive, ((0, 0), (0, 1))) * (1 - mean) + np.pad(alive, ((0, 0), (1, 0))) * mean
        )
        x, y = np.nonzero(alive > 0)
        wrong = np.array(
            [
                evidence((n, a), (n, b), reward="bernoulli") >= math.log(10) if a > b else False
                for a, b in zip(x.tolist(), y.tolist(), strict=True)
            ]
        )
        failed += alive[x[wrong], y[wrong]].sum()
        alive[x[wrong], y[wrong]] = 0.0
    assert 0.0 < failed <= 0.1


def test_what_the_shrunk_likelihood_ratio_must_reach():
    """Three arms, 5%, 100 and 400 observations, rho 10: log 40 + log(11 * 41)/2 = 6.74."""
    shrunk = 100**2 / 110, 400**2 / 410
    together = shrunk[0] * shrunk[1] / (shrunk[0] + shrunk[1])
    at = math.log(2 / 0.05) + math.log(11 * 41) / 2
    assert at == pytest.approx(6.74, abs=0.005)
    for ratio, enough in ((at * 1.0001, True), (at * 0.9999, False)):
        gap = math.sqrt(2 * ratio / together)
        found = evidence((100, 100 * gap), (400, 0.0), rho=10.0)
        assert (found >= math.log(2 / 0.05)) == enough


def test_without_observations_or_noise():
    assert evidence((0, 0), (5, 1.0)) == -math.inf
    assert evidence((5, 1.0), (0, 0), reward="bernoulli") == -math.inf
    assert evidence((5, 1.0), (5, 0.5), noise=0.0) == math.inf


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(InvalidInput, match=r"`a` must be two numbers; got .* Give the number of"):
        evidence((1, 2, 3), (1, 2))
    with pytest.raises(InvalidInput, match="`b` must be two numbers; got 3"):
        evidence((1, 2), 3)


@pytest.mark.parametrize(
    ("a", "b", "options", "said"),
    [
        ((-1, 0), (3, 1), {}, r"`a\[0\]` must be a finite number at least 0"),
        ((3, 1), (-1, 0), {}, r"`b\[0\]` must be a finite number at least 0"),
        ((0, 2), (3, 1), {}, r"`a\[1\]` must be 0 where nothing was observed"),
        ((3, 1), (3, 4), {"reward": "bernoulli"}, r"`b\[1\]` must be between 0 and 3"),
        ((3, math.nan), (3, 1), {}, r"`a\[1\]` must be a finite number"),
        ((3, 1), (3, 1), {"noise": [1, -1]}, r"`noise\[1\]` must be a finite number at least 0"),
    ],
)
def test_a_bad_number_is_named_by_the_pair_it_stands_in(a, b, options, said):
    with pytest.raises(InvalidInput, match=said):
        evidence(a, b, **options)


def test_huge_noise_and_rewards_are_numbers_too():
    there = evidence((100, 50.0), (400, 80.0))
    assert evidence((100, 50e200), (400, 80e200), noise=1e200) == pytest.approx(there)
    assert evidence((10, 1e308), (10, -1e308)) == math.inf


@pytest.mark.parametrize("n", [1e3, 1e6, 1e12, 1e15, 1e18])
def test_bernoulli_evidence_keeps_its_digits_at_any_count(n):
    """At a count of 1e15 half of it was rounding; at 1e30 nothing was evidence of 8e15 nats."""
    x, y = math.floor(n / 2 + 5 * math.sqrt(n)), math.floor(n / 2)
    with mpmath.workdps(60):

        def mixture(successes):
            gammas = mpmath.loggamma(mpmath.mpf(successes) + 0.5)
            gammas += mpmath.loggamma(mpmath.mpf(n) - successes + 0.5)
            return gammas - mpmath.loggamma(mpmath.mpf(n) + 1) - mpmath.log(mpmath.pi)

        both, total = mpmath.mpf(x) + y, 2 * mpmath.mpf(n)
        likelihood = both * mpmath.log(both / total)
        likelihood += (total - both) * mpmath.log(1 - both / total)
        exact = float(mixture(x) + mixture(y) - likelihood)
    found = evidence((n, float(x)), (n, float(y)), reward="bernoulli")
    assert found == pytest.approx(exact, rel=1e-6, abs=1e-6)
