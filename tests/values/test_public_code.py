"""What public code computes from a log with missing or late rewards, next to what is right.

Each test states the formula that the code evaluates; none of the code is repeated here.
"""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from halfseen import audit, value
from halfseen.logs.proxy_means import proxy_mean

ERRATA = Path(__file__).parents[2] / "docs" / "errata.md"
UNIFORM = {"action": "arm", "reward": "paid", "propensity": "chance"}


@pytest.fixture
def log():
    """Return a log of uniform choices: means .6 and .4, seen at rates .2 and .9."""
    rows = {"arm": [], "paid": [], "chance": [0.5] * 2000}
    for arm, seen, ones in (("a", 200, 120), ("b", 900, 360)):
        rows["arm"] += [arm] * 1000
        rows["paid"] += [1.0] * ones + [0.0] * (seen - ones) + [math.nan] * (1000 - seen)
    return {name: np.array(column) for name, column in rows.items()}


def weighted_rewards(log):
    """Return each row's reward times the weight of a policy that plays a with 70%."""
    return np.where(log["arm"] == "a", 0.7, 0.3) / log["chance"] * log["paid"]


def test_counting_seen_rows_as_missing_doubles_the_seen_mean():
    seen, missing = np.array([[30, 8], [10, 20]]), [18, 34]
    right, counted = proxy_mean(seen, missing), proxy_mean(seen, seen.sum(axis=1))
    assert right.odds == pytest.approx((0.169230769231, 1.61538461538))
    assert right.mean == pytest.approx(0.610256410256)
    assert counted.odds == pytest.approx((1.0, 1.0))
    share = seen.sum(axis=0) / seen.sum()  # frequencies of the rewards among the seen
    assert share @ [0.0, 1.0] * (1.0 + counted.odds[0]) == pytest.approx(2 * 28 / 68)
    assert round(2 * 28 / 68, 3) == 0.824


def test_counting_seen_rows_as_missing_gives_means_above_one():
    seen = np.array([[10, 30], [5, 55]])
    odds = proxy_mean(seen, seen.sum(axis=1)).odds
    assert seen.sum(axis=0)[1] / seen.sum() * (1.0 + odds[1]) == pytest.approx(1.7)


ACTIONS = np.array([[1.0, 0.0], [0.3, 0.7]])


def otf_indices(power):
    """Return the indices at round 9 after choices 01010110, norms taken to a power.

    Even rounds paid 1, delta = .1, window 3: the golden instance of `OTFLinUCB(form="printed")`.
    """
    played = ACTIONS[[0, 1, 0, 1, 0, 1, 1, 0]]
    inverse = np.linalg.inv(np.eye(2) + played.T @ played)
    estimate = inverse @ played[1::2].sum(axis=0)
    norm = {
        name: np.sqrt(np.einsum("ij,jk,ik->i", a, inverse, a)) ** power
        for name, a in (("all", ACTIONS), ("recent", played[-3:]))
    }
    radius = 2.0 * (math.sqrt(2.0 * math.log(10.0) + 2.0 * math.log1p(9.0 / 2.0)) + 1.0)
    return ACTIONS @ estimate + (radius + norm["recent"].sum()) * norm["all"]


def test_squared_norms_change_the_index_and_the_choice():
    assert otf_indices(1) == pytest.approx([4.1972434887, 4.17464459961])
    assert otf_indices(2) == pytest.approx([1.85418505771, 1.89502940496])


def test_squared_norms_lose_optimism():
    """One action, theta = 1/2, n rewards in hand: the index is below theta in 42% of runs."""
    n, theta, delta = 10_000, 0.5, 0.01
    radius = 2.0 * (math.sqrt(2.0 * math.log(1.0 / delta) + math.log1p(n)) + 1.0)
    norm, fails = 1.0 / math.sqrt(1.0 + n), {}
    for power in (1, 2):
        bonus = (radius + norm**power) * norm**power
        # the estimate is (sum of rewards)/(1 + n)
        fails[power] = binom.cdf(math.ceil((theta - bonus) * (1.0 + n)) - 1, n, theta)
    assert fails[1] < delta
    assert fails[2] == pytest.approx(0.42, abs=0.005)


def test_dropping_missing_rows_biases_inverse_propensity_weighting(log):
    seen = ~np.isnan(log["paid"])
    assert weighted_rewards(log)[seen].mean() == pytest.approx(0.192 / 0.55)  # .349
    assert value(log, target={"a": 0.7, "b": 0.3}, **UNIFORM).value == pytest.approx(0.54)


def test_inverse_propensity_weighting_of_nan_is_nan(log):
    assert math.isnan(weighted_rewards(log).mean())


def test_zero_for_missing_rewards_turns_the_order_of_the_arms(log):
    log["zero"] = np.nan_to_num(log["paid"])
    assert np.nan_to_num(weighted_rewards(log)).mean() == pytest.approx(0.192)
    as_zero = audit(log, action="arm", reward="zero").counts.mean
    right = audit(log, action="arm", reward="paid").counts.mean
    assert as_zero == pytest.approx([0.12, 0.36])
    assert right == pytest.approx([0.6, 0.4])


def test_every_row_on_public_code_names_a_test_of_this_file():
    text = ERRATA.read_text(encoding="utf-8").split("## Public code")[1].split("\n## ")[0]
    named = [word.split("`")[0] for word in text.split("`test_")[1:]]
    assert named
    assert {f"test_{name}" for name in named} <= set(globals())
