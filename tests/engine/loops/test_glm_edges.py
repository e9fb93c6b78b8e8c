"""Corners of generalized linear bandits: no signal, no noise, one action, a plane, steep links."""

import numpy as np
import pytest

from halfseen import (
    FiniteActions,
    GeneralizedLinearBandit,
    RandomActions,
    SequenceOfActions,
    Study,
    Uniform,
    simulate,
    theory,
)
from halfseen.policies import GLM_POLICIES

CORNERS = FiniteActions([[1, 0], [0, 1], [-0.6, -0.8]])
CASES = {
    "no signal": ([0.0, 0.0], "logistic", CORNERS, None),
    "no noise": ([0.5, 0.1], "identity", CORNERS, 0.0),
    "one action": ([0.5], "poisson", FiniteActions([[1.0]]), None),
    "nothing to learn": ([0.5, 0.1], "probit", FiniteActions([[0, 0], [0, 0]]), None),
    "a line of actions": ([0.5, 0.1], "logistic", SequenceOfActions([[[1, 0], [0.5, 0]]]), None),
    "large counts": ([5.0, 3.0], "poisson", CORNERS, None),
    "nearly certain": ([6.0, 0.0], "logistic", RandomActions(3, 2), None),
}


@pytest.mark.parametrize("kind", sorted(GLM_POLICIES))
@pytest.mark.parametrize("case", CASES)
def test_every_corner_can_be_played(case, kind):
    theta, link, actions, noise = CASES[case]
    problem, policy = (
        GeneralizedLinearBandit(theta, link=link, actions=actions, noise=noise),
        GLM_POLICIES[kind](),
    )
    study = Study(
        problem, Uniform(0.5), policy, horizon=60, replications=2, alphas=(1.0, 0.5), baseline=False
    )
    tracks = simulate(study, engine="reference").tracks
    for name, array in tracks.items():
        assert np.isfinite(array).all(), name
    bounds = theory.regret_bounds(problem, Uniform(0.5), policy, 60)
    assert tracks["regret"][..., -1].max() <= bounds["trivial"].value + 1e-9
