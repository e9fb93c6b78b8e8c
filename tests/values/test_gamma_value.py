"""Bounds of values under the Gamma model."""

import itertools
import math

import numpy as np
import pytest

from halfseen import value
from halfseen.values.gamma_value import gamma_bounds, in_cells, tipping
from halfseen.values.influence import Sample
from values import golden_log as log
from values.golden_log import EXACT, sample

W = log.TARGET[log.X, log.ARM] / log.LOGGING[log.X, log.ARM]


def test_bounds_of_twelve_decisions_in_cells_of_arms():
    cells = in_cells(sample(), log.ARM)
    same = gamma_bounds(cells, W, 1.0)
    assert (same.low, same.high) == pytest.approx([0.458854166667] * 2, abs=EXACT)
    found = gamma_bounds(cells, W, 2.0)
    assert (found.low, found.high) == pytest.approx([0.401944444444, 0.516319444444], abs=EXACT)
    errors = found.low_error, found.high_error
    assert errors == pytest.approx([0.210077601874, 0.262148481887], abs=EXACT)


def test_any_missing_reward_lies_between_the_extremes_seen():
    cells = in_cells(sample(), log.ARM)
    found = gamma_bounds(cells, W, math.inf)
    missing = np.isnan(log.REWARD)
    known = np.nansum(W * log.REWARD) / 12
    assert found.low == pytest.approx(known)
    assert found.high == pytest.approx(known + W[missing].sum() / 12)


def test_no_reweighting_of_the_seen_rewards_gives_a_difference_outside_the_bounds():
    rng = np.random.default_rng(3)
    cell = np.repeat([0, 1, 2], 6)
    seen = np.tile([True, True, True, True, False, False], 3)
    reward = np.where(seen, rng.random(18).round(2), 0.0)
    rows = Sample(np.ones(18), seen, reward, np.zeros(18))
    weight = np.repeat([1.4, -0.8, 0.5], 6)
    means = []
    for k in range(3):
        values = reward[(cell == k) & seen]
        tilts = itertools.product((1.0, 3.0), repeat=4)
        means.append([np.average(values, weights=tilt) for tilt in tilts])
    known = (weight * reward).sum()
    totals = [
        (known + 2 * (1.4 * a - 0.8 * b + 0.5 * c)) / 18 for a, b, c in itertools.product(*means)
    ]
    found = gamma_bounds(in_cells(rows, cell), weight, 3.0)
    assert (found.low, found.high) == pytest.approx([min(totals), max(totals)], abs=1e-12)


def test_tipping_gamma_of_two_arms_is_that_of_the_audit():
    # 30 ones of 50 seen of 100 pulls, against 20 of 50 of 80: 2.53846153846 by bisection.
    count = np.array([30.0, 20.0, 50.0, 20.0, 30.0, 30.0])
    seen = np.array([True, True, False] * 2)
    reward = np.array([1.0, 0.0, 0.0] * 2)
    rows = Sample(count, seen, reward, np.zeros(6))
    cell = np.array([0, 0, 0, 1, 1, 1])
    weight = np.where(cell == 0, 1.8, -180 / 80)
    cells = in_cells(rows, cell)
    assert tipping(cells, weight) == pytest.approx(2.53846153846, abs=1e-11)
    assert tipping(cells, -weight) == pytest.approx(2.53846153846, abs=1e-11)
    at = gamma_bounds(cells, weight, tipping(cells, weight))
    assert at.low == pytest.approx(0.0, abs=1e-12)
    assert tipping(cells, 0 * weight) == 1.0


@pytest.mark.slow
def test_standard_errors_of_bounds_are_those_of_many_logs():
    rng = np.random.default_rng(1)
    ends = []
    for _ in range(400):
        arm = rng.random(1000) < 0.4
        reward = (rng.random(1000) < np.where(arm, 0.6, 0.3)).astype(float)
        seen = rng.random(1000) < np.where(reward > 0, 0.7, 0.5)
        rows = Sample(np.ones(1000), seen, reward * seen, np.zeros(1000))
        weight = np.where(arm, 0.8 / 0.4, 0.2 / 0.6)
        found = gamma_bounds(in_cells(rows, arm.astype(np.int64)), weight, 2.0)
        ends.append((found.low, found.high, found.low_error, found.high_error))
    low, high, low_error, high_error = np.array(ends).T
    assert low_error.mean() == pytest.approx(low.std(), rel=0.12)  # 400 logs: 3.5% per error
    assert high_error.mean() == pytest.approx(high.std(), rel=0.12)


def two_rates(rng, rows=2000):
    """Return a log of rewards near 9 and 1, arms logged 90% and 10%, 30% missing."""
    b = rng.random(rows) < 0.1
    paid = np.where(b, 1 + 0.1 * rng.normal(size=rows), 9 + 0.5 * rng.normal(size=rows))
    return {
        "arm": np.where(b, "b", "a"),
        "paid": np.where(rng.random(rows) < 0.3, np.nan, paid),
        "chance": np.where(b, 0.1, 0.9),
    }


COLUMNS = {"action": "arm", "reward": "paid", "target": {"a": 0.5, "b": 0.5}}


@pytest.mark.parametrize("propensity", ["chance", None])
def test_errors_count_what_divides_the_weights(propensity):
    """With nothing missing, bounds are SNIPW; with shares for propensities, means of the arms."""
    rows = two_rates(np.random.default_rng(0))
    rows["paid"] = np.where(np.isnan(rows["paid"]), 5.0, rows["paid"])
    found = value(rows, propensity=propensity, **COLUMNS)
    by = {one.name: one for one in found.alternatives}
    one = by["DR" if propensity is None else "SNIPW"]
    bound = found.bounds(1.0)
    assert bound.low == pytest.approx(one.value, abs=1e-12)
    assert bound.low_error == pytest.approx(one.standard_error, rel=0.01)
    apart = found.bounds(1.0, difference=True)
    if propensity is None:
        assert apart.low_error == pytest.approx(found.difference.standard_error, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("propensity", ["chance", None])
def test_intervals_of_bounds_cover_where_arms_pay_differently(propensity):
    rng = np.random.default_rng(2)
    held = []
    for _ in range(200):
        found = value(two_rates(rng), propensity=propensity, **COLUMNS)
        low, high = found.bounds(1.0).interval(0.95)
        first, last = found.bounds(1.0, difference=True).interval(0.95)
        held.append((low <= 5.0 <= high, first <= 5.0 - 8.2 <= last))
    assert np.mean(held, axis=0) == pytest.approx([0.95, 0.95], abs=3 * math.sqrt(0.0475 / 200))


def test_rewards_that_count_alike_in_a_cell_are_biased_where_propensities_look_at_more():
    rng, rows, found = np.random.default_rng(0), 300, []
    for _ in range(300):
        x = rng.integers(0, 2, rows)
        arm = (rng.random(rows)[:, None] > log.LOGGING.cumsum(axis=1)[x]).sum(axis=1)
        seen = rng.random(rows) < np.array([0.75, 0.75, 0.5])[arm]
        paid = np.where(seen, rng.random(rows) < log.Q[x, arm], 0.0)
        decisions = Sample(np.ones(rows), seen, paid, np.zeros(rows))
        weight = log.TARGET[x, arm] / log.LOGGING[x, arm]
        share = weight / weight.mean()
        alike = gamma_bounds(in_cells(decisions, arm), weight, 1.0)
        weighted = gamma_bounds(in_cells(decisions, arm, share), share, 1.0)
        found.append((alike.low, weighted.low))
    bias = np.mean(found, axis=0) - 0.5 * (log.TARGET * log.Q).sum()
    error = np.std(found, axis=0) / math.sqrt(300)
    assert bias[0] > 4 * error[0]
    assert abs(bias[1]) < 3 * error[1]


def test_bounds_of_twelve_decisions_in_an_evaluation():
    rows = {
        "arm": log.ARM,
        "paid": log.REWARD,
        "chance": log.LOGGING[log.X, log.ARM],
        "pi": log.TARGET[log.X, log.ARM],
    }
    options = COLUMNS | {"target": "pi", "propensity": "chance"}
    found = value(rows, **options)
    assert found.bounds(1.0).low == pytest.approx(0.531784, abs=1e-6)
    assert found.bounds(2.0).low == pytest.approx(0.469137, abs=1e-6)
    assert found.bounds(2.0).high == pytest.approx(0.594409, abs=1e-6)
