import math

import numpy as np
import pytest

from halfseen import (
    IMED,
    UCB,
    ArmedBandit,
    BernoulliThompson,
    ImputeZero,
    PerArm,
    RandomArms,
    StratifiedUCB,
    Study,
    WithCovariate,
    simulate,
    theory,
)
from halfseen.report.study.bounds import (
    PAPER,
    SMALLEST,
    Growth,
    bounds_along,
    bounds_at_horizon,
    study_bounds,
)
from halfseen.report.study.measures import places
from halfseen.theory.along_a_run import optimism_failure

HORIZON = 2000
ROUNDS = np.array([1, 10, 100, 1000, HORIZON])


def place(problem=None, policy=None):
    problem = problem or ArmedBandit([0.6, 0.5, 0.2], noise=0.3)
    study = Study(
        problem, PerArm([0.3, 0.9, 0.5]), policy or UCB(), horizon=HORIZON, baseline=False
    )
    return next(places(study))


def test_a_growth_below_the_least_says_that_the_least_is_a_limit():
    assert Growth(869, 203.4).against(40.14) == (
        "Measured from round 869 on, it grew like 203.4 log T, 5.07 times the least."
    )
    assert Growth(869, 7.966).against(10.42) == (
        "Measured from round 869 on, it grew like 7.966 log T, 0.764 times the least (which holds"
        " as T grows, not yet here)."
    )


def test_a_policy_that_imputes_need_not_reach_the_least():
    assert (
        Growth(869, 7.966)
        .against(10.42, imputes=True)
        .endswith(
            "0.764 times the least (which does not hold for policies that impute missing rewards)."
        )
    )


def test_growth_of_policies_that_impute_is_not_said_to_reach_the_least(tmp_path):
    arms = ArmedBandit([0.6, 0.5, 0.2], noise=0.3)
    study = Study(arms, PerArm([0.9, 0.05, 0.05]), ImputeZero(), horizon=2000, replications=2)
    simulate(study, out=tmp_path)
    rare, whole = (str(cell) for cell in study_bounds(study, tmp_path))
    assert "(which does not hold for policies that impute" in rare
    assert "impute" not in whole.splitlines()[-1]


def test_lower_bounds_are_those_of_what_the_policy_sees(tmp_path):
    """A covariate that tells the reward made policies that observe it beat their lower bound."""
    arms = ArmedBandit([0.6, 0.5], reward="bernoulli")
    tells = WithCovariate([[[1.0, 0.0], [0.0, 1.0]]] * 2, [0.01, 0.01])
    policies = {"blind": UCB(), "told": StratifiedUCB()}
    cells = study_bounds(Study(arms, tells, policies, horizon=1000, baseline=False), tmp_path)
    blind, told = (cell.lower for cell in cells)
    assert blind.asymptotic.constant == pytest.approx(489.93, abs=0.01)
    assert told.asymptotic is None
    assert "must not show a covariate" in told.sentences()[0]


def test_at_the_horizon_the_curves_are_the_table():
    curves = bounds_along(place(), HORIZON, ROUNDS)
    table = bounds_at_horizon(place(), HORIZON)
    assert curves[SMALLEST][-1] == pytest.approx(table.smallest.value, rel=1e-12)
    paper = min(bound.value for bound in table if bound.paper)
    assert curves[PAPER][-1] == pytest.approx(paper, rel=1e-12)


def test_before_the_horizon_the_policy_still_explores_for_all_of_it():
    problem = place().problem
    curves = bounds_along(place(), HORIZON, ROUNDS)
    told_less = [theory.regret_bounds(problem, place().censorship, UCB(), int(t)) for t in ROUNDS]
    assert all(curves[SMALLEST] >= [table.smallest.value * (1 - 1e-12) for table in told_less])
    own = theory.joint_potential(
        [0.3, 0.9, 0.5], 1000, 1.0, 0.3, 0.6, problem.gaps, confidence=math.log(HORIZON)
    )
    assert curves[SMALLEST][3] <= own + 2 * 3 * 0.4 / 1000 + 1e-9


def test_what_is_not_proved_is_not_drawn():
    wrong = place(policy=UCB(bound=0.1))
    assert optimism_failure(*wrong.triple, HORIZON) is None
    assert bounds_along(wrong, HORIZON, ROUNDS) == {}
    assert "UCB.bound" in bounds_at_horizon(wrong, HORIZON)
    other = place(ArmedBandit([0.6, 0.5, 0.2], reward="bernoulli"), BernoulliThompson())
    assert bounds_along(other, HORIZON, ROUNDS) == {}
    assert "proved for the policy UCB" in bounds_at_horizon(other, HORIZON)


def test_moving_arms_have_no_instance_bound():
    moving = place(ArmedBandit([0.6, 0.5, 0.2], actions=RandomArms([0.5, 0.5, 0.5])))
    curves = bounds_along(moving, HORIZON, ROUNDS)
    table = bounds_at_horizon(moving, HORIZON)
    assert not table["instance"].applies
    assert curves[SMALLEST][-1] == pytest.approx(table.smallest.value, rel=1e-12)


def test_before_a_run_it_says_what_would_make_the_lower_bound_say_more(tmp_path):
    gaps = ArmedBandit([0.5, 0.4, 0.3, 0.2, 0.1], noise=0.5)
    observe = PerArm([0.3, 0.9, 0.1, 0.5, 0.2])
    (cell,) = study_bounds(Study(gaps, observe, IMED(), horizon=10_000, baseline=False), tmp_path)
    said = str(cell)
    assert "there is no bound for policies that lose at most 4,000" in said
    assert "or for those that lose less than 500." in said
    assert "4,000 is the smallest bound above; once the study has been run, its measured" in said
