import math

import numpy as np
import pytest

from halfseen import ArmedBandit, PerArm
from halfseen.errors import InvalidInput
from halfseen.theory import asymptotic_lower_bound, finite_lower_bound
from theory.lower.instances import G


@pytest.mark.parametrize(
    ("horizon", "regret", "value"),
    [(1e6, 600, 61.669595853), (1e9, 1500, 249.31566445), (1e12, 2000, 488.69300355)],
)
def test_golden(horizon, regret, value):
    assert finite_lower_bound(*G, horizon, regret).value == pytest.approx(value, rel=2e-11)


def test_the_constant_times_log_t_is_far_above_at_a_million_rounds():
    limit = asymptotic_lower_bound(*G).constant * math.log(1e6)
    assert limit == pytest.approx(554.54, abs=0.005)
    assert finite_lower_bound(*G, 1e6, 600).value < 0.12 * limit


@pytest.mark.parametrize(
    ("reward", "means"), [("gaussian", (0.5, 0.3, 0.1)), ("bernoulli", (0.9, 0.5, 0.2))]
)
def test_no_rise_that_was_tried_gives_more(reward, means):
    arms, seen = ArmedBandit(means, reward=reward), PerArm([0.5, 0.1, 0.9])
    found = finite_lower_bound(arms, seen, 1e7, 300)
    for arm in (1, 2):
        gap = means[0] - means[arm]
        most = gap if reward == "gaussian" else min(gap, 1 - means[0])
        rises = np.linspace(1e-9, most * (1 - 1e-9), 20_001)
        m, target = means[arm], means[0] + rises
        if reward == "gaussian":
            nats = (target - m) ** 2 / 2
        else:
            nats = m * np.log(m / target) + (1 - m) * np.log((1 - m) / (1 - target))
        tried = gap * np.log(1e7 * rises / (8 * 300)) / (seen.observe[arm] * nats)
        assert found.terms[arm] >= tried.max() * (1 - 1e-12)
        assert found.terms[arm] == pytest.approx(tried.max(), rel=1e-5)
        assert 0 < found.raised[arm] <= most


def test_is_nothing_while_too_few_rounds_were_played():
    found = finite_lower_bound(*G, 100, 50)
    assert found.value == 0.0
    assert found.raised.tolist() == [0.0] * 5


def test_large_regrets_are_written_out_as_in_tables():
    said = str(finite_lower_bound(*G, 100_000, 13_000))
    assert "lose at most 13,000 here" in said
    assert "e+" not in said


def test_a_regret_that_makes_it_vacuous_is_said_to():
    found = finite_lower_bound(*G, 1000, 500)
    assert found.value == 0.0
    assert not found.says_something
    assert found.possible
    said = str(found)
    assert said.startswith("By round 1,000 there is no bound for policies that lose at most 500")
    assert said.endswith(
        "there is one after more than 10,000 rounds, or for those that lose less than 50."
    )
    assert not finite_lower_bound(*G, 9_900, 500).says_something
    assert finite_lower_bound(*G, 10_100, 500).says_something
    assert not finite_lower_bound(*G, 1000, 50.5).says_something
    assert finite_lower_bound(*G, 1000, 49.5).says_something


def test_an_arm_that_cannot_rise_says_nothing_at_any_time():
    sure = ArmedBandit([1.0, 0.5], reward="bernoulli")
    found = finite_lower_bound(sure, PerArm([0.5, 0.5]), 1e9, 1.0)
    assert found.silent_until == math.inf
    assert str(found).endswith("is raised above the best.")


def test_an_arm_without_noise_says_nothing_at_any_time():
    """By round 1e9 it promised a bound "after more than 80 rounds"."""
    exact = ArmedBandit([1.0, 0.0], noise=[1.0, 0.0])
    found = finite_lower_bound(exact, PerArm([0.5, 0.5]), 1e9, 10)
    assert found.value == 0.0
    assert found.silent_until == math.inf
    assert str(found).endswith("is raised above the best.")
    one = ArmedBandit([1.0, 0.0, 0.9], noise=[1.0, 0.0, 1.0])
    assert finite_lower_bound(one, PerArm([0.5] * 3), 100, 10).silent_until == pytest.approx(800)


def test_a_regret_no_policy_has_everywhere_is_said_to_be_impossible():
    found = finite_lower_bound(*G, 1e6, 5)
    assert found.value > found.regret
    assert not found.possible
    assert found.to_dict()["possible"] is False
    assert "no policy loses at most 5 here and wherever" in str(found)
    assert "at least" not in str(found)


def test_tends_to_the_constant_slowly_and_from_below():
    constant = asymptotic_lower_bound(*G).constant
    shares = [
        finite_lower_bound(*G, 10.0**k, 40 * math.log(10.0**k)).value
        / (constant * math.log(10.0**k))
        for k in (6, 12, 50, 290)
    ]
    assert shares == sorted(shares)
    assert 0.9 < shares[-1] < 1.0


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(InvalidInput, match=r"`regret` must be a finite number above 0; got 0"):
        finite_lower_bound(*G, 1000, 0)
    with pytest.raises(InvalidInput, match="`horizon`"):
        finite_lower_bound(*G, 0, 10)
    with pytest.raises(InvalidInput, match="must have one best arm"):
        finite_lower_bound(ArmedBandit([1, 1]), PerArm([1, 1]), 10, 10)
