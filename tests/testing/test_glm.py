"""What a policy for generalized linear bandits may not have."""

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
from halfseen.policies import GLMPolicy
from halfseen.testing import check_glm_policy
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
