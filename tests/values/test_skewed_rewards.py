"""Intervals where rewards are skewed, and of bounds with few rewards."""

import math

import numpy as np
import pytest

from halfseen import value
from halfseen.values.influence import SKEWER, Influence, Sample, normal_interval

COLUMNS = {"action": "arm", "reward": "paid", "propensity": "chance"}


def log_of(reward, seen, arms=2, seed=0):
    arm = np.random.default_rng(seed).integers(0, arms, len(reward))
    return {
        "arm": arm,
        "paid": np.where(seen, reward, np.nan),
        "chance": np.full(len(reward), 1 / arms),
    }


def sample_of(reward):
    one = np.ones(len(reward))
    return Sample(one, one > 0, reward, 0 * one)


@pytest.mark.parametrize("skew", [0.05, 0.2, 0.4, -0.2])
def test_the_longer_end_inverts_halls_transformation(skew):
    low, high = normal_interval(1.0, 2.0, 0.95, skew=skew)
    end, z = (low, 1.959963984540054) if skew < 0 else (high, -1.959963984540054)
    t = (1.0 - end) / 2.0  # the studentized mean at which the end is the truth
    transformed = t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6
    assert transformed == pytest.approx(z, rel=1e-9)
    other = high if skew < 0 else low
    assert abs(other - 1.0) == pytest.approx(2 * 1.959963984540054, rel=1e-12)


def test_the_skewness_is_that_of_scipy_and_changes_with_no_unit():
    from scipy.stats import skew

    reward = np.random.default_rng(1).exponential(size=300)
    values = Influence(reward, np.ones(300))
    found = values.asymmetry(sample_of(reward), values.error(sample_of(reward)))
    assert found == pytest.approx(SKEWER * skew(reward) / math.sqrt(300), rel=1e-9)
    for factor in (-1e6, 1e-200, 1e140):
        same = Influence(factor * reward, np.full(300, factor))
        error = same.error(sample_of(factor * reward))
        if error > 0.0:
            again = same.asymmetry(sample_of(factor * reward), error)
            assert again == pytest.approx(math.copysign(found, factor), rel=1e-6)


def test_intervals_reach_farther_on_the_side_of_the_large_rewards():
    rng = np.random.default_rng(2)
    reward, seen = rng.exponential(size=400), rng.random(400) < 0.5
    for sign in (1, -1):
        found = value(log_of(sign * reward, seen), target={"0": 1}, compare={"1": 1}, **COLUMNS)
        up, down = found.high - found.value, found.value - found.low
        assert (up / down) ** sign > 1.05
        bounds = found.bounds(2.0)
        low, high = bounds.interval(0.95)
        up, down = (high - bounds.high) / bounds.high_error, (bounds.low - low) / bounds.low_error
        assert (up / down) ** sign > 1.05


def test_bounds_of_few_rewards_take_students_quantile():
    rows = {"arm": ["a"] * 10, "paid": [1, 0, 1, 1, 0, 1, None, None, None, None]}
    found = value(rows, target={"a": 1}, compare=None, action="arm", reward="paid")
    bounds = found.bounds(1.0)
    low, _ = bounds.interval(0.95)
    assert bounds.freedom[0] < 10
    assert (bounds.low - low) / bounds.low_error > 2.2


def test_weighted_estimates_of_few_rewards_take_students_quantile():
    rng = np.random.default_rng(3)
    rows = log_of(rng.normal(size=24), np.ones(24, dtype=bool))
    found = value(rows, target={"0": 1}, compare=None, estimator="IPW", **COLUMNS)
    assert min(found.high - found.value, found.value - found.low) / found.standard_error > 2.0


LAWS = {
    "exponential": (lambda rng, n: rng.exponential(size=n), 1.0),
    "lognormal": (lambda rng, n: np.exp(rng.normal(size=n)), math.exp(0.5)),
    "heavier": (lambda rng, n: np.exp(1.5 * rng.normal(size=n)), math.exp(1.125)),
    "gamma": (lambda rng, n: rng.gamma(0.25, size=n), 0.25),
    "losses": (lambda rng, n: -np.exp(rng.normal(size=n)), -math.exp(0.5)),
    "normal": (lambda rng, n: rng.normal(size=n), 0.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("size", [60, 150, 300])
@pytest.mark.parametrize("law", LAWS)
def test_intervals_of_skewed_means_cover_or_are_told(law, size):
    draw, truth = LAWS[law]
    rng = np.random.default_rng(size)
    held, plain, told = [], [], []
    for _ in range(2000):
        sample = sample_of(draw(rng, size))
        found = Influence(sample.reward, np.ones(size))
        mean, error = found.estimate(sample), found.error(sample)
        freedom = found.freedom(sample, np.zeros(size, dtype=np.int64))
        low, high = normal_interval(mean, error, 0.95, freedom, found.asymmetry(sample, error))
        held.append(low <= truth <= high)
        low, high = normal_interval(mean, error, 0.95, freedom)
        plain.append(low <= truth <= high)
        told.append(abs(found.skew(sample)) > 0.07)
    slack = 3 * math.sqrt(0.93 * 0.07 / 2000)
    assert np.mean(np.array(held) | np.array(told)) >= 0.93
    assert np.mean(held) >= 0.93 - slack
    assert np.mean(held) >= np.mean(plain)
    if law == "normal":
        assert np.mean(held) <= 0.97
    if law == "heavier":
        assert np.mean(plain) < 0.92


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["DR", "SNIPW"])
def test_values_and_differences_of_skewed_rewards_cover(estimator):
    rng = np.random.default_rng(6)
    held = []
    for k in range(200):  # 300 decisions of each arm, half of them seen
        rows = log_of(np.exp(rng.normal(size=600)), rng.random(600) < 0.5, seed=k)
        found = value(rows, target={"0": 1}, compare={"1": 1}, estimator=estimator, **COLUMNS)
        apart, truth = found.difference, math.exp(0.5)
        held.append((found.low <= truth <= found.high, apart.low <= 0 <= apart.high))
    assert np.mean(held, axis=0).min() >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / 200)


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [2.0, 5.0])
@pytest.mark.parametrize("arms", [1, 2, 4])
def test_bounds_of_a_hundred_binary_decisions_cover(arms, gamma):
    rng = np.random.default_rng([arms, int(gamma)])
    held = []
    for k in range(200):
        reward = (rng.random(100) < 0.4).astype(float)
        odds = np.where(reward > 0, gamma**-0.5, gamma**0.5)  # ones are seen less: the upper bound
        rows = log_of(reward, rng.random(100) < odds / (1 + odds), arms, k)
        found = value(rows, target={"0": 1}, compare=None, **COLUMNS)
        low, high = found.bounds(gamma).interval(0.95)
        held.append(low <= 0.4 <= high)
    assert np.mean(held) >= 0.93
