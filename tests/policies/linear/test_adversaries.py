"""Adversaries of the potential: their choices by hand, what they reach against what is proved."""

import math

import numpy as np
import pytest

from halfseen import (
    DesignExploration,
    FiniteActions,
    InformationGreedy,
    InvalidInput,
    LinearBandit,
    LinUCB,
    MostCensored,
    MultiThreshold,
    OptimalOrder,
    PerAction,
    RandomActions,
    Study,
    Uniform,
    UnitBall,
    simulate,
)
from halfseen.agents.linear import LinearAgent
from halfseen.policies.linear.base import LinearSetting
from halfseen.studies.spec import parse_spec
from halfseen.theory import potential_control_factor, region_actions, worst_case_potential

ADVERSARIES = (InformationGreedy, MostCensored, OptimalOrder)
ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [0.96, 0.28]])
OBSERVE = np.array([0.2, 0.5, 0.2])
SETTING = LinearSetting(2, 1.0, 1.0, 50, actions=ROWS, observe=OBSERVE)


def index(policy, square, action, clock=1):
    table = policy.table(SETTING)
    return policy.kernels().index(0.3, square, 0.0, 0.0, action, clock, (1, 2, 3, 2), table)


def test_indexes_by_hand():
    assert index(InformationGreedy(), 0.4, 1) == 0.8
    assert index(InformationGreedy(), 0.4, 2) == 2.0
    assert [index(MostCensored(), 0.4, a) for a in range(3)] == [0.4, 0.0, 0.4]


def test_levels_follow_the_plan():
    plan = worst_case_potential(OBSERVE, horizon=50, actions=ROWS)
    switch = plan.switch_times[0]
    assert 1 < switch < 49
    for clock in (1, math.floor(switch), math.ceil(switch) + 1, 50, 1000):
        early = clock - 0.5 <= switch
        marks = [index(OptimalOrder(), 0.4, a, clock) for a in range(3)]
        assert marks == ([0.4, -1.0, 0.4] if early else [-1.0, 0.4, -1.0])


def simulated(policies, actions, censorship, horizon, replications):
    problem = LinearBandit([0.1] * actions.dimension, 0.5, actions)
    study = Study(
        problem,
        censorship,
        policies,
        horizon=horizon,
        replications=replications,
        seed=3,
        checkpoints=1,
        baseline=False,
    )
    return simulate(study).tracks


@pytest.mark.slow
@pytest.mark.parametrize("lam", [1.0, 20.0])
def test_the_optimal_order_comes_between_the_worst_case_and_its_bound(lam):
    censorship = MultiThreshold([math.radians(70)], [1.0, 0.5], [0, 0, 1])
    actions, horizon = region_actions(censorship), 3000
    worst = worst_case_potential(censorship, regularization=lam, horizon=horizon).value
    policies = {
        "order": OptimalOrder(lam),
        "information": InformationGreedy(lam),
        "pure": MostCensored(lam),
        "myopic": DesignExploration(lam),
    }
    tracks = simulated(policies, actions, censorship, horizon, 200)
    potential = tracks["potential"][0, 0, :, :, -1, 0]
    mean, error = potential.mean(axis=1), potential.std(axis=1) / math.sqrt(200)
    assert worst - 4 * error[0] <= mean[0]
    assert (mean - 4 * error <= potential_control_factor(lam) * worst).all()
    assert mean[0] > mean[2]
    assert mean[0] > mean[1] > mean[3]
    pulls = tracks["pulls"][0, 0, :, 0, -1]
    assert pulls[2, 3:].sum() == 0
    assert pulls[0, :3].sum() == pytest.approx(0.7 * horizon, rel=0.05)


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_adversaries_need_a_fixed_finite_set(adversary):
    for actions in (RandomActions(3, 2), UnitBall(2)):
        with pytest.raises(InvalidInput, match="same finite set") as caught:
            Study(LinearBandit([0.1, 0.2], 0.5, actions), Uniform(0.5), adversary(), horizon=10)
        assert "Use FiniteActions" in str(caught.value)
    with pytest.raises(InvalidInput, match="same finite set"):
        LinearAgent(adversary(), 2)


def test_adversaries_by_their_kinds_in_a_spec():
    study = parse_spec(
        """
        horizon = 20
        problems.few = { kind = "linear", theta = [0.1, 0.2], noise = 0.5, actions = { kind = \
"finite", actions = [[1.0, 0.0], [0.0, 1.0], [0.96, 0.28]] } }
        censorships.some = { kind = "per-action", observe = [0.2, 0.5, 0.2] }
        policies.a = { kind = "information-greedy" }
        policies.b = { kind = "most-censored", regularization = 2.0 }
        policies.c = { kind = "optimal-order" }
        policies.d = { kind = "lin-ucb" }
        """
    )
    kinds = [type(policy) for policy in study.policies.values()]
    assert kinds == [InformationGreedy, MostCensored, OptimalOrder, LinUCB]
    assert study.policies["b"].regularization == 2.0


def test_learners_do_not_depend_on_what_adversaries_are_told():
    told = LinUCB().table(SETTING)
    assert told.tolist() == LinUCB().table(LinearSetting(2, 1.0, 1.0, 50)).tolist()
    assert LinearSetting(2, 1.0, 1.0, 50) == SETTING
    problem = LinearBandit([0.1, 0.2], 0.5, FiniteActions(ROWS))
    Study(problem, PerAction(OBSERVE), OptimalOrder(), horizon=10)
