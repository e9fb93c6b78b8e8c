import mpmath
import numpy as np
import pytest

from halfseen.theory.arms.power_sums import power_integral, power_sum, smooth_power_sum

ORDERS = [0.01, 0.3, 0.5, 0.9, 0.999999, 1.0, 1.0000001, 1.5, 2.0, 5.0, 12.3, 40.0]


def exact(count, offset, alpha):
    with mpmath.workdps(40):
        a, s = mpmath.mpf(alpha), mpmath.mpf(offset)
        if count == int(count) and count <= 1000:
            return mpmath.fsum((s + n) ** -a for n in range(int(count)))
        if alpha == 1:
            return mpmath.digamma(s + count) - mpmath.digamma(s)
        return mpmath.zeta(a, s) - mpmath.zeta(a, s + count)


@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize("offset", [0.001, 0.3, 1.0, 50.0, 1e6])
def test_against_forty_digits(offset, alpha):
    counts = [1, 2, 8, 9, 10, 11, 300, 10**6, 10**12]
    expected = [float(exact(count, offset, alpha)) for count in counts]
    shared = power_sum(np.array(counts, float), offset, alpha)
    apart = power_sum(np.array(counts, float), np.full(len(counts), offset), alpha)
    assert shared == pytest.approx(np.array(expected), rel=1e-13)
    assert apart == pytest.approx(np.array(expected), rel=1e-13)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0, 2.5])
@pytest.mark.parametrize("length", [0.25, 3.75, 1234.5, 1e9 + 0.5])
def test_between_whole_numbers(length, alpha):
    assert smooth_power_sum(length, 0.7, alpha) == pytest.approx(
        float(exact(length, 0.7, alpha)), rel=1e-12
    )


def test_nothing_to_add():
    assert power_sum(np.zeros(2), 1.0, 0.5).tolist() == [0.0, 0.0]
    assert power_sum(np.zeros(2), np.ones(2), 0.5).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("alpha", [0.5, 1 - 1e-12, 1.0, 1 + 1e-12, 3.0])
def test_integral(alpha):
    expected = mpmath.quad(lambda u: u**-alpha, [2, 4, 7])
    found = power_integral(np.array([2.0]), np.array([5.0]), alpha)
    assert found[0] == pytest.approx(float(expected), rel=1e-11)
