"""Probabilities too small for weights, and rows that contradict themselves."""

import math

import pytest

from halfseen import InvalidInput, value

COLUMNS = {"action": "arm", "reward": "paid"}
ROWS = {"arm": ["a", "b"] * 40, "paid": [1.0, 0.0, 0.0, 1.0, None, 1.0, 1.0, 0.0] * 10}


@pytest.mark.parametrize("least", [1e-151, 1e-200, 1e-310])
def test_propensities_whose_weights_cannot_be_squared_are_refused(least):
    rows = ROWS | {"chance": [0.5] * 79 + [least]}
    with pytest.raises(InvalidInput, match="`propensity` must be large enough"):
        value(rows, target={"b": 1}, propensity="chance", **COLUMNS)
    found = value(rows, target={"a": 1}, compare=None, propensity="chance", **COLUMNS)
    assert math.isfinite(found.standard_error)  # the arm of the tiny propensity is not played


@pytest.mark.parametrize("least", [1e-12, 1e-100])
def test_propensities_that_are_merely_tiny_have_numbers_and_a_warning(least):
    rows = ROWS | {"chance": [0.5] * 79 + [least]}
    found = value(rows, target={"b": 1}, propensity="chance", **COLUMNS)
    for one in (found.target, found.difference, *found.alternatives):
        assert math.isfinite(one.value)
    assert any("whole weight" in said for said in found.warnings)


def test_known_probabilities_of_being_seen_that_are_too_small_are_refused():
    with pytest.raises(InvalidInput, match="`observe` must be large enough"):
        value(ROWS, target={"b": 1}, observe={"a": 0.5, "b": 1e-200}, **COLUMNS)


def test_rows_seen_without_a_reward_and_rewards_not_seen_are_told():
    rows = ROWS | {"seen": [1] * 78 + [0] * 2}
    found = value(rows, target={"b": 1}, observed="seen", **COLUMNS)
    assert found.seen == 68
    said = "10 of the rows marked as observed have no reward and count as missing."
    assert found.warnings[0].startswith(said)
    assert "2 rewards of rows marked as not observed are not used." in found.notes
    rows["seen"] = [int(paid is not None) for paid in rows["paid"]]
    clean = value(rows, target={"b": 1}, observed="seen", **COLUMNS)
    assert not any("marked as" in said for said in (*clean.warnings, *clean.notes))


@pytest.mark.parametrize("chance", [0.1, 0.3, 0.7, 0.9, 1 / 3])
def test_the_propensity_of_the_only_arm_left_is_1_whatever_the_rounding(chance):
    rows = ROWS | {"chance": [chance, 1.0 - chance] * 40}
    found = value(rows, target={"a": 1}, propensity="chance", drop_arms=["b"], **COLUMNS)
    assert found.value == pytest.approx(2 / 3)
    assert found.diagnostics.smallest_propensity == pytest.approx(1.0)
