"""Where actions are equal but for rounding, the first is played."""

import numpy as np
import pytest

from halfseen import (
    GLMUCB,
    FiniteActions,
    GeneralizedLinearBandit,
    LinearAgent,
    LinearBandit,
    LinUCB,
    RandomActions,
    SequenceOfActions,
    Study,
    Uniform,
    simulate,
)


def unit_vectors(seed):
    rng = np.random.default_rng(seed)
    dimension = int(rng.integers(2, 8))
    rows = rng.normal(size=(int(rng.integers(2, 12)), dimension))
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def first_pulls(problem, policy, engine="reference"):
    study = Study(
        problem, Uniform(1.0), policy, horizon=1, replications=1, alphas=[1.0], baseline=False
    )
    return simulate(study, engine=engine)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [LinUCB(), LinUCB(0.3)])
def test_linear_policies_begin_with_action_0_on_unit_vectors(policy):
    for seed in range(60):
        rows = unit_vectors(seed)
        problem = LinearBandit(np.ones(rows.shape[1]) / 9, 0.5, FiniteActions(rows))
        pulls = first_pulls(problem, policy).tracks["pulls"][0, 0, 0, 0, -1]
        assert pulls[0] == 1, seed


@pytest.mark.slow
def test_generalized_linear_policies_begin_with_action_0_on_unit_vectors():
    for seed in range(60):
        rows = unit_vectors(seed)
        problem = GeneralizedLinearBandit(
            np.ones(rows.shape[1]) / 9, link="logistic", actions=FiniteActions(rows)
        )
        pulls = first_pulls(problem, GLMUCB()).tracks["pulls"][0, 0, 0, 0, -1]
        assert pulls[0] == 1, seed


def test_compiled_loops_and_live_agents_begin_with_action_0_too():
    for seed in range(20):
        rows = unit_vectors(seed)[:, :2]
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        problem = LinearBandit([0.3, 0.2], 0.5, FiniteActions(rows))
        pulls = first_pulls(problem, LinUCB(), "cpu").tracks["pulls"][0, 0, 0, 0, -1]
        assert pulls[0] == 1, seed
        assert LinearAgent(LinUCB(), 2, seed=0).choose(rows).action == 0


def test_changing_sets_begin_with_action_0_on_unit_vectors():
    theta = np.array([0.5, 0.1, -0.2])
    for seed in range(30):
        rows = np.random.default_rng(seed).normal(size=(1, 6, 3))
        given = SequenceOfActions(rows, normalize=True)
        problem = LinearBandit(theta, 0.0, given)
        regret = first_pulls(problem, LinUCB()).tracks["regret"].ravel()[-1]
        means = given.array[0] @ theta
        assert regret == pytest.approx(means.max() - means[0], abs=1e-12), seed


def test_drawn_sets_begin_with_action_0_of_the_sphere():
    problem = LinearBandit([0.5, 0.1, -0.2], 0.0, RandomActions(6, 3))
    study = Study(
        problem, Uniform(1.0), LinUCB(), horizon=1, replications=30, alphas=[1.0], baseline=False
    )
    cell = next(study.cells())[1]
    regret = simulate(study, engine="reference").tracks["regret"].reshape(30, -1)[:, -1]
    for replication in range(30):
        rows = problem.actions.sample((*cell.key, replication, 1), 1)
        means = rows @ np.array(problem.theta)
        assert regret[replication] == pytest.approx(means.max() - means[0], abs=1e-12)
