import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.theory import (
    adaptive_potential,
    adaptivity_constant,
    fluid_potential,
    offline_potential,
)
from theory import brute_force

SIX = [
    (0.1, 0.5, 0.9),
    (0.3, 0.7),
    (0.05, 0.2, 0.6, 0.95),
    (0.5, 0.5, 0.5),
    (0.9, 0.1, 0.5, 0.3, 0.05),
    (0.99, 0.4),
]


@pytest.mark.parametrize(
    ("alpha", "offline", "allocation", "adaptive"),
    [(0.5, 9.2376696085752, [8, 4], 9.3600321546), (1.0, 7.5564437286905, [9, 3], 7.71858389355)],
)
def test_golden_short(alpha, offline, allocation, adaptive):
    best = offline_potential([0.3, 0.7], 12, alpha, 1.0)
    assert best.value == pytest.approx(offline, rel=1e-13)
    assert best.allocation.tolist() == allocation
    assert adaptive_potential([0.3, 0.7], 12, alpha, 1.0) == pytest.approx(adaptive, rel=1e-11)


def test_golden_long():
    best = offline_potential([0.1, 0.5, 0.9], 1000, 0.5, 1.0)
    assert best.value == pytest.approx(210.322104289, rel=1e-11)
    assert best.allocation.tolist() == [763, 152, 85]
    value = adaptive_potential([0.1, 0.5, 0.9], 1000, 0.5, 1.0)
    assert value == pytest.approx(210.409958134, rel=1e-11)


def instances(count, arms, horizon, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        d = int(rng.integers(1, arms + 1))
        yield (
            rng.choice([0.02, 0.3, 0.5, 0.77, 1.0], d).tolist(),
            int(rng.integers(1, horizon + 1)),
            float(rng.choice([0.3, 0.5, 1.0, 2.0])),
            rng.choice([0.2, 1.0, 4.0], d).tolist(),
            rng.choice([0.0, 0.5, 1.0], d, p=[0.1, 0.3, 0.6]).tolist(),
        )


def test_offline_against_all_allocations():
    for instance in instances(120, arms=3, horizon=10, seed=1):
        expected = brute_force.offline(*instance)[0]
        found = offline_potential(*instance[:4], weights=instance[4])
        assert found.value == pytest.approx(expected, rel=1e-12, abs=1e-300)
        assert found.allocation.sum() == instance[1]
        assert (found.allocation >= 0).all()


def test_adaptive_against_value_iteration():
    for instance in instances(120, arms=3, horizon=9, seed=2):
        expected = brute_force.adaptive(*instance)
        assert adaptive_potential(*instance[:4], weights=instance[4]) == pytest.approx(
            expected, rel=1e-12, abs=1e-300
        )


@pytest.mark.slow
def test_offline_below_adaptive_below_fluid():
    strict = 0
    for instance in instances(300, arms=5, horizon=150, seed=3):
        offline = offline_potential(*instance[:4], weights=instance[4]).value
        adaptive = adaptive_potential(*instance[:4], weights=instance[4])
        fluid = fluid_potential(*instance[:4], weights=instance[4])
        assert offline <= adaptive * (1 + 1e-12)
        assert adaptive <= fluid * (1 + 1e-12)
        strict += offline < adaptive * (1 - 1e-6) < fluid * (1 - 2e-6)
    assert strict > 100


def test_the_allocation_takes_the_largest_moments():
    observe, horizon = [0.02, 0.4, 0.9, 0.9], 5000
    best = offline_potential(
        observe, horizon, 0.5, [1.0, 2.0, 0.5, 0.5], weights=[1.0, 2.0, 0.7, 0.7]
    )
    around = []
    for arm in range(4):
        for other in range(4):
            moved = best.allocation.copy()
            moved[arm] += 1
            moved[other] -= 1
            around.append(moved)
    from halfseen.theory.arms.inverse_moments import InverseMoments

    moments = InverseMoments(np.array(observe), np.array([1.0, 2.0, 0.5, 0.5]), 0.5, horizon)
    weights = np.array([1.0, 2.0, 0.7, 0.7])
    values = [(weights * moments.total(plays.astype(float))).sum() for plays in around]
    assert max(values) <= best.value * (1 + 1e-14)


@given(st.integers(1, 5), st.integers(1, 200), st.sampled_from([0.5, 1.0, 1.5]))
@settings(deadline=None, max_examples=40)
def test_everything_observed_leaves_nothing_to_adapt_to(arms, horizon, alpha):
    ones = [1.0] * arms
    counts = [len(range(arm, horizon, arms)) for arm in range(arms)]
    exact = sum(sum((n + 1.0) ** -alpha for n in range(count)) for count in counts)
    assert offline_potential(ones, horizon, alpha, 1.0).value == pytest.approx(exact, rel=1e-12)
    assert adaptive_potential(ones, horizon, alpha, 1.0) == pytest.approx(exact, rel=1e-12)
    assert fluid_potential(ones, horizon, alpha, 1.0) == pytest.approx(exact, rel=1e-12)
    assert adaptivity_constant(ones, alpha) == 0.0


@given(
    st.lists(st.floats(0.05, 1.0), min_size=2, max_size=4),
    st.integers(1, 80),
    st.randoms(use_true_random=False),
)
@settings(deadline=None, max_examples=40)
def test_relabelling_changes_nothing(observe, horizon, shuffler):
    other = list(observe)
    shuffler.shuffle(other)
    one, two = (offline_potential(p, horizon, 0.5, 1.0).value for p in (observe, other))
    assert one == pytest.approx(two, rel=1e-12)
    one, two = (adaptive_potential(p, horizon, 0.5, 1.0) for p in (observe, other))
    assert one == pytest.approx(two, rel=1e-12)
    assert adaptivity_constant(observe, 0.5) == pytest.approx(adaptivity_constant(other, 0.5))


def test_adaptivity_constant_golden():
    assert adaptivity_constant([0.1, 0.5, 0.9], 0.5) == pytest.approx(2.7924096742916, rel=1e-13)
    assert adaptivity_constant([0.1, 0.5, 0.9], 1.0) == pytest.approx(20.222222222222, rel=1e-13)


def test_adaptivity_constant_is_the_double_sum():
    p, alpha = [0.2, 0.6, 0.35, 1.0], 0.7
    dimension = sum(1 / x for x in p)
    double = sum(1 / p[a] * sum((1 - p[b]) / p[b] for b in range(4) if b != a) for a in range(4))
    expected = alpha / (2 * dimension ** (1 - alpha)) * double
    assert adaptivity_constant(p, alpha) == pytest.approx(expected)


def gain_over_constant(observe, alpha, horizon):
    offline = offline_potential(observe, horizon, alpha, 1.0).value
    gain = adaptive_potential(observe, horizon, alpha, 1.0) - offline
    return gain * horizon**alpha / adaptivity_constant(observe, alpha)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.5, 1.0])
@pytest.mark.parametrize("observe", SIX)
def test_the_gain_tends_to_the_constant(observe, alpha):
    assert gain_over_constant(observe, alpha, 10**5) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("observe", [*SIX, (0.02, 0.9), (0.2,) * 8, (1.0, 0.1)])
def test_the_gain_tends_to_the_constant_further_out(observe, alpha):
    assert gain_over_constant(observe, alpha, 5 * 10**5) == pytest.approx(1.0, abs=1e-3)


def test_one_arm_leaves_no_choice():
    offline = offline_potential([0.3], 500, 0.5, 1.0)
    assert offline.allocation.tolist() == [500]
    assert adaptive_potential([0.3], 500, 0.5, 1.0) == pytest.approx(offline.value, rel=1e-12)
    assert adaptivity_constant([0.3], 0.5) == 0.0


def test_steep_costs_do_not_overflow():
    offline = offline_potential([0.5, 0.4], 10**6, 64.0, [1.0, 2.0])
    assert offline.allocation.sum() == 10**6
    assert offline.value <= fluid_potential([0.5, 0.4], 10**6, 64.0, [1.0, 2.0]) * (1 + 1e-12)
    adaptive = adaptive_potential([0.5, 0.4], 2000, 64.0, [1.0, 2.0])
    assert adaptive == pytest.approx(fluid_potential([0.5, 0.4], 2000, 64.0, [1.0, 2.0]))
    gentle = offline_potential([0.5, 0.4], 10**6, 0.01, [1.0, 2.0])
    assert gentle.allocation.sum() == 10**6


def test_offline_at_a_trillion_rounds():
    observe = [0.1, 0.5, 0.9]
    best = offline_potential(observe, 10**12, 0.5, 1.0)
    assert best.allocation.sum() == 10**12
    assert best.allocation == pytest.approx(10**12 / np.array(observe) / (118 / 9), rel=1e-9)
    assert best.value == pytest.approx(fluid_potential(observe, 10**12, 0.5, 1.0), rel=1e-10)
