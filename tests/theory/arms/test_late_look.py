"""One look close to the end against exact values and stored ones."""

import numpy as np
import pytest

from halfseen.theory import (
    adaptivity_constant,
    late_look_constant,
    look_gain,
    monitored_potential,
    monitoring_constant,
    offline_potential,
    single_monitoring_potential,
)

TWO, THREE = (0.5, 0.25), (0.5, 0.25, 0.8)


def exact_gain(observe, horizon, left):
    seen = monitored_potential(observe, horizon, 1.0, 1.0, [horizon - left]).value
    return horizon * (seen - offline_potential(observe, horizon, 1.0, 1.0).value)


@pytest.mark.parametrize(
    ("horizon", "left", "formula", "exact"),
    [
        (240, 31, 4.26206128, 4.24419374),
        (240, 15, 3.55098044, 3.64091355),
        (1000, 16, 2.475451, 2.51908382),
        (1000, 64, 4.562986, 4.54931193),
        (1000, 200, 4.1, 4.03726690),
    ],
)
def test_two_arms_close_to_the_end_golden(horizon, left, formula, exact):
    assert horizon * look_gain(TWO, horizon, 1.0, horizon - left) == pytest.approx(
        formula, abs=1e-6
    )
    if horizon == 240:
        assert exact_gain(TWO, horizon, left) == pytest.approx(exact, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("left", "exact"), [(16, 2.51908382), (64, 4.54931193), (200, 4.03726690)])
def test_a_thousand_rounds_exactly(left, exact):
    assert exact_gain(TWO, 1000, left) == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(
    ("left", "formula", "exact"),
    [(3, 3.560, 3.76808), (6, 5.306, 5.24990), (13, 5.738, 5.64050)],
)
def test_three_arms_close_to_the_end_golden(left, formula, exact):
    assert 40 * look_gain(THREE, 40, 1.0, 40 - left) == pytest.approx(formula, abs=0.008)
    assert exact_gain(THREE, 40, left) == pytest.approx(exact, abs=1e-5)


def test_two_arms_as_a_special_case_of_many():
    """The numbers from deviations drawn agree with the closed form."""
    from halfseen.theory.arms.late_look import _share, two_arm_share

    for left in (0.1, 0.5, 1.0, 3.0):
        closed = two_arm_share(np.array(TWO), left)
        assert _share(TWO, left) == pytest.approx(closed, abs=2e-3)


@pytest.mark.parametrize("observe", [TWO, THREE, (0.9, 0.1)])
def test_late_constant_is_concave_from_nothing_to_gamma(observe):
    grid = np.linspace(0.0, 3.0, 31)
    values = np.array([late_look_constant(observe, 1.0, s) for s in grid])
    assert values[0] == 0.0
    assert (np.diff(values) > -1e-9).all()
    assert (np.diff(values, 2) < 1e-4 * values[-1]).all()
    gamma = adaptivity_constant(observe, 1.0)
    assert late_look_constant(observe, 1.0, 100.0) == pytest.approx(gamma, rel=1e-6)


def test_constants_of_one_look_golden():
    for alpha, gamma, values in (
        (1.0, 8.25, (2.37890625, 4.60546875, 6.814453125, 7.815)),
        (0.5, 1.531986539961, (0.441751800585, 0.855214076995, 1.265412177539, 1.451209067854)),
    ):
        assert adaptivity_constant(THREE, alpha) == pytest.approx(gamma, rel=1e-12)
        for at, value in zip((0.25, 0.5, 0.75, 0.9), values, strict=True):
            assert monitoring_constant(THREE, alpha, at).value == pytest.approx(value, rel=1e-11)


def test_single_monitoring_is_centred_well_close_to_the_end():
    """Beyond the exact range the centre was 8.18 / T above offline where 3.96 / T is right."""
    found = single_monitoring_potential(THREE, 900, 1.0, 1.0, at=885 / 900)
    gain = 900 * (found.value - offline_potential(THREE, 900, 1.0, 1.0).value)
    assert gain == pytest.approx(3.96, abs=0.02)


@pytest.mark.parametrize("observe", [(0.4,), TWO, THREE, (0.5, 0.25, 0.8, 0.3)])
def test_a_look_at_either_end_is_offline_exactly(observe):
    for horizon in (12, 5000):
        for at in (0.0, 1.0):
            found = single_monitoring_potential(observe, horizon, 1.0, 1.0, at=at)
            assert found.value == offline_potential(observe, horizon, 1.0, 1.0).value
            assert found.error == 0.0
            assert found.first.sum() == at * horizon
        assert look_gain(observe, horizon, 1.0, 0.0) == 0.0
        assert look_gain(observe, horizon, 1.0, horizon) == 0.0


def test_three_arms_and_few_rounds_are_exact():
    found = single_monitoring_potential(THREE, 40, 1.0, 1.0, at=27 / 40)
    assert found.error == 0.0
    assert found.value == pytest.approx(16.975602206649, rel=1e-12)
