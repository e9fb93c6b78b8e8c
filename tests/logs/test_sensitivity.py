"""The tipping point is where the lines cross."""

import math

import numpy as np
import pytest

from halfseen import audit
from halfseen.logs.sensitivity import shifted_means


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


def test_a_tie_is_called_a_tie():
    found = audit(log(a=[1.0, None], b=[1.0, None, None]), action="a", reward="r")
    assert found.sensitivity.tipping == 0.0
    assert "“a” and “b” are equally good" in str(found)


def test_all_seen_never_tips():
    found = audit(log(a=[1.0], b=[0.5]), action="a", reward="r")
    assert math.isinf(found.sensitivity.tipping_each)
    assert "is best" not in found.summary()


@pytest.mark.parametrize("seed", range(8))
def test_rewards_of_0_or_1_stay_between_these(seed):
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, 4, 400)
    gone = rng.random(400) < rng.random(4)[arm]
    bought = np.where(gone, np.nan, rng.random(400) < rng.random(4)[arm])
    found = audit({"a": arm, "r": bought}, action="a", reward="r")
    counts, told = found.counts, found.sensitivity
    assert counts.binary
    best = counts.names.index(told.best)
    missing = counts.rows - counts.seen

    def means(difference):
        other = np.clip(counts.mean + difference, 0, 1)
        return (counts.seen * counts.mean + missing * other) / counts.rows

    np.testing.assert_allclose(shifted_means(counts, 0.3), means(0.3))
    grid = np.linspace(0, 1, 20_001)
    tips = [s * side for s in grid for side in (1, -1) if means(s * side).argmax() != best]
    smallest = min(tips, key=abs, default=math.inf)
    assert told.tipping == pytest.approx(smallest, abs=1e-4)

    def apart(size):
        up, down = means(size), means(-size)
        return np.delete(up, best).max() > down[best]

    first = next((s for s in grid if apart(s)), math.inf)
    assert told.tipping_each == pytest.approx(first, abs=1e-4)


def test_no_rewards_no_sensitivity():
    rows = {"a": [1, 2], "o": [True, False]}
    assert audit(rows, action="a", observed="o").sensitivity is None
