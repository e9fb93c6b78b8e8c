"""Armed bandits refuse what they cannot play and know their gaps."""

import math

import numpy as np
import pytest

from halfseen import ArmedBandit, FixedArms, InvalidInput, RandomArms, SequenceOfArms


@pytest.mark.parametrize(
    "means", [None, 0.5, "0.5", {}, {0.5}, [], ["a"], [True], [math.nan], [math.inf], [1e101]]
)
def test_means_are_refused(means):
    with pytest.raises(InvalidInput, match=r"^`ArmedBandit\.means"):
        ArmedBandit(means)


@pytest.mark.parametrize(
    "noise",
    [-0.1, math.nan, math.inf, "1", b"1", True, {}, [0.1], [0.1, -0.1], [0.1, "x"], [[1], [2, 3]]],
)
def test_noise_is_refused(noise):
    with pytest.raises(InvalidInput, match=r"^`ArmedBandit\.noise"):
        ArmedBandit([0.1, 0.2], noise=noise)


def test_noise_is_one_number_or_one_per_arm():
    assert ArmedBandit([0.1, 0.2]).noise == (1.0, 1.0)
    assert ArmedBandit([0.1, 0.2], noise=0).noise == (0.0, 0.0)
    assert ArmedBandit([0.1, 0.2], noise=np.float32(0.5)).noise == (0.5, 0.5)
    assert ArmedBandit([0.1, 0.2], noise=np.array([0.3, 0.4])).noise == (0.3, 0.4)


def test_bernoulli_means_are_probabilities_and_set_their_own_noise():
    for means in ([1.1], [-0.1]):
        with pytest.raises(InvalidInput, match="Bernoulli means are probabilities"):
            ArmedBandit(means, reward="bernoulli")
    with pytest.raises(InvalidInput, match=r"fixed by Bernoulli rewards; got 0.5. Leave it out"):
        ArmedBandit([0.5], noise=0.5, reward="bernoulli")
    assert ArmedBandit([0.5, 1.0], reward="bernoulli").scale.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("reward", ["Gaussian", "", None, 1, ["gaussian"]])
def test_reward_is_one_of_the_laws(reward):
    with pytest.raises(InvalidInput, match=r"^`ArmedBandit\.reward` must be one of"):
        ArmedBandit([0.5], reward=reward)


@pytest.mark.parametrize("actions", [None, "all", [0], FixedArms])
def test_actions_are_an_action_set(actions):
    with pytest.raises(InvalidInput, match=r"^`ArmedBandit\.actions` must be an action set"):
        ArmedBandit([0.5], actions=actions)


@pytest.mark.parametrize(
    ("actions", "field"),
    [
        (FixedArms([0, 2]), r"actions\.arms"),
        (RandomArms([0.5]), r"actions\.available"),
        (SequenceOfArms([[0], [1, 2]]), r"actions\.rounds\[1\]"),
    ],
)
def test_actions_fit_the_arms(actions, field):
    with pytest.raises(InvalidInput, match=rf"^`ArmedBandit\.{field}` must"):
        ArmedBandit([0.5, 0.4], actions=actions)


def test_too_many_arms_are_refused(monkeypatch):
    monkeypatch.setattr("halfseen.problems.arms.MOST_ARMS", 2)
    with pytest.raises(InvalidInput, match="must have at most 2 entries; got 3 entries"):
        ArmedBandit([0.1, 0.2, 0.3])


def test_gaps_count_from_the_best_playable_arm():
    assert ArmedBandit([0.25, 1.0, 0.5]).gaps.tolist() == [0.75, 0.0, 0.5]
    bandit = ArmedBandit([0.25, 1.0, 0.5], actions=FixedArms([0, 2]))
    assert bandit.playable.tolist() == [0, 2]
    assert bandit.gaps.tolist() == [0.25, 0.0, 0.0]
    sometimes = ArmedBandit([0.25, 1.0, 0.5], actions=RandomArms([1, 0.1, 1]))
    assert sometimes.playable.tolist() == [0, 1, 2]


@pytest.mark.parametrize("reward", ["gaussian", "bernoulli", "uniform", "rademacher"])
def test_setting_tells_the_scale_and_never_the_means(reward):
    setting = ArmedBandit([0.25, 1.0], reward=reward).setting(100)
    assert (setting.arms, setting.bound, setting.horizon, setting.reward) == (2, 1.0, 100, reward)
    assert setting.noise.tolist() == ([0.5, 0.5] if reward == "bernoulli" else [1.0, 1.0])
    assert not hasattr(setting, "means")


def test_bandits_are_frozen_and_equal_by_value():
    bandit = ArmedBandit(np.array([0.25, 1.0]))
    assert bandit == ArmedBandit((0.25, 1.0), noise=[1.0, 1.0])
    assert hash(bandit) == hash(ArmedBandit([0.25, 1.0]))
    with pytest.raises(AttributeError):
        bandit.means = (1.0,)
