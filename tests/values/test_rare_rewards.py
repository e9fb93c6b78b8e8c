"""Errors where chance may have left a reward out."""

import math

import numpy as np
import pytest

from halfseen import value

COLUMNS = {"action": "arm", "reward": "paid"}
ZEROS = {
    "arm": ["a"] * 950 + ["b"] * 100,
    "paid": [1] * 19 + [0] * 741 + [None] * 190 + [0] * 50 + [None] * 50,
}


@pytest.mark.parametrize("estimator", ["DR", "SNIPW", "IPW"])
@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
def test_an_arm_of_zeros_has_an_interval_and_no_firm_verdict(estimator, interval):
    options = COLUMNS | {"estimator": estimator, "interval": interval}
    found = value(ZEROS, target={"b": 1}, **options)
    error = math.sqrt(4 * 54 * 50 / 58**3 / 50)
    assert found.value == 0.0
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    assert 3 / 50 < found.high < 4.5 / 50
    assert found.interval == "normal"
    assert "cannot tell" in found.verdict


def test_an_arm_of_ones_has_the_interval_of_one_of_zeros():
    ones = ZEROS | {"paid": [None if r is None else 1 - r for r in ZEROS["paid"]]}
    found, other = (value(rows, target={"b": 1}, **COLUMNS) for rows in (ZEROS, ones))
    assert other.value - other.low == pytest.approx(found.high - found.value, rel=1e-9)


def test_bounds_of_an_arm_of_zeros_have_errors():
    found = value(ZEROS, target={"b": 1}, **COLUMNS)
    same, twice = found.bounds(1.0), found.bounds(2.0)
    assert (same.high, twice.high) == (0.0, 0.0)
    assert same.high_error == pytest.approx(found.standard_error, rel=1e-3)
    # One of 50 seen rewards moves the mean of the missing by 2/50, half of the decisions.
    assert twice.high_error == pytest.approx(1.5 * same.high_error, rel=1e-9)


def test_many_rewards_of_both_values_change_no_error():
    rows = {"arm": ["a", "b"] * 500, "paid": [1, 0, 0, 1, None, 1, 1, 0] * 125}
    found = value(rows, target={"b": 1}, compare=None, **COLUMNS)
    assert found.standard_error == pytest.approx(math.sqrt(0.25 / 499), rel=1e-3)


def test_equal_rewards_of_an_arm_may_differ_as_much_as_others_of_the_log():
    paid = [0.0, 3.5, 12.0, 1.0] * 100 + [0.0] * 60 + [None] * 40
    rows = {"arm": ["a"] * 400 + ["b"] * 100, "paid": paid}
    found = value(rows, target={"b": 1}, **COLUMNS)
    size = (3.5**2 + 12.0**2 + 1.0) / 3  # of the rewards that are not 0
    error = math.sqrt(4 * 64 * 60 / 68**3 * size / 60)
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    same, twice = found.bounds(1.0), found.bounds(2.0)
    assert same.high_error == pytest.approx(error, rel=1e-9)
    assert twice.high_error == pytest.approx((0.6 + 0.4 * 2) * error, rel=1e-9)
    assert twice.low_error == pytest.approx(error, rel=1e-9)
    paid[400:404] = [1.0, 2.0, 1.0, 12.0]  # four differ, as much as these and four of the log's
    squares = 1 + 4 + 1 + 144
    found = value(rows, target={"b": 1}, **COLUMNS)
    others = (100 * (3.5**2 + 12.0**2 + 1.0) + squares) / 304
    smoothed = 8 * 60 * 60 / 68**3 * (squares + 4 * others) / 8
    spread = squares / 60 - (16 / 60) ** 2
    assert found.standard_error == pytest.approx(
        math.sqrt((smoothed - spread) / 60 + spread / 59), rel=0.01
    )
    options = COLUMNS | {"interval": "bootstrap", "resamples": 20}
    assert value(rows, target={"b": 1}, **options).interval == "normal"


def test_rewards_of_many_values_that_are_no_few_keep_their_errors():
    paid = [*np.linspace(0.0, 1.0, 40), *np.linspace(8.0, 9.0, 400)]
    rows = {"arm": ["b"] * 40 + ["a"] * 400, "paid": paid}
    found = value(rows, target={"b": 1}, **COLUMNS)
    assert found.standard_error == pytest.approx(
        np.std(paid[:40], ddof=1) / math.sqrt(40), rel=0.01
    )


def test_a_few_large_rewards_are_trouble():
    paid = np.append(np.linspace(0.5, 1.5, 500), [40.0, 55.0])
    rows = {"arm": ["a", "b"] * 251, "paid": paid}
    found = value(rows, target={"b": 1}, **COLUMNS)
    assert found.diagnostics.skew > 0.5
    assert "a few rewards dominate the estimate" in found.verdict
    rows["paid"] = np.clip(paid, 0.0, 2.0)
    assert value(rows, target={"b": 1}, **COLUMNS).diagnostics.troubles == ()


@pytest.mark.slow
@pytest.mark.parametrize("propensity", ["chance", None])
@pytest.mark.parametrize("size", [2000, 5000, 20_000])
def test_intervals_cover_where_a_rare_arm_rarely_pays(size, propensity):
    rng = np.random.default_rng(size)
    held = []
    for _ in range(200):
        b = rng.random(size) < 0.05
        paid = (rng.random(size) < np.where(b, 0.01, 0.02)).astype(float)
        rows = {
            "arm": np.where(b, "b", "a"),
            "paid": np.where(rng.random(size) < np.where(b, 0.5, 0.8), paid, np.nan),
            "chance": np.where(b, 0.05, 0.95),
        }
        found = value(rows, target={"b": 1}, propensity=propensity, **COLUMNS)
        apart = found.difference
        held.append((found.low <= 0.01 <= found.high, apart.low <= -0.0095 <= apart.high))
    assert np.mean(held, axis=0).min() >= 0.93  # .38 to .90 with the spread of the seen alone


@pytest.mark.slow
@pytest.mark.parametrize(("size", "pays"), [(2000, 0.01), (2000, 0.03), (20_000, 0.01)])
def test_intervals_cover_where_a_rare_arm_rarely_pays_some_amount(size, pays):
    rng = np.random.default_rng(size)
    truth, held = pays * math.exp(0.125), []
    for _ in range(150):
        b = rng.random(size) < 0.05
        paid = (rng.random(size) < np.where(b, pays, 0.05)) * np.exp(0.5 * rng.normal(size=size))
        rows = {
            "arm": np.where(b, "b", "a"),
            "paid": np.where(rng.random(size) < np.where(b, 0.5, 0.8), paid, np.nan),
            "chance": np.where(b, 0.05, 0.95),
        }
        found = value(rows, target={"b": 1}, propensity="chance", **COLUMNS)
        low, high = found.bounds(1.0).interval(0.95)
        held.append((found.low <= truth <= found.high, low <= truth <= high))
    assert np.mean(held, axis=0).min() >= 0.93  # .33 and .67 with the spread of the seen alone


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "least", "most"), [("lognormal", 0.5, 1), ("normal", 0, 0.02)])
def test_skewed_rewards_are_told_and_others_are_not(draw, least, most):
    rng = np.random.default_rng(3)
    told = []
    for _ in range(100):
        b = rng.random(500) < 0.3  # 60 rewards of b: intervals of lognormal ones cover 89%
        paid = getattr(rng, draw)(size=500)
        seen = rng.random(500) < np.where(b, 0.4, 0.7)
        rows = {"arm": np.where(b, "b", "a"), "paid": np.where(seen, paid, np.nan)}
        told.append(bool(value(rows, target={"b": 1}, **COLUMNS).diagnostics.troubles))
    assert least <= np.mean(told) <= most
