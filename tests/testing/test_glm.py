"""What a policy for generalized linear bandits may not have, and what its agent must do."""

import numpy as np
import pytest

from halfseen import (
    FiniteActions,
    GeneralizedLinearBandit,
    GLMAgent,
    InvalidInput,
    Study,
    Uniform,
    simulate,
)
from halfseen.draws import uniform
from halfseen.policies import GLMPolicy, RidgeGLMUCB
from halfseen.testing import check_glm_policy
from halfseen.testing.glm import check_live_agent
from testing.made_policies import linear_policy


def test_a_policy_for_generalized_linear_bandits_must_not_choose_by_itself():
    own = linear_policy(GLMPolicy, choose=lambda rows, known, memory, clock, stream, table: 1)
    bandit = GeneralizedLinearBandit([0.6, 0.5], actions=FiniteActions(np.eye(2)))
    for refused in (
        lambda: simulate(Study(bandit, Uniform(0.5), own, horizon=5)),
        lambda: GLMAgent(own, 2),
    ):
        with pytest.raises(InvalidInput, match="must have a kernel `index`, and no `choose`"):
            refused()
    with pytest.raises(AssertionError, match="must have a kernel `index`, and no `choose`"):
        check_glm_policy(own)


def any_row(mean, square, spread, shift, action, clock, stream, table):
    return uniform(stream, clock, action)


def test_the_live_agent_is_checked_too():
    """The check compared the engines alone, and said nothing of probabilities."""
    own = linear_policy(GLMPolicy, index=any_row, randomises=True)
    object.__setattr__(own, "probabilities", lambda rows, *given: np.full(len(rows), 0.1))
    with pytest.raises(AssertionError, match=r"Wrong\.probabilities must be at least 0 and sum to"):
        check_live_agent(own, "logistic", 5, 1)


def test_an_agent_that_plays_otherwise_is_caught(monkeypatch):
    check_live_agent(RidgeGLMUCB(), "logistic", 20, 1)
    monkeypatch.setattr(GLMAgent, "_chosen", lambda self, rows, clock, key: 1)
    with pytest.raises(AssertionError, match="The live agent and the engine choose differently"):
        check_live_agent(RidgeGLMUCB(), "logistic", 20, 1)
