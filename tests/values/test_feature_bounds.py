"""Bounds of values under the Gamma model where decisions have features."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from halfseen import value
from halfseen.values.feature_bounds import RewardTails, reward_tails
from halfseen.values.influence import Sample
from halfseen.values.log_groups import LogGroups

COLUMNS = {"action": "arm", "reward": "paid"}
GAMMA = 3.0


def three_groups(rows=400, seed=0):
    """Return a log of three groups, which indicators tell, and of rewards of three values."""
    rng = np.random.default_rng(seed)
    group, arm = rng.integers(0, 3, rows), rng.integers(0, 2, rows)
    law = np.random.default_rng(4).dirichlet([1, 1, 1], (3, 2)).cumsum(axis=-1)
    reward = np.array([0.0, 0.3, 1.0])[(rng.random(rows)[:, None] > law[group, arm]).sum(axis=1)]
    seen = rng.random(rows) < np.array([0.4, 0.6, 0.8])[group] * np.where(reward > 0.5, 0.7, 1)
    return {
        "arm": arm,
        "group": group.astype(str),
        "x": (group == 1) * 1.0,
        "y": (group == 2) * 1.0,
        "paid": np.where(seen, reward, np.nan),
    }


def test_bounds_by_features_of_groups_are_those_of_cells():
    options = COLUMNS | {"context": "group", "target": {"0": 0.2, "1": 0.8}}
    cells = value(three_groups(), **options)
    kinds = {"observe": "cells", "outcome": "cells"}
    found = value(three_groups(), features=["x"], **kinds, **options)
    for gamma, difference in itertools.product((1.0, 2.0, 5.0, math.inf), (False, True)):
        one, other = (of.bounds(gamma, difference=difference) for of in (found, cells))
        for field, number in vars(one).items():
            assert number == pytest.approx(getattr(other, field), rel=1e-11)
    assert found.tipping_gamma == pytest.approx(cells.tipping_gamma, rel=1e-8)


def test_cross_fitted_regressions_on_indicators_give_nearly_the_bounds_of_cells():
    rows, target = three_groups(1500), {"0": 0.2, "1": 0.8}
    cells = value(rows, context="group", target=target, **COLUMNS)
    found = value(rows, context="group", features=["x", "y"], target=target, **COLUMNS)
    for gamma in (2.0, 5.0):
        one, other = found.bounds(gamma), cells.bounds(gamma)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=0.004)
        assert one.high_error == pytest.approx(other.high_error, rel=0.05)  # .015
    assert found.bounds(1.0).low == pytest.approx(found.value, abs=1e-12)  # DR
    assert "of an arm with equal features" in found.turning
    assert "rest on the regression of rewards" in str(found)
    assert len(found.to_dict()["bounds"]) == 6


def test_no_reweighting_of_the_rewards_seen_with_the_same_features_is_outside_the_expectiles():
    rng = np.random.default_rng(3)
    context = np.repeat([0, 1], 5)
    reward = rng.choice([0.0, 0.2, 0.7, 1.0], 10)
    sample = Sample(np.ones(10), np.ones(10) > 0, reward, np.zeros(10))
    arm, x = np.zeros(10, dtype=int), context[:, None] * 1.0
    log = LogGroups(("a",), ("0", "1"), sample, arm, context, None, {}, x, ("x",))
    fitted = np.array([reward[context == k].mean() for k in (0, 1)])[context]
    tails = reward_tails(log, SimpleNamespace(outcome="cells", by_time=False), fitted)
    for k in (0, 1):
        values = reward[context == k]
        means = [np.average(values, weights=w) for w in itertools.product((1, GAMMA), repeat=5)]
        for tilt, end in ((GAMMA, max(means)), (1 / GAMMA, min(means))):
            assert tails.expectile(tilt, context == k)[0] == pytest.approx([end] * 5, abs=1e-12)


def test_expectiles_of_normal_rewards_are_found_from_residuals():
    rng = np.random.default_rng(1)
    rows = 20_000
    x = rng.normal(size=rows)
    reward = x + rng.normal(size=rows)
    sample = Sample(np.ones(rows), np.ones(rows) > 0, reward, np.zeros(rows))
    arm = np.zeros(rows, dtype=int)
    log = LogGroups(("a",), ("all",), sample, arm, arm, None, {}, x[:, None], ("x",))
    tails = reward_tails(log, SimpleNamespace(outcome="linear", by_time=False), x)
    found, steep = tails.expectile(GAMMA, np.ones(rows) > 0)
    assert np.median(found - x) == pytest.approx(NORMAL, abs=0.03)  # lines lie above C: no less
    assert np.median(steep) == pytest.approx(1 + (GAMMA - 1) * ndtr(-NORMAL), abs=0.15)


def over(c):
    """Return by how much a standard normal exceeds c on average."""
    return math.exp(-c * c / 2) / math.sqrt(2 * math.pi) - c * ndtr(-c)


NORMAL = brentq(lambda c: (GAMMA - 1) * over(c) - c, 0, 3)  # upper expectile, .4363 at Gamma 3


@pytest.mark.parametrize("gamma", [1.5, 4.0])
def test_wrong_regressions_of_two_values_make_bounds_wider(gamma):
    q, ones = np.linspace(-0.2, 1.2, 15), np.linspace(0.0, 1.0, 11)
    none = np.empty((15, 0))
    tails = RewardTails(q, -q, np.ones(15), np.array([0.0, 1.0]), none, (0.0, 1.0))
    for tilt in (gamma, 1 / gamma):
        mean, steep = tails.expectile(tilt, np.ones(15) > 0)
        psi = [(np.where(r > mean, tilt, 1.0) * (r - mean)) / steep for r in (0.0, 1.0)]
        for s in ones:
            found = mean + (1 - s) * psi[0] + s * psi[1]
            sharp = tilt * s / (tilt * s + 1 - s)
            gap = (found - sharp) * (1 if tilt > 1 else -1)
            assert gap.min() > -1e-12
            assert abs(gap[np.abs(q - s) < 1e-9]).max(initial=0.0) < 1e-12


def test_a_column_of_probabilities_has_bounds_by_features():
    rows = three_groups() | {"pi": np.full(400, 0.5)}
    options = COLUMNS | {"features": ["x", "y"], "compare": None}
    found = value(rows, target="pi", **options)
    assert found.estimator == "SNIPW"
    bound = found.bounds(2.0)
    assert bound.low < found.value < bound.high
    again = value(rows, target={"0": 0.5, "1": 0.5}, **options).bounds(2.0)
    assert (bound.low, bound.high) == pytest.approx((again.low, again.high), abs=0.01)


def test_no_gamma_gives_more_than_the_extremes_seen():
    rng = np.random.default_rng(0)
    x, arm = rng.normal(size=300), rng.integers(0, 2, 300)
    paid = np.where(rng.random(300) < 0.6, (x > 1.2) * 1.0, np.nan)  # a line is below 0 for many x
    rows = {"x": x, "arm": arm, "paid": paid, "chance": np.full(300, 0.5)}
    options = COLUMNS | {"target": {"1": 1}, "propensity": "chance", "features": ["x"]}
    found = value(rows, **options)
    most, worst = found.bounds(1e6), found.bounds(math.inf)
    assert most.high <= worst.high <= 1.0  # it was in the thousands
    assert most.low >= worst.low
    assert value(rows, compare={"1": 1}, **options).tipping_gamma == 1.0
    few = value({name: column[:10] for name, column in rows.items()}, **options)
    ends = [few.bounds(gamma) for gamma in (1.0, 2.0, math.inf)]
    assert [one.low for one in ends] == sorted((one.low for one in ends), reverse=True)
    assert [one.high for one in ends] == sorted(one.high for one in ends)


WORLDS = {  # the mean of a reward given x and arm, and its spread; None where it is 0 or 1
    "linear": (lambda x, arm: 0.5 + 0.5 * x + 0.2 * arm, 0.5),
    "square": (lambda x, arm: 0.5 + 0.5 * x**2 + 0.2 * arm, 0.5),  # no line fits it
    "groups": (lambda x, arm: np.where(x > 0, 0.7, 0.2) + 0.1 * arm, None),
    "two values": (lambda x, arm: expit(1.5 * x - 0.5 + 0.5 * arm), None),
}


def drawn(rng, world, rows):
    """Return a log whose missing rewards are as large as Gamma lets them be, of arm 0 as small.

    And the means of the two arms.
    """
    mean, spread = WORLDS[world]

    def laws(x, arm):
        q = mean(x, arm)
        tilt = np.where(arm == 1, GAMMA, 1 / GAMMA)
        if spread is None:
            return q, tilt * q / (tilt * q + 1 - q)
        return q, q + np.where(arm == 1, 1, -1) * NORMAL * spread

    def features(size):
        x = rng.normal(size=size)
        return np.sign(x) if world == "groups" else x

    x = features(200_000)
    truth = []
    for arm in (0, 1):
        p, (q, e) = expit(0.5 + 0.8 * x - 0.4 * arm), laws(x, arm)
        truth.append(np.mean(p * q + (1 - p) * e))
    x, arm = features(rows), rng.integers(0, 2, rows)
    seen = rng.random(rows) < expit(0.5 + 0.8 * x - 0.4 * arm)
    q, e = laws(x, arm)
    if spread is None:
        paid = (rng.random(rows) < np.where(seen, q, e)).astype(float)
    else:
        paid = q + spread * rng.normal(size=rows)
    paid = np.where(seen, paid, np.nan)
    return {"x": x, "arm": arm, "paid": paid, "chance": np.full(rows, 0.5)}, truth


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_intervals_of_bounds_by_features_cover(world):
    rng = np.random.default_rng(5)
    options = COLUMNS | {"target": {"1": 1}, "compare": {"0": 1}, "propensity": "chance"}
    held, narrow = [], []
    for _ in range(120):
        rows, (of_0, of_1) = drawn(rng, world, 1500)
        found = value(rows, features=["x"], **options)
        low, high = found.bounds(GAMMA).interval(0.95)
        first, last = found.bounds(GAMMA, difference=True).interval(0.95)
        held.append((low <= of_1 <= high, first <= of_1 - of_0 <= last))
        narrow.append(found.bounds(1.0, difference=True).interval(0.95)[1] >= of_1 - of_0)
    assert np.mean(held, axis=0).min() >= 0.93
    assert world == "square" or np.mean(narrow) < 0.6
