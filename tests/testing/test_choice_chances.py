"""Probabilities that a policy tells are how often it chooses: evaluations divide by them."""

import re

import numpy as np
import pytest

from halfseen import Agent, EpsilonGreedy, LinearAgent, LinRandom
from halfseen.draws import uniform
from halfseen.testing.choice_chances import check_arm_chances, check_chances, check_row_chances
from testing.made_policies import linear_policy, policy

EVERYTHING = np.ones(3, np.uint8)


def third(key):
    return key % 3


@pytest.mark.parametrize(
    ("told", "playable", "sentence"),
    [
        ([0.5, 0.5], EVERYTHING, "must return 3 numbers, one per action, not [0.5, 0.5]"),
        (None, EVERYTHING, "must return 3 numbers"),
        ([0.3, 0.3, 0.3], EVERYTHING, "must be at least 0 and sum to 1"),
        ([1.2, -0.2, 0.0], EVERYTHING, "must be at least 0 and sum to 1"),
        ([np.nan, 0.5, 0.5], EVERYTHING, "must be at least 0 and sum to 1"),
        ([0.5, 0.3, 0.2], np.array([0, 1, 1]), "must be 0 for what is not on offer"),
        ([0.6, 0.2, 0.2], EVERYTHING, "action 0 is chosen in 33.4% of 1,000 draws, and it says 60"),
    ],
)
def test_probabilities_that_are_not_those_of_the_choices_are_told(told, playable, sentence):
    with pytest.raises(AssertionError, match=re.escape(sentence)):
        check_chances("Own", told, playable, third)


def test_true_probabilities_pass():
    check_chances("Own", [1 / 3, 1 / 3, 1 / 3], EVERYTHING, third)


def any_arm(state, arm, clock, stream, table):
    return uniform(stream, clock, arm)


def test_an_agent_whose_policy_tells_wrong_probabilities_is_caught():
    told = policy(index=any_arm, randomises=True)
    object.__setattr__(told, "probabilities", lambda *given: np.array([0.9, 0.1, 0.0]))
    with pytest.raises(AssertionError, match=r"Wrong\.probabilities must be how often each action"):
        check_arm_chances(Agent(told, arms=3), [0, 1, 2])


def test_an_agent_that_keeps_probabilities_that_change_with_time_is_caught():
    told = policy(index=any_arm, randomises=True, steady=True)

    def even(state, playable, clock, table):
        return np.array([0.499, 0.501]) + clock * np.array([0.001, -0.001])

    object.__setattr__(told, "probabilities", even)
    with pytest.raises(AssertionError, match=r"Wrong\.steady must be False: without"):
        check_arm_chances(Agent(told, arms=2), [0, 1])


def test_built_in_probabilities_pass():
    check_arm_chances(Agent(EpsilonGreedy(0.3), arms=3), [0, 2])


def any_row(mean, square, spread, shift, action, clock, stream, table):
    return uniform(stream, clock, action)


def test_a_linear_agent_whose_policy_tells_wrong_probabilities_is_caught():
    rows = np.eye(2)
    told = linear_policy(index=any_row, randomises=True)
    object.__setattr__(told, "probabilities", lambda rows, *given: np.eye(len(rows))[0])
    with pytest.raises(AssertionError, match=r"Wrong\.probabilities must be how often each action"):
        check_row_chances(LinearAgent(told, 2), rows)
    check_row_chances(LinearAgent(LinRandom(), 2), rows)
