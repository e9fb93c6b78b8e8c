"""A log without end shows what the censorship says of it."""

import math

import numpy as np
import pytest

from halfseen import ArmedBandit, RewardDependent
from halfseen.logs.endless_log import endless_rewards, true_gamma


def test_means_and_rates_are_those_of_the_censorship():
    hidden = RewardDependent([{0: 0.6, 1: 0.4}, {0: 0.5, 1: 0.8}])
    problem = ArmedBandit([0.6, 0.5], reward="bernoulli")
    rewards = endless_rewards([0.6, 0.5], [0.4, 0.8], [0.6, 0.5])
    assert np.allclose(rewards.mean, hidden.seen_means(problem), rtol=1e-9)
    assert np.allclose(rewards.seen / rewards.rows, hidden.rates(problem), rtol=1e-9)


@pytest.mark.parametrize(
    ("successes", "failures", "gamma"),
    [([0.5], [0.5], 1.0), ([1.0], [1.0], 1.0), ([1.0], [0.5], math.inf), ([0.2], [0.5], 4.0)],
)
def test_gamma_is_the_ratio_of_the_odds(successes, failures, gamma):
    assert true_gamma(successes, failures) == gamma
