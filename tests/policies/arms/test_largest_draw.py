"""The probability that a draw is the largest: golden values, high precision, degenerate cases."""

import mpmath
import numpy as np
import pytest

from halfseen.policies.arms.largest_draw import largest_beta, largest_gamma, largest_normal


@pytest.mark.parametrize(
    ("means", "scales", "expected"),
    [
        ([0.0, 0.5], [1.0, 0.5], [0.327360423009, 0.672639576991]),
        ([0.5, 0.45, 0.3], [0.02, 0.1, 0.5], [0.451894716332, 0.21780643904, 0.330298844628]),
        (
            [0.0, 1e-6, -1e-6],
            [1e-6, 1e-4, 1.0],
            [0.248005621037, 0.252010894462, 0.499983484501],
        ),
    ],
)
def test_golden_values_of_normal_draws(means, scales, expected):
    found = largest_normal(np.array(means), np.array(scales))
    assert found.tolist() == pytest.approx(expected, abs=2e-12)


@pytest.mark.parametrize(
    ("won", "lost", "expected"),
    [
        ([3.0, 6.0], [8.0, 5.0], [0.0849011669445, 0.9150988330555]),
        (
            [1.0, 31.0, 501.0],
            [1.0, 71.0, 1001.0],
            [0.658673686016, 0.0934756768346, 0.247850637149],
        ),
    ],
)
def test_golden_values_of_beta_draws(won, lost, expected):
    found = largest_beta(np.array(won), np.array(lost))
    assert found.tolist() == pytest.approx(expected, abs=2e-12)


def exact_beta(a, b, c, d):
    """Return P(X > Y) of X ~ Beta(a, b) and Y ~ Beta(c, d), a whole number, by its finite sum."""
    with mpmath.workdps(40):
        terms = (
            mpmath.beta(c + i, b + d) / ((b + i) * mpmath.beta(1 + i, b)) for i in range(int(a))
        )
        return float(mpmath.fsum(terms) / mpmath.beta(c, d))


@pytest.mark.parametrize(
    ("one", "other"), [((3, 8), (6, 5)), ((2001, 1999), (1990, 2003)), ((1500, 90_000), (40, 2500))]
)
def test_beta_draws_against_the_finite_sum_in_40_digits(one, other):
    won, lost = np.array([one[0], other[0]], float), np.array([one[1], other[1]], float)
    assert largest_beta(won, lost)[0] == pytest.approx(exact_beta(*one, *other), abs=1e-13)


def below(a, b, x):
    """Return P(X < x) of X ~ Beta(a, b), by quadrature where the series takes minutes."""
    with mpmath.workdps(40):
        if a + b < 1000.0:
            return float(mpmath.betainc(a, b, 0, x, regularized=True))
        a, b, x = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(x)
        constant = mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b)

        def density(u):
            return mpmath.exp(constant + (a - 1) * mpmath.log(u) + (b - 1) * mpmath.log(1 - u))

        mean, spread = a / (a + b), mpmath.sqrt(a * b / (a + b) ** 3)
        return float(mpmath.quad(density, mpmath.linspace(mean - 15 * spread, x, 17)))


@pytest.mark.parametrize(
    ("shapes", "scales"),
    [((0.5, 3.5), (1.0, 0.5)), ((1.0, 40.0), (0.7, 0.02)), ((1e6, 1.001e6), (1e-6, 1e-6))],
)
def test_gamma_draws_against_the_beta_distribution_in_40_digits(shapes, scales):
    """G/(G + H) of Gamma(a) and Gamma(b) is Beta(a, b)."""
    (a, b), (s, t) = shapes, scales
    less = below(a, b, t / (s + t))
    assert largest_gamma(np.array(shapes), np.array(scales))[1] == pytest.approx(less, abs=1e-12)
    if min(shapes) >= 1.0:
        inverse = largest_gamma(np.array(shapes), 1.0 / np.array(scales), inverse=True)
        assert inverse[0] == pytest.approx(less, abs=1e-12)


def test_equal_arms_share_alike():
    for count in (2, 7, 50):
        same = np.ones(count)
        assert largest_normal(3.0 * same, 0.2 * same) == pytest.approx(1.0 / count, abs=1e-13)
        assert largest_gamma(0.5 * same, 2.0 * same) == pytest.approx(1.0 / count, abs=1e-13)
        assert largest_beta(4.0 * same, 9.0 * same) == pytest.approx(1.0 / count, abs=1e-13)


def test_one_arm_alone():
    assert largest_normal(np.array([5.0]), np.array([0.1])).tolist() == [1.0]
    assert largest_beta(np.array([5.0]), np.array([1.0])).tolist() == [1.0]


def test_arms_without_spread_draw_their_mean():
    found = largest_normal(np.array([0.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0]))
    assert found.tolist() == pytest.approx([0.15865525393145707, 0.8413447460685429, 0.0])
    found = largest_normal(np.array([0.0, 1.0, 1.0]), np.zeros(3))
    assert found.tolist() == [0.0, 1.0, 0.0]


def test_sums_over_many_scales_against_draws():
    generator = np.random.default_rng(3)
    for count in (3, 12, 50):
        means, scales = generator.normal(size=count), 10 ** generator.uniform(-6, 1, count)
        found = largest_normal(means, scales)
        drawn = np.argmax(generator.normal(means, scales, (40_000, count)), axis=1)
        counts = np.bincount(drawn, minlength=count) / 40_000
        assert np.max(np.abs(counts - found)) < 5 * np.sqrt(0.25 / 40_000)


@pytest.mark.parametrize("size", [1e17, 1e20, 1e100, -1e100])
def test_a_mean_beyond_the_reach_of_its_scale_leaves_probabilities(size):
    found = largest_normal(np.array([size, 0.0, 0.0]), np.array([1.0, 1.0, 1.0]))
    wanted = [1.0, 0.0, 0.0] if size > 0 else [0.0, 0.5, 0.5]
    assert found == pytest.approx(wanted, abs=1e-12)
    assert largest_normal(np.full(2, size), np.ones(2)).sum() == 1.0
