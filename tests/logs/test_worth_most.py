"""Where more feedback is worth most is said with the probability that it is so."""

import numpy as np
import pytest

from halfseen import audit
from halfseen.logs.worth_most import worth_most


def log_of(rates, rows, seed):
    rng = np.random.default_rng(seed)
    arm = np.repeat(np.arange(len(rates)), rows)
    return {"a": arm, "o": rng.random(len(arm)) < np.array(rates)[arm]}


@pytest.mark.slow
def test_of_200_equal_arms_none_stands_out():
    rng = np.random.default_rng(0)
    for _ in range(10):
        found = worth_most(
            tuple(map(str, range(200))), rng.binomial(20, 0.5, 200), np.full(200, 20)
        )
        assert found.probability < 0.2
        assert str(found).startswith("No arm stands out")
        assert "typical" not in str(found)


def test_one_arm_seen_less_stands_out_with_its_worth():
    found = audit(log_of([0.3, 0.7, 0.7], 2000, 0), action="a", observed="o")
    most = found.worth_most
    assert (most.arm, most.sure) == ("0", True)
    assert most.times_low < (0.7 / 0.3) ** 2 < most.times_high
    assert "More feedback is worth most on “0” (probability over 99%)" in str(found)
    assert found.to_dict()["worth_most"]["sure"]


def test_arms_never_seen_are_not_compared():
    rows = log_of([0.3, 0.7], 500, 0)
    rows = {"a": [*rows["a"], 9], "o": [*rows["o"], False]}
    found = audit(rows, action="a", observed="o")
    assert found.worth_most.arm == "0"
    assert "No reward was ever seen of “9”" in found.answers[1]


def test_of_very_many_arms_the_same_one_is_found():
    rng = np.random.default_rng(0)
    rows = np.full(3000, 400.0)
    seen = rng.binomial(400, 0.6, 3000).astype(float)
    seen[17] = 40
    found = worth_most(tuple(map(str, range(3000))), seen, rows)
    assert (found.arm, found.sure) == ("17", True)


def test_arms_that_are_seen_about_as_often_do_not_stand_out():
    found = worth_most(("a", "b"), np.array([79_000, 81_000]), np.full(2, 100_000))
    assert not found.sure
    assert "All arms are seen about as often (79%)" in str(found)


@pytest.mark.slow
def test_what_a_point_is_worth_is_not_pulled_to_arms_unlike_it():
    rng, held = np.random.default_rng(1), []
    rates = np.array([0.3] * 19 + [0.1])
    for _ in range(40):
        found = worth_most(tuple(map(str, range(20))), rng.binomial(100, rates), np.full(20, 100))
        truth = (0.3 / rates[int(found.arm)]) ** 2
        held.append(found.times_low <= truth <= found.times_high)
    assert np.mean(held) >= 0.8  # of 40, 90% nominal; 12% with shrunken draws alone


def test_arms_that_are_all_but_always_seen_are_so_in_plain_digits():
    found = worth_most(("a", "b"), np.array([99_700, 99_999]), np.full(2, 100_000))
    assert "All arms are seen about as often (99.7" in str(found)


def test_a_single_arm_has_none():
    assert worth_most(("a",), np.array([1.0]), np.array([2.0])) is None


@pytest.mark.slow
def test_the_arm_named_is_the_right_one():
    rng = np.random.default_rng(2)
    named, right = 0, 0
    for seed in range(100):
        rates = rng.uniform(0.2, 0.9, 12)
        seen = np.random.default_rng(seed).binomial(300, rates)
        most = worth_most(tuple(map(str, range(12))), seen, np.full(12, 300))
        named += most.sure
        right += most.sure and most.arm == str(int(np.argmin(rates)))
    assert named >= 40
    assert right >= 0.85 * named
