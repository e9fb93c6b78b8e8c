import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen.theory import (
    adaptive_potential,
    adaptivity_constant,
    monitored_potential,
    monitoring_constant,
    offline_potential,
    single_monitoring_potential,
)
from theory import brute_force


@pytest.mark.parametrize(
    ("at", "value"), [(0.25, 7.3444444444444), (0.5, 11.933333333333), (0.9, 19.275555555556)]
)
def test_constant_golden(at, value):
    assert monitoring_constant([0.1, 0.5, 0.9], 1.0, at).value == pytest.approx(value, rel=1e-12)


probabilities = st.lists(st.floats(0.02, 1.0), min_size=1, max_size=6)
shares = st.floats(0.0, 1.0)


@given(probabilities, shares, st.floats(0.2, 2.0))
def test_constant_lies_between_the_papers_and_full_adaptivity(observe, at, alpha):
    look = monitoring_constant(observe, alpha, at)
    full = adaptivity_constant(observe, alpha)
    assert look.papers_claim == pytest.approx(at * full)
    assert look.papers_claim <= look.value * (1 + 1e-9) + 1e-12
    assert look.value <= full * (1 + 1e-9) + 1e-12


@given(probabilities, shares)
def test_shares_are_a_knapsack(observe, at):
    found = monitoring_constant(observe, 1.0, at).shares
    p = np.array(observe)
    room = 1 / (p * (1 / p).sum())
    assert found.sum() == pytest.approx(at)
    assert (found >= 0).all()
    assert (found <= room + 1e-12).all()


@given(probabilities, shares, shares)
def test_constant_is_concave(observe, one, two):
    values = [monitoring_constant(observe, 1.0, b).value for b in (one, (one + two) / 2, two)]
    assert values[1] >= (values[0] + values[2]) / 2 - 1e-9 * (1 + values[1])


@given(st.floats(0.05, 1.0), st.integers(1, 5), shares)
def test_the_paper_is_right_when_all_are_observed_equally_often(p, arms, at):
    look = monitoring_constant([p] * arms, 0.5, at)
    assert look.value == pytest.approx(look.papers_claim, abs=1e-12)


def test_two_arms_against_trying_everything():
    rng = np.random.default_rng(5)
    for _ in range(25):
        observe = rng.choice([0.1, 0.4, 0.75, 1.0], 2).tolist()
        lam = rng.choice([0.5, 1.0, 3.0], 2).tolist()
        alpha = float(rng.choice([0.5, 1.0]))
        horizon = int(rng.integers(1, 9))
        early = int(rng.integers(0, horizon + 1))
        expected = brute_force.single_monitoring(observe, horizon, alpha, lam, early)
        found = single_monitoring_potential(observe, horizon, alpha, lam, at=early / horizon)
        assert found.value == pytest.approx(expected, rel=1e-12)
        assert found.error == 0.0
        assert found.first.sum() == early


def test_three_arms_of_few_rounds_are_exact_and_of_more_within_the_stated_error():
    for observe in ([0.2, 0.5, 0.9], [0.5, 0.5, 0.5]):
        expected = brute_force.single_monitoring(observe, 6, 0.5, [1.0] * 3, 3)
        found = single_monitoring_potential(observe, 6, 0.5, 1.0, at=0.5)
        assert (found.value, found.error) == (pytest.approx(expected, rel=1e-12), 0.0)
        exact = monitored_potential(observe, 60, 0.5, 1.0, [40]).value
        found = single_monitoring_potential(observe, 60, 0.5, 1.0, at=2 / 3)
        assert abs(found.value - exact) <= found.error
        assert abs(found.value - exact) < 0.5 * found.error


@pytest.mark.parametrize("at", [0.0, 0.3, 0.7, 1.0])
def test_between_offline_and_adaptive(at):
    observe, horizon = [0.2, 0.6], 200
    offline = offline_potential(observe, horizon, 1.0, 1.0).value
    adaptive = adaptive_potential(observe, horizon, 1.0, 1.0)
    value = single_monitoring_potential(observe, horizon, 1.0, 1.0, at).value
    if at in (0.0, 1.0):
        assert value == pytest.approx(offline, rel=1e-12)
    else:
        assert offline * (1 + 1e-6) < value < adaptive * (1 - 1e-6)


def test_long_horizons_carry_a_proved_error():
    observe = [0.1, 0.5, 0.9]
    for horizon in (10**4, 10**9):
        look = single_monitoring_potential(observe, horizon, 0.5, 1.0, at=0.5)
        offline = offline_potential(observe, horizon, 0.5, 1.0).value
        constant = monitoring_constant(observe, 0.5, 0.5).value
        assert look.value == pytest.approx(offline + constant / horizon**0.5, rel=1e-14)
        assert constant / horizon**0.5 * 0.99 < look.error < 10 / horizon**0.5
        assert look.first.sum() == pytest.approx(horizon / 2)


def test_one_arm():
    look = single_monitoring_potential([0.3], 100, 0.5, 1.0, at=0.4)
    assert look.value == offline_potential([0.3], 100, 0.5, 1.0).value
    assert look.first.tolist() == [40.0]


def test_a_share_that_rounds_badly_is_not_a_round_short():
    look = single_monitoring_potential([0.3, 0.6], 100, 0.5, 1.0, at=0.29)
    assert look.first.sum() == 29
