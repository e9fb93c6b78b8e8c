"""Generalized linear bandits: means, regrets, gaps and what is refused."""

import math

import numpy as np
import pytest

from halfseen import (
    FiniteActions,
    GeneralizedLinearBandit,
    InvalidInput,
    RandomActions,
    SequenceOfActions,
    UnitBall,
)
from halfseen.problems import PROBLEMS
from halfseen.studies.plain_values import describe

ROWS = np.array([[0.6, 0.0], [0.0, 0.8], [-0.5, 0.5]])


def test_regret_is_measured_in_the_mean():
    bandit = GeneralizedLinearBandit([1.0, 2.0], link="poisson", actions=FiniteActions(ROWS))
    means = np.exp(ROWS @ [1.0, 2.0])
    np.testing.assert_allclose(bandit.means(ROWS), means)
    np.testing.assert_allclose(bandit.regrets(ROWS), means.max() - means)
    assert bandit.largest_gap == pytest.approx(np.ptp(means))
    assert bandit.reach == 0.8
    assert bandit.best_mean() == pytest.approx(math.exp(0.8 * math.sqrt(5)))


def test_gaps_of_changing_sets_cover_every_round():
    theta = [0.7, -0.4]
    rounds = np.random.default_rng(0).uniform(-0.7, 0.7, size=(50, 4, 2))
    bandit = GeneralizedLinearBandit(theta, link="logistic", actions=SequenceOfActions(rounds))
    means = 1 / (1 + np.exp(-rounds @ theta))
    assert bandit.largest_gap == pytest.approx(np.ptp(means, axis=1).max())
    drawn = GeneralizedLinearBandit(theta, link="logistic", actions=RandomActions(4, 2))
    assert drawn.largest_gap > bandit.largest_gap


def test_scales_of_rewards():
    actions = RandomActions(3, 2)
    assert GeneralizedLinearBandit([1, 0], link="probit", actions=actions).noise == 0.5
    assert GeneralizedLinearBandit([2, 0], link="poisson", actions=actions).noise == pytest.approx(
        math.e
    )
    assert GeneralizedLinearBandit([2, 0], link="identity", actions=actions).noise == 1.0
    assert GeneralizedLinearBandit([2, 0], link="identity", actions=actions, noise=0.3).noise == 0.3


def test_plain_values_give_it_back():
    bandit = GeneralizedLinearBandit([1.0, 2.0], link="poisson", actions=FiniteActions(ROWS))
    content = describe(bandit)
    assert content["kind"] == "generalized-linear"
    actions = FiniteActions(content.pop("actions")["actions"])
    assert PROBLEMS[content.pop("kind")](actions=actions, **content) == bandit


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([1, 0], "logistic", None), "actions. must be a set"),
        (([1, 0], "logistic", UnitBall(2)), "other than the whole ball"),
        (([1, 0], "logistic", RandomActions(3, 3)), "Bandit.actions. must have 2"),
        (([1, 0], "logits", RandomActions(3, 2)), "Bandit.link. must be one of"),
        (([40, 0], "poisson", RandomActions(3, 2)), "means below"),
        (([60, 0], "logistic", RandomActions(3, 2)), "increasing"),
    ],
)
def test_what_is_refused(arguments, said):
    theta, link, actions = arguments
    with pytest.raises(InvalidInput, match=said):
        GeneralizedLinearBandit(theta, link=link, actions=actions)
