import mpmath
import numpy as np
import pytest

from halfseen.theory.arms.inverse_moments import InverseMoments
from theory import brute_force


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 2.0, 6.25, 20.0])
@pytest.mark.parametrize("lam", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("p", [0.01, 0.5, 0.999, 1.0])
def test_against_the_sum_over_outcomes(p, lam, alpha):
    moments = InverseMoments(np.array([p]), np.array([lam]), alpha, longest=1000)
    table = [brute_force.inverse_moment(n, p, lam, alpha) for n in range(40)]
    found = [moments.at(np.array([float(n)]))[0] for n in range(40)]
    assert found == pytest.approx(table, rel=1e-12)
    assert moments.total(np.array([40.0]))[0] == pytest.approx(sum(table), rel=1e-12)
    assert moments.total(np.array([0.0]))[0] == 0.0


def test_everything_observed_is_a_power_at_any_count():
    moments = InverseMoments(np.array([1.0]), np.array([0.5]), 0.5, longest=10**12)
    for count in (1.0, 1e3, 1e6, 1e12):
        assert moments.at(np.array([count]))[0] == pytest.approx((count + 0.5) ** -0.5, rel=1e-12)
    with mpmath.workdps(40):
        half = mpmath.mpf(0.5)
        exact = mpmath.zeta(half, half) - mpmath.zeta(half, half + 10**12)
    assert moments.total(np.array([1e12]))[0] == pytest.approx(float(exact), rel=1e-12)


def test_long_sequences_against_forty_digits():
    """E 1/(Bin + 1) = (1 - q^(n+1)) / ((n+1) p)."""
    p = 0.3
    moments = InverseMoments(np.array([p]), np.array([1.0]), 1.0, longest=10**9)
    for n in (10, 1000, 10**6, 10**9):
        exact = (1 - (1 - p) ** (n + 1)) / ((n + 1) * p)
        assert moments.at(np.array([float(n)]))[0] == pytest.approx(exact, rel=1e-12)


def test_slope_is_the_derivative():
    moments = InverseMoments(np.array([0.3, 0.8]), np.array([1.0, 2.0]), 0.7, longest=100)
    value, slope = moments.slope(np.array([10.0, 20.0]))
    up, down = moments.at(np.array([10.001, 20.001])), moments.at(np.array([9.999, 19.999]))
    assert value == pytest.approx(moments.at(np.array([10.0, 20.0])))
    assert slope == pytest.approx((up - down) / 0.002, rel=1e-6)


def test_started_adds_what_was_seen_to_the_regularization():
    moments = InverseMoments(np.array([0.3, 0.8]), np.array([1.0, 2.0]), 0.7, longest=100)
    found = moments.started(1, np.array([0.0, 5.0]), np.array([0.0, 3.0]))
    expected = [
        [brute_force.inverse_moment(n, 0.8, 2.0 + seen, 0.7) for n in (0, 3)] for seen in (0, 5)
    ]
    assert found == pytest.approx(np.array(expected), rel=1e-12)
