import mpmath
import numpy as np
import pytest

from halfseen.theory import (
    adaptive_potential,
    adaptivity_constant,
    offline_potential,
    second_order_potential,
)


@pytest.mark.parametrize("alpha", [0.5, 1.0])
@pytest.mark.parametrize("observe", [[0.3, 0.7], [0.1, 0.5, 0.9], [0.6] * 4])
def test_error_falls_as_stated(observe, alpha):
    """Ten times the horizon divides both errors by about 10^(1+alpha)."""
    errors = []
    for horizon in (2000, 20000):
        close = second_order_potential(observe, horizon, alpha, 1.0)
        offline = offline_potential(observe, horizon, alpha, 1.0).value
        adaptive = adaptive_potential(observe, horizon, alpha, 1.0)
        errors.append([abs(close.offline - offline), abs(close.adaptive - adaptive)])
    assert close.error_order == -(1 + alpha)
    falls = np.log10(np.array(errors[0]) / np.array(errors[1]))
    assert (falls > 1 + alpha - 0.35).all()
    assert max(errors[1]) < 60 * 20000**close.error_order * sum(1 / p**2 for p in observe)


def test_first_order_alone_is_far_worse():
    observe, horizon = [0.1, 0.5, 0.9], 10**5
    close = second_order_potential(observe, horizon, 1.0, 1.0)
    offline = offline_potential(observe, horizon, 1.0, 1.0).value
    dimension = sum(1 / p for p in observe)
    first = dimension * np.log(horizon / dimension + 1.0)
    assert abs(close.offline - offline) < 1e-6
    assert abs(first - offline) > 1.0


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_gain_tends_to_the_constant(alpha):
    observe, horizon = [0.2, 0.9], 1e12
    close = second_order_potential(observe, horizon, alpha, 1.0)
    constant = adaptivity_constant(observe, alpha)
    assert close.gain * horizon**alpha == pytest.approx(constant, rel=1e-9)
    nearer = second_order_potential(observe, 1e4, alpha, 1.0)
    assert nearer.gain == pytest.approx(nearer.adaptive - nearer.offline, rel=1e-6)


def test_formula_with_forty_digits():
    observe, horizon, alpha, lam = [0.25, 0.5], 1000, 0.5, 0.7
    close = second_order_potential(observe, horizon, alpha, lam)
    with mpmath.workdps(40):
        x = mpmath.mpf(horizon) / 6
        smooth = mpmath.zeta(alpha, lam) - mpmath.zeta(alpha, lam + x)
        k = mpmath.mpf(3) / 8 * mpmath.zeta(2.5, lam + x) * x
        offline, adaptive = 6 * smooth - 4 * k, 6 * smooth - 14 * k / 6
    assert close.offline == pytest.approx(float(offline), rel=1e-12)
    assert close.adaptive == pytest.approx(float(adaptive), rel=1e-12)


def test_everything_observed_has_no_second_order():
    close = second_order_potential([1.0, 1.0], 100, 0.5, 1.0)
    assert close.gain == 0.0
    assert close.offline == pytest.approx(2 * sum(n**-0.5 for n in range(1, 51)), rel=1e-13)


@pytest.mark.parametrize("alpha", [0.25, 1.0, 2.0, 3.0])
def test_second_order_and_gamma_hold_for_every_order(alpha):
    """The error times T^(1 + alpha) stays flat, and the gain is gamma / T^alpha, above 1 too."""
    observe, errors = [0.5, 0.25, 0.8], []
    for horizon in (500, 2000):
        close = second_order_potential(observe, horizon, alpha, 1.0)
        adaptive = adaptive_potential(observe, horizon, alpha, 1.0)
        offline = offline_potential(observe, horizon, alpha, 1.0).value
        scale = horizon ** (1 + alpha)
        errors.append(((adaptive - close.adaptive) * scale, (offline - close.offline) * scale))
        gain = (adaptive - offline) * horizon**alpha / adaptivity_constant(observe, alpha)
        assert gain == pytest.approx(1.0, abs=15 / horizon)
    assert errors[0] == pytest.approx(errors[1], rel=0.15)
    if alpha == 3.0:
        assert errors[1] == pytest.approx((-1.54e4, -4.9e4), rel=0.02)
