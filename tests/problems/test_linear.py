"""Linear bandits refuse what they cannot play and know their regret."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from halfseen.errors import InvalidInput
from halfseen.problems.action_sets import (
    FiniteActions,
    RandomActions,
    SampledActions,
    SequenceOfActions,
    UnitBall,
)
from halfseen.problems.base import LinearActions
from halfseen.problems.linear import LinearBandit


@pytest.mark.parametrize("theta", [None, 0.5, "0.5", {}, [], ["a"], [True], [math.nan], [1e101]])
def test_theta_is_refused(theta):
    with pytest.raises(InvalidInput, match=r"^`LinearBandit\.theta"):
        LinearBandit(theta)


@pytest.mark.parametrize("noise", [-0.1, math.nan, math.inf, "1", True, [0.1]])
def test_noise_is_one_scale(noise):
    with pytest.raises(InvalidInput, match=r"^`LinearBandit\.noise"):
        LinearBandit([0.1, 0.2], noise=noise)


SQUARE = FiniteActions([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])


def test_a_linear_bandit_may_pay_0_or_1():
    bandit = LinearBandit([0.6, 0.3], actions=SQUARE, reward="bernoulli")
    assert (bandit.noise, bandit.law) == (0.5, "bernoulli")
    assert "pays 1 with probability" in bandit.in_words()
    assert LinearBandit([0.6, 0.3]) == LinearBandit([0.6, 0.3], 1.0, reward="gaussian")


@pytest.mark.parametrize(
    ("theta", "options", "message"),
    [
        ([0.6, 0.3], {}, "`LinearBandit.actions` must be given beforehand for rewards of 0 or 1"),
        ([1.0, 1.0], {"actions": SQUARE}, r"every action a mean in \[0, 1\].* mean 1.2 of action"),
        ([0.6, -0.3], {"actions": SequenceOfActions([[[1, 0]], [[0, 1]]])}, "mean -0.3 of action"),
        ([0.6, 0.3], {"actions": SQUARE, "noise": 1.0}, "`LinearBandit.noise` is 1/2 for rewards"),
    ],
)
def test_means_of_rewards_of_0_or_1_are_probabilities(theta, options, message):
    with pytest.raises(InvalidInput, match=message):
        LinearBandit(theta, **options, reward="bernoulli")


def test_a_linear_bandit_has_no_other_law_of_rewards():
    with pytest.raises(InvalidInput, match=r"`LinearBandit\.reward` must be one of gaussian, bern"):
        LinearBandit([0.6, 0.3], reward="poisson")


@pytest.mark.parametrize("actions", ["ball", [[1.0, 0.0]], UnitBall])
def test_actions_are_a_set_of_vectors(actions):
    with pytest.raises(InvalidInput, match=r"^`LinearBandit\.actions` must be a set of vectors"):
        LinearBandit([0.1, 0.2], actions=actions)


@pytest.mark.parametrize(
    "actions",
    [
        FiniteActions([[1.0]]),
        RandomActions(2, 3),
        SampledActions(print, 2, 3),
        SequenceOfActions(np.zeros((1, 1, 3))),
        UnitBall(1),
    ],
)
def test_dimensions_must_match(actions):
    with pytest.raises(InvalidInput, match="must have 2 coordinates each, like theta") as caught:
        LinearBandit([0.1, 0.2], actions=actions)
    assert caught.value.field == "LinearBandit.actions"


def test_means_and_regrets():
    bandit = LinearBandit([3.0, -4.0])
    assert bandit.actions == UnitBall(2)
    assert (bandit.dimension, bandit.norm, bandit.noise) == (2, 5.0, 1.0)
    rows = [[1.0, 0.0], [0.0, 1.0], [0.6, -0.8]]
    np.testing.assert_allclose(bandit.means(rows), [3.0, -4.0, 5.0])
    np.testing.assert_allclose(bandit.regrets(rows), [2.0, 9.0, 0.0], atol=1e-15)
    assert bandit.best_mean() == 5.0
    assert bandit.best_mean(rows[:2]) == 3.0
    for wrong in ([1.0, 0.0], [[1.0]]):
        with pytest.raises(InvalidInput, match=r"must be an array \(n, 2\)"):
            bandit.means(wrong)


def test_largest_gap():
    theta = [3.0, -4.0]
    rows = [[1.0, 0.0], [0.0, 1.0], [0.6, -0.8]]
    assert LinearBandit(theta).largest_gap == 10.0
    assert LinearBandit(theta, actions=RandomActions(3, 2)).largest_gap == 10.0
    assert LinearBandit(theta, actions=FiniteActions(rows)).largest_gap == pytest.approx(9.0)
    sequence = SequenceOfActions([rows[:2], rows[1:], [rows[0], rows[0]]])
    assert LinearBandit(theta, actions=sequence).largest_gap == pytest.approx(9.0)
    shorter = SequenceOfActions([rows[:2], [rows[0], rows[0]]])
    assert LinearBandit(theta, actions=shorter).largest_gap == pytest.approx(7.0)


def test_equal_by_value():
    one, other = (LinearBandit([1, 0], actions=FiniteActions([[1, 0]])) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != LinearBandit([1, 0])


def test_a_set_of_vectors_without_a_count_is_refused_with_a_sentence():
    @dataclass(frozen=True)
    class Cross(LinearActions):
        kind = "cross"
        same_every_round = True
        dimension: int = 2

        @property
        def fixed(self):
            return np.eye(2)

    with pytest.raises(InvalidInput, match=r"must have a whole number `count`.*property `count`"):
        LinearBandit([0.6, 0.8], actions=Cross())


def test_a_set_of_vectors_without_vectors_is_refused_with_a_sentence():
    @dataclass(frozen=True)
    class Nothing(LinearActions):
        kind = "nothing"
        dimension: int = 2
        count: int = 3

    with pytest.raises(InvalidInput, match=r"`Nothing` must have `fixed`, `given` or `offer`"):
        Nothing().sample(np.random.default_rng(1), 1)
