"""Measured regret and potential of linear bandits against what is proved about them."""

import math

import numpy as np
import pytest

from halfseen import (
    DesignExploration,
    FiniteActions,
    LinearBandit,
    LinThompson,
    LinUCB,
    Logistic,
    MultiThreshold,
    PerAction,
    RandomActions,
    Study,
    Uniform,
    simulate,
    theory,
)
from halfseen.theory.linear.potential import expected_potential_bound, potential_control_factor
from halfseen.theory.linear.worst_case_along import worst_case_along

HORIZON, REPLICATIONS = 2000, 100
RNG = np.random.default_rng(4)
FEW = FiniteActions(RNG.normal(size=(6, 3)), normalize=True)
MANY = FiniteActions(RNG.normal(size=(30, 5)), normalize=True)
STEPS = MultiThreshold([0.0, 0.6], observe=[0.9, 0.4, 0.05], direction=[1, 0, 1])
INSTANCES = {
    "few, all seen": (FEW, [0.5, 0.2, -0.4], 1.0, Uniform(1.0), 1.0, 1.0),
    "few, uniform": (FEW, [0.5, 0.2, -0.4], 0.3, Uniform(0.1), 0.1, 0.1),
    "few, steps": (FEW, [0.5, 0.2, -0.4], 0.1, STEPS, 1.0, None),
    "few, logistic": (FEW, [-1, 2, 3], 0.5, Logistic([0, 0, 1], slope=-4.0), 5.0, None),
    "few, one by one": (FEW, [0, 0, 1], 0.0, PerAction([1, 0.5, 0.3, 0.2, 0.1, 0.02]), 1.0, None),
    "many, uniform": (MANY, [1, 0, 0, 0, 0], 0.2, Uniform(0.3), 1.0, 0.3),
    "many, strong ridge": (MANY, [0.1, 0.1, 0.1, 0.1, 0.1], 0.1, Uniform(0.05), 30.0, 0.05),
    "no signal": (MANY, [0, 0, 0, 0, 0], 1.0, Uniform(0.5), 0.01, 0.5),
    "sphere, uniform": (RandomActions(6, 3), [0.5, 0.2, -0.4], 0.3, Uniform(0.2), 1.0, 0.2),
    "sphere, steps": (RandomActions(6, 3), [0.7, 0, 0.7], 0.1, STEPS, 0.5, 0.05),
    "sphere, all seen": (RandomActions(3, 2), [0.3, 0.3], 1.0, Uniform(1.0), 1.0, 1.0),
}


def surely(values):
    """Return a number the mean exceeds but for four standard errors of bad luck."""
    return values.mean(axis=0) - 4 * values.std(axis=0) / math.sqrt(len(values))


def measured(problem, censorship, policy):
    study = Study(
        problem,
        censorship,
        policy,
        horizon=HORIZON,
        replications=REPLICATIONS,
        seed=8,
        checkpoints=12,
        alphas=(1.0,),
        baseline=False,
    )
    return study, simulate(study).tracks


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTANCES)
def test_regret_and_potential_stay_below_every_bound(name):
    actions, theta, noise, censorship, regularization, least = INSTANCES[name]
    problem, policy = LinearBandit(theta, noise, actions), LinUCB(regularization)
    if least is None:
        least = float(censorship.probabilities(actions.actions).min())
    study, tracks = measured(problem, censorship, policy)
    potential = tracks["potential"][0, 0, 0, :, :, 0]
    for rounds, value in zip(study.rounds_recorded, surely(potential), strict=True):
        bound = expected_potential_bound(problem.dimension, least, rounds, regularization)
        assert value <= bound * (1 + 1e-9)
    ceiling = worst_case_along(problem, censorship, regularization, study.rounds_recorded)
    assert (surely(potential) <= potential_control_factor(regularization) * ceiling).all()
    regret = surely(tracks["regret"][0, 0, 0, :, -1])
    bounds = theory.regret_bounds(
        problem, censorship, policy, HORIZON, potential=float(potential[:, -1].mean())
    )
    assert sum(bound.applies for bound in bounds) == 6
    for bound in bounds:
        assert regret <= bound.value * (1 + 1e-12) + 1e-9, bound.name


@pytest.mark.slow
@pytest.mark.parametrize("policy", [DesignExploration(), LinThompson()])
def test_the_potential_of_any_policy_stays_below_its_bound(policy):
    study, tracks = measured(LinearBandit([0.5, 0.2, -0.4], 0.3, FEW), Uniform(0.1), policy)
    for place, rounds in enumerate(study.rounds_recorded):
        value = surely(tracks["potential"][0, 0, 0, :, place, 0])
        assert value <= expected_potential_bound(3, 0.1, rounds, 1.0) * (1 + 1e-9)


def test_the_ellipsoid_fails_as_rarely_as_proved():
    problem = LinearBandit([0.5, 0.2, -0.4], 1.0, FEW)
    for censorship in (Uniform(1.0), Uniform(0.3)):
        _, tracks = measured(problem, censorship, LinUCB(delta=0.2))
        failed = tracks["optimism_failed"][0, 0, 0, :, -1]
        assert set(np.unique(failed)) <= {0, 1}
        assert surely(failed) <= 0.2
