import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from halfseen.kernels import kullback_leibler
from halfseen.theory.lower.least_divergence import (
    FAMILIES,
    TwoPoints,
    UniformLaw,
    bounded,
    log_excess,
    unknown_variance,
)


def test_golden():
    assert unknown_variance(0.5, 0.4, 0.5) == pytest.approx(0.247348120918, abs=5e-13)
    value, s = bounded(UniformLaw(0.5), 0.2, 0.3)
    assert value == pytest.approx(0.252845563004, abs=5e-13)
    assert s == pytest.approx(0.801631156582, abs=5e-13)


def exact(family, m, rise):
    m, target = mpmath.mpf(m), mpmath.mpf(m) + mpmath.mpf(rise)
    if family == "poisson":
        return target - m + m * mpmath.log(m / target)
    if family == "exponential":
        return m / target - 1 - mpmath.log(m / target)
    return m * mpmath.log(m / target) + (1 - m) * mpmath.log((1 - m) / (1 - target))


@pytest.mark.parametrize("family", ["bernoulli", "poisson", "exponential"])
@pytest.mark.parametrize("rise", [1e-12, -1e-7, 1e-3, 0.05, -0.2, 0.3])
def test_every_digit_is_right_however_small_the_difference(family, rise):
    with mpmath.workdps(50):
        assert FAMILIES[family](0.4, rise, 1.0) == pytest.approx(
            float(exact(family, 0.4, rise)), rel=3e-14
        )


@given(st.floats(-0.999, 10.0).filter(lambda t: abs(t) > 1e-20))
def test_log_excess(t):
    with mpmath.workdps(60):
        assert log_excess(t) == pytest.approx(float(t - mpmath.log1p(t)), rel=1e-13, abs=1e-300)


def test_edges():
    bernoulli = FAMILIES["bernoulli"]
    assert bernoulli(0.0, 0.5, 1.0) == pytest.approx(math.log(2))
    assert bernoulli(0.5, 0.5, 1.0) == math.inf
    assert bernoulli(1.0, 0.0, 1.0) == 0.0
    assert FAMILIES["poisson"](0.0, 0.7, 1.0) == 0.7
    assert FAMILIES["poisson"](1e-310, 0.7, 1.0) == 0.7
    assert FAMILIES["gaussian"](0.3, 0.1, 0.0) == math.inf


@pytest.mark.parametrize("target", [0.31, 0.5, 0.9, 0.999])
def test_on_two_points_at_0_and_1_the_bounded_class_is_bernoulli(target):
    found, _ = bounded(TwoPoints(0.3, 0.7), target - 0.3, 1.0 - target)
    assert found == pytest.approx(FAMILIES["bernoulli"](0.3, target - 0.3, 1.0), rel=1e-12)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.2, 0.4), (0.1, 0.1001)])
def test_bounded_beats_every_slope_tried(low, high):
    target = 0.75
    law = UniformLaw((high - low) / 2)
    found, _ = bounded(law, target - (low + high) / 2, 1.0 - target)

    def at(s):
        return quad(
            lambda x: math.log1p(-s * (x - target) / (1 - target)) / (high - low), low, high
        )[0]

    tried = [at(s) for s in np.linspace(0.0, 0.999, 200)]
    assert max(tried) <= found + 1e-12
    assert found == pytest.approx(max(tried), rel=1e-2)


def test_the_bounded_class_is_harder_than_any_of_its_parts():
    """A uniform law is told from laws of larger mean at least as easily as a Bernoulli law."""
    uniform, _ = bounded(UniformLaw(0.5), 0.2, 0.3)
    assert uniform > FAMILIES["bernoulli"](0.5, 0.2, 1.0)


@pytest.mark.parametrize("family", ["gaussian", "bernoulli", "poisson", "exponential"])
def test_policies_use_the_same_divergences(family):
    code = {"gaussian": 0, "bernoulli": 1, "poisson": 2, "exponential": 3}[family]
    for mean, rise in ((0.3, 0.1), (0.05, 0.9), (0.5, 0.4999)):
        played = kullback_leibler.divergence(code, mean, mean + rise, 0.5)
        assert FAMILIES[family](mean, rise, 1.0) == pytest.approx(played, rel=1e-12)


def exact_bounded(logarithm, reciprocal, rise, room):
    """Maximise E log(1+t) over the slope, in 60 digits: its derivative falls, so bisect it."""
    low, high = mpmath.mpf(0), 1 / mpmath.mpf(room)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if reciprocal(middle) < 1 else (low, middle)
    return float(logarithm(low))


@pytest.mark.parametrize("rise", [1e-12, 1e-9, 1e-6, 1e-3, 0.05, 0.3])
def test_the_bounded_class_has_every_digit_however_small_the_rise(rise):
    """At a rise of 1e-9 it was negative, and so was the constant of the lower bound."""
    noise, room = 0.1, 0.5 - rise
    with mpmath.workdps(60):
        up = mpmath.mpf(rise)
        points = [up + mpmath.mpf(noise), up - mpmath.mpf(noise)]
        found = exact_bounded(
            lambda b: sum(mpmath.log1p(b * x) for x in points) / 2,
            lambda b: sum(1 / (1 + b * x) for x in points) / 2,
            rise,
            room,
        )
        assert bounded(TwoPoints(noise, noise), rise, room)[0] == pytest.approx(found, rel=1e-12)
        half = mpmath.mpf(noise)

        def integral(b):
            ends = [1 + b * (up + half), 1 + b * (up - half)]
            return (ends[0] * mpmath.log(ends[0]) - ends[1] * mpmath.log(ends[1])) / (
                2 * b * half
            ) - 1

        found = exact_bounded(
            integral,
            lambda b: mpmath.log((1 + b * (up + half)) / (1 + b * (up - half))) / (2 * b * half),
            rise,
            room,
        )
        assert bounded(UniformLaw(noise), rise, room)[0] == pytest.approx(found, rel=1e-12)
