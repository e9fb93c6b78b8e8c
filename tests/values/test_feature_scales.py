"""Values by features of any size, and what features cannot make up for."""

import numpy as np
import pytest

from halfseen import InvalidInput, value
from halfseen.values.weight_diagnostics import effective

COLUMNS = {"action": "arm", "reward": "paid"}


def looked_at(rows=1500, seed=0):
    """Return a log whose arms, rewards and feedback depend on x; arm b is worth 0.5."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    chance = 1 / (1 + np.exp(-x))
    arm = (rng.random(rows) < chance) * 1
    reward = x * (2 * arm - 1) + 0.5 * arm + rng.normal(size=rows)
    seen = rng.random(rows) < 1 / (1 + np.exp(-0.5 - 0.7 * x))
    return {
        "arm": np.array(["a", "b"])[arm],
        "paid": np.where(seen, reward, np.nan),
        "x": x,
        "income": 5e4 + 3e4 * rng.normal(size=rows),
        "time": 1.7e9 + 1e7 * rng.random(rows),
        "propensity": np.where(arm == 1, chance, 1 - chance),
    }


@pytest.mark.parametrize("beside", ["income", "time"])
def test_a_feature_of_large_numbers_leaves_the_others_their_weight(beside):
    log = looked_at()
    log["rate"] = 0.001 * log["x"]
    options = COLUMNS | {"target": {"b": 1}, "compare": None}
    alone = value(log, features=["rate"], **options)
    both = value(log, features=["rate", beside], **options)
    assert both.value == pytest.approx(alone.value, abs=0.01)
    assert abs(both.value - 0.5) < 3 * both.standard_error


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_the_unit_of_a_feature_does_not_matter(scale):
    log = looked_at()
    options = COLUMNS | {"target": {"b": 1}, "features": ["x"], "propensity": "propensity"}
    plain = value(log, **options)
    other = value(log | {"x": scale * log["x"]}, **options)
    assert other.value == pytest.approx(plain.value, rel=1e-6)
    assert other.standard_error == pytest.approx(plain.standard_error, rel=1e-6)


def test_features_do_not_make_up_for_an_arm_that_a_context_never_shows():
    rng = np.random.default_rng(0)
    rare = rng.random(2000) < 0.04
    arm = np.where(rare, 0, rng.integers(0, 2, 2000))
    log = {
        "arm": np.array(["a", "b"])[arm],
        "context": np.where(rare, "rare", "usual"),
        "paid": np.where(rng.random(2000) < 0.6, rng.normal(size=2000), np.nan),
        "x": rng.normal(size=2000),
        "propensity": np.where(rare, 1.0, 0.5),
    }
    options = COLUMNS | {"target": {"b": 1}, "context": "context", "features": ["x"]}
    with pytest.raises(InvalidInput, match=r"arm b in rare \(never played\).*lies between"):
        value(log, propensity="propensity", **options)
    log["arm"] = np.array(["a", "b"])[rng.integers(0, 2, 2000)]
    log["paid"] = np.where(rare & (log["arm"] == "b"), np.nan, log["paid"])
    with pytest.raises(InvalidInput, match=r"arm b in rare \(no reward seen\)"):
        value(log, **options)
    few = {name: column[~rare | (np.cumsum(rare) < 4)] for name, column in log.items()}
    assert any("features elsewhere" in said for said in value(few, **options).warnings)


def test_policies_of_equal_value_are_turned_by_nothing():
    log = {"arm": ["a", "b"] * 50, "paid": [1, 0, 0, 1] * 25}
    found = value(log, target={"a": 0.7, "b": 0.3}, **COLUMNS)
    assert found.tipping_gamma == 1.0


def test_the_effective_number_of_weights_whose_squares_are_no_numbers():
    assert effective(np.ones(3), np.array([1e200, 1e200, 0.0])) == 2.0
    assert effective(np.ones(3), np.zeros(3)) == 0.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": [0.5] * 3, "b": [0.5] * 3}, r"one per row \(1\); got 'shape \(3,"),
        ({"a": float("nan"), "b": 0.4}, "must return probabilities; got nan"),
        ({"a": 1.2, "b": -0.2}, "must return probabilities; got 1.2"),
    ],
)
def test_what_a_function_returns_is_named_where_it_is_wrong(given, message):
    log = {"arm": ["a", "b"] * 50, "paid": [1, 0, 0, 1] * 25}
    with pytest.raises(InvalidInput, match=message):
        value(log, target=lambda _: given, **COLUMNS)


def test_rewards_that_are_all_equal_are_said_to_tell_no_spread():
    log = {"arm": ["a", "b"] * 50, "paid": [0] * 100}
    found = value(log, target={"a": 1}, **COLUMNS)
    assert found.low == found.high == 0.0
    assert any("All rewards seen are 0: the interval has no width" in w for w in found.warnings)
