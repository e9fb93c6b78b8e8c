"""Regret bounds of rewards, noise and horizons at the edge of what floats can hold."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from halfseen import UCB, ArmedBandit, PerArm
from halfseen.theory import capped_instance_bound, regret_bounds

OBSERVE = [0.3, 0.5, 0.2]
MEANS = np.array([0.9, 0.5, 0.1])


def values(means, noise, horizon=1000, observe=OBSERVE, regularization=1.0):
    policy = UCB(regularization=regularization)
    bounds = regret_bounds(ArmedBandit(means, noise=noise), PerArm(observe), policy, horizon)
    return {bound.name: bound.value for bound in bounds if bound.applies}


def test_tiny_noise_is_no_noise_and_never_undefined():
    assert values(MEANS, 1e-300) == pytest.approx(values(MEANS, 0.0), rel=1e-12)


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e-160, 1e-5, 1e50, 1e99])
@pytest.mark.parametrize("noise", [0.0, 1e-3, 1.0])
def test_bounds_are_proportional_to_the_unit_of_rewards(unit, noise):
    plain = values(MEANS, noise)
    scaled = values(MEANS * unit, noise * unit)
    assert {k: v / unit for k, v in scaled.items()} == pytest.approx(plain, rel=1e-9)
    caps = capped_instance_bound((0.9 - MEANS) * unit, OBSERVE, 1000, noise=unit, bound=unit)
    once = capped_instance_bound(0.9 - MEANS, OBSERVE, 1000)
    assert [value / unit for value in caps] == pytest.approx(list(once), rel=1e-9)


def test_small_rewards_do_not_lose_what_ucb_pays_without_noise():
    """Play UCB exactly, always observed and without noise: no bound is below its regret."""
    for unit in (1e-300, 1e-160, 1.0):
        means, horizon = MEANS * unit, 500
        counts, regret = np.zeros(3), 0.0
        for _ in range(horizon):
            index = means * counts / (counts + 1) + means.max() / (counts + 1)
            arm = int(np.argmax(index))
            counts[arm] += 1
            regret += means.max() - means[arm]
        for name, value in values(means, 0.0, horizon, [1.0] * 3).items():
            assert value >= regret * (1 - 1e-12), name


sizes = some.floats(-300, 99).map(lambda power: 10.0**power)


@settings(max_examples=100, deadline=None)
@given(
    means=some.lists(some.one_of(sizes, some.just(0.0)), min_size=1, max_size=4),
    noise=some.one_of(sizes, some.just(0.0), some.just(5e-324)),
    horizon=some.integers(0, 18).map(lambda power: 10**power),
    regularization=some.sampled_from([1e-9, 1.0, 1e9]),
    rare=some.sampled_from([1.0, 0.3, 1e-9]),
)
def test_no_bound_is_undefined_and_their_order_holds(means, noise, horizon, regularization, rare):
    observe = [rare, *([0.5] * (len(means) - 1))]
    found = values(means, noise, horizon, observe, regularization)
    assert not any(map(math.isnan, found.values()))
    slack = 1 + 1e-9
    assert found["own gaps"] <= found["best arm dropped"] * slack
    assert found["best arm dropped"] <= found["joint"] * slack
    assert found["joint"] <= found["separate"] * slack
    assert found["separate"] <= found["closed form"] * slack + 1e-315  # the last floats are coarse
    assert found["instance in horizon"] <= found["instance"] * slack + 2 * len(means) * max(means)
    assert found["joint"] <= found["trivial"] * slack + 2 * len(means) * max(means) / horizon
