import math

import numpy as np
import pytest

from halfseen import (
    UCB,
    ArmedBandit,
    Delayed,
    FiniteActions,
    Fixed,
    LinearBandit,
    PerAction,
    PerArm,
    StudentT,
    Uniform,
    WithCovariate,
)
from halfseen.errors import InvalidInput
from halfseen.problems import RandomArms
from halfseen.theory import (
    asymptotic_lower_bound,
    finite_lower_bound,
    identification_time,
    lower_bounds,
    minimax_lower_bound,
)
from halfseen.theory.lower.gathered import slope_in_log
from theory.lower.instances import G


def test_gathers_the_three_bounds():
    found = lower_bounds(*G, 1e6, 600)
    assert found.asymptotic.constant == asymptotic_lower_bound(*G).constant
    assert found.finite.value == finite_lower_bound(*G, 1e6, 600).value
    assert found.minimax.value == minimax_lower_bound(G[1].observe, 1e6, noise=0.5).value
    assert found.reasons == {}
    assert len(found.sentences()) == 3


def test_bernoulli_rewards_have_their_own_minimax_bound():
    arms = ArmedBandit([0.6, 0.5], reward="bernoulli")
    found = lower_bounds(arms, Uniform(0.5), 1000, 50)
    expected = minimax_lower_bound([0.5, 0.5], 1000, reward="bernoulli").value
    assert found.minimax.value == expected


def test_what_is_missing_has_a_reason():
    tied = lower_bounds(ArmedBandit([0.5, 0.5]), Uniform(0.5), 1000, 50)
    assert tied.asymptotic is None
    assert "must have one best arm" in tied.reasons["asymptotic"]
    assert tied.minimax is not None
    counts = lower_bounds(ArmedBandit([2, 1], reward="poisson"), Uniform(0.5), 1000, 50)
    assert set(counts.reasons) == {"minimax"}
    changing = ArmedBandit([0.5, 0.1], actions=RandomArms([0.5, 0.5]))
    nothing = lower_bounds(changing, Uniform(0.5), 1000, 50)
    assert set(nothing.reasons) == {"asymptotic", "finite", "minimax"}
    said = (
        "No least slope is known here: for a bound, the arms must be the same arms in every round."
    )
    assert nothing.sentences() == [said]
    heavy = lower_bounds(ArmedBandit([1, 0], reward=StudentT(3.0)), Uniform(0.5), 1000, 50)
    assert "for a bound, the rewards must be one of gaussian, " in heavy.sentences()[0]
    assert "`" not in "".join(heavy.reasons.values())
    linear = LinearBandit([1, 0], actions=FiniteActions([[1, 0], [0, 1], [0.98, 0.04]]))
    rare = lower_bounds(linear, PerAction([1, 0.01, 1]), 1000, 50)
    assert set(rare.reasons) == {"finite", "minimax"}
    assert "Ignoring p costs 8 times that." in rare.sentences()[0]
    assert rare.to_dict()["finite"] is None


@pytest.mark.parametrize(
    ("world", "said"),
    [
        ((3, Uniform(0.5), 1000, 50), "`problem` must be a Problem; got 3"),
        ((ArmedBandit([0.5, 0.3]), [0.5, 0.3], 1000, 50), "`censorship` must be a Censorship"),
        ((ArmedBandit([0.5, 0.3]), Uniform(0.5), 0, 50), "`horizon` must be a finite number"),
        ((ArmedBandit([0.5, 0.3]), Uniform(0.5), 1000, -1), "`regret` must be a finite number"),
        ((ArmedBandit([0.5, 0.3]), Uniform(0.5), 1000, math.nan), "`regret` must be a finite"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(world, said):
    with pytest.raises(InvalidInput, match=said):
        lower_bounds(*world)


def test_a_slope_of_0_is_not_called_growth():
    for arms in (ArmedBandit([0.5]), ArmedBandit([1.0, 0.5], reward="bernoulli")):
        (said, *_) = lower_bounds(arms, Uniform(0.5), 1000, 50).sentences()
        assert said == "No lower bound that grows with T is known: the least slope in log T is 0."


def test_bounds_of_0_are_not_called_bounds():
    """It said: regret is at least 0 log T as T grows, 0 in the worst case."""
    found = lower_bounds(ArmedBandit([1.0, 0.5], noise=0.0), Uniform(0.5), 1000, 50)
    assert repr(found) == "<LowerBounds: no lower bound is known>"
    assert not any("at least 0" in said for said in found.sentences())
    alone = asymptotic_lower_bound(ArmedBandit([1.0, 0.5], noise=0.0), Uniform(0.5))
    assert str(alone).startswith("No lower bound that grows with T is known")
    assert "at least" not in repr(alone)


def test_the_worst_case_tells_how_far_apart_its_means_are():
    """With p = 1e-12 it is a problem of means 7,000 apart, far from the one that was asked."""
    rare = lower_bounds(ArmedBandit([0.5, 0.3]), Uniform(1e-12), 10_000, 50)
    assert "whose means are up to 7,071 apart." in rare.sentences()[-1]


def test_a_regret_of_0_that_was_measured_has_no_bound_by_the_horizon():
    found = lower_bounds(ArmedBandit([0.5, 0.3]), Uniform(0.5), 1, 0.0)
    assert found.finite is None
    assert found.asymptotic is not None


def test_slope_is_counted_over_the_last_tenfold():
    rounds = np.array([1, 10, 99, 100, 500, 1000])
    regret = np.array([3.0, 5.0])[:, None] * np.log(rounds)
    start, slopes = slope_in_log(rounds, regret)
    assert start == 100
    assert slopes == pytest.approx([3.0, 5.0])
    start, slopes = slope_in_log(np.array([1]), np.zeros((2, 1)))
    assert start == 1
    assert all(math.isnan(slope) for slope in slopes)


def test_an_arm_seen_always_needs_no_more():
    assert lower_bounds(ArmedBandit([1.0, 0.5]), PerArm([0.1, 1.0]), 100, 5).asymptotic.worth == 1.0


@pytest.mark.parametrize(
    "censorship",
    [
        Delayed([[Fixed(0, arrive=0.1), Fixed(0)], Fixed(0)], window=5),
        Delayed(Fixed(5), window=9, sends="conversions"),
    ],
)
def test_nothing_is_claimed_where_what_is_missing_depends_on_the_reward(censorship):
    arms = ArmedBandit([0.5, 0.4], reward="bernoulli")
    for compute in (
        asymptotic_lower_bound,
        identification_time,
        lambda *world: finite_lower_bound(*world, 1e6, 300),
    ):
        with pytest.raises(InvalidInput, match="must not depend on the reward"):
            compute(arms, censorship)
    assert set(lower_bounds(arms, censorship, 1e6, 300).reasons) == {
        "asymptotic",
        "finite",
        "minimax",
    }


TELLS = WithCovariate([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]], [0.1, 0.1])
MISSING_TELLS = WithCovariate([[[0.5, 0.5], [0.5, 0.5]]] * 2, [[[0.0, 1.0], [1.0, 0.0]]] * 2)


@pytest.mark.parametrize("censorship", [TELLS, MISSING_TELLS])
def test_nothing_is_claimed_where_a_covariate_tells_something_about_the_reward(censorship):
    """Of a covariate that equals the reward 0.01 was said to cost 490 log T: it costs 4.9."""
    arms = ArmedBandit([0.6, 0.5], reward="bernoulli")
    for compute in (
        asymptotic_lower_bound,
        identification_time,
        lambda *world: finite_lower_bound(*world, 1e6, 300),
    ):
        with pytest.raises(InvalidInput, match="must not show a covariate that depends on the"):
            compute(arms, censorship)
    assert len(lower_bounds(arms, censorship, 1e6, 300).reasons) == 3
    hidden = lower_bounds(arms, censorship.seen_by(UCB()), 1e6, 300)
    same = lower_bounds(arms, PerArm(censorship.rates(arms)), 1e6, 300)
    assert hidden.to_dict() == same.to_dict()


def test_a_covariate_that_tells_nothing_leaves_the_bounds():
    arms = ArmedBandit([0.6, 0.5], reward="bernoulli")
    idle = WithCovariate([[[0.3, 0.7], [0.3, 0.7]]] * 2, [[0.2, 0.9]] * 2)
    found = lower_bounds(arms, idle, 1e6, 300).to_dict()
    assert found == lower_bounds(arms, PerArm(idle.rates(arms)), 1e6, 300).to_dict()


def test_arms_that_tie_up_to_rounding_have_no_lower_bound():
    arms = ArmedBandit([0.1 + 0.2, 0.3, 0.1])
    for compute in (asymptotic_lower_bound, identification_time):
        with pytest.raises(InvalidInput, match="arms 0, 1 tied at"):
            compute(arms, Uniform(0.5))
    tiny = ArmedBandit([2e-14, 1e-14], noise=1e-14)
    assert asymptotic_lower_bound(tiny, Uniform(0.5)).constant == pytest.approx(4e-14)


def test_the_headline_and_the_table_name_no_regret_that_no_policy_reaches():
    found = lower_bounds(ArmedBandit([0.5, 0.4], noise=1.0), Uniform(0.5), 1e4, 10)
    assert not found.finite.possible
    assert "by round" not in repr(found)
    assert "finite" not in str(found.table())
    assert "no policy loses at most 10" in " ".join(found.sentences())
    assert "61.67 by round 1,000,000" in repr(lower_bounds(*G, 1e6, 600))


def test_the_headline_without_any_bound_says_so():
    """It said: regret is at least not known."""
    found = lower_bounds(ArmedBandit([2.0, 2.0], reward="poisson"), Uniform(0.5), 1e4, 10)
    assert repr(found) == "<LowerBounds: no lower bound is known>"


def test_large_factors_are_written_out():
    """It said: ignoring p costs 8e+05 times that."""
    actions = FiniteActions([[1.0, 0.0], [0.0, 1.0], [0.98, 0.04]])
    bandit = LinearBandit([1.0, 0.0], 1.0, actions)
    found = lower_bounds(bandit, PerAction([1.0, 1e-7, 1.0]), 1e5, 100)
    assert "Ignoring p costs 800,000 times that." in " ".join(found.sentences())


def test_huge_horizons_are_written_in_a_few_digits():
    """A horizon of 1e300 was written with 300 digits."""
    for regret in (1e4, 1e300):
        found = lower_bounds(*G, 1e300, regret)
        assert len(repr(found)) < 150
        assert all(len(said) < 300 for said in found.sentences())
