"""The tipping point is where the lines cross."""

import math

import pytest

from halfseen import audit


def log(**arms):
    rows = [(name, value) for name, values in arms.items() for value in values]
    return {"a": [name for name, _ in rows], "r": [value for _, value in rows]}


def test_the_lines_cross():
    rows = log(a=[1.0, 1.0], b=[0.8, None], c=[0.0, None, None])
    found = audit(rows, action="a", reward="r").sensitivity
    assert found.best == "a"
    assert (found.tipping, found.rival) == (pytest.approx(0.4), "b")
    assert found.tipping_each == pytest.approx(0.4)
    at = {m["missing minus seen"]: m["best arm"] for m in found.moves}
    for difference, best in at.items():
        means = {"a": 1.0, "b": 0.8 + 0.5 * difference, "c": 2 / 3 * difference}
        assert best == max(means, key=means.get)


def test_equal_rates_cannot_tip_but_unequal_differences_can():
    found = audit(log(a=[1.0, None], b=[0.5, None]), action="a", reward="r").sensitivity
    assert math.isinf(found.tipping)
    assert found.tipping_each == pytest.approx(0.5)


def test_all_seen_never_tips():
    found = audit(log(a=[1.0], b=[0.5]), action="a", reward="r")
    assert math.isinf(found.sensitivity.tipping_each)
    assert "is best" not in found.summary()


def test_no_rewards_no_sensitivity():
    rows = {"a": [1, 2], "o": [True, False]}
    assert audit(rows, action="a", observed="o").sensitivity is None
