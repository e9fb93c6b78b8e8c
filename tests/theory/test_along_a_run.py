"""What is proved at rounds before the horizon that a policy was tuned to."""

import math

import numpy as np
import pytest

from halfseen import (
    GLMUCB,
    UCB,
    AnyFunction,
    ArmedBandit,
    FiniteActions,
    GaussianThompson,
    GeneralizedLinearBandit,
    InvalidInput,
    LinearBandit,
    LinUCB,
    MultiThreshold,
    PerArm,
    RandomActions,
    RidgeGLMUCB,
    Uniform,
)
from halfseen.theory import (
    confidence_factor,
    expected_potential_bound,
    fluid_potential,
    joint_potential,
    optimism_failure_probability,
    regret_bounds,
)
from halfseen.theory.along_a_run import optimism_failure, potential_bound_along
from halfseen.theory.arms.bounds import regret_bounds_along

HORIZON = 3000
ROUNDS = [1, 40, 700, HORIZON]
THETA = [0.6, 0.3]
ROWS = FiniteActions([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]])
STEPS = MultiThreshold([0.3], [0.9, 0.2], [0.0, 1.0])
ARMS = (ArmedBandit([0.6, 0.5, 0.2], noise=0.3), PerArm([0.3, 0.9, 0.5]), UCB())
LINEAR = (LinearBandit(THETA, 0.5, RandomActions(4, 2)), STEPS, LinUCB())
RUNS = {
    "arms": ARMS,
    "linear, fixed": (LinearBandit(THETA, 0.5, ROWS), STEPS, LinUCB()),
    "linear, drawn": LINEAR,
    "glm": (GeneralizedLinearBandit(THETA, link="logistic", actions=ROWS), Uniform(0.4), GLMUCB()),
    "ridge glm": (
        GeneralizedLinearBandit(THETA, link="logistic", actions=ROWS),
        STEPS,
        RidgeGLMUCB(),
    ),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_at_the_horizon_the_bounds_are_those_without_rounds(run):
    along = regret_bounds_along(*run, HORIZON, ROUNDS)
    assert [table.horizon for table in along] == ROUNDS
    assert regret_bounds(*run, HORIZON, rounds=HORIZON) == regret_bounds(*run, HORIZON)
    for table, whole in zip(along[-1], regret_bounds(*run, HORIZON), strict=True):
        assert table.value == pytest.approx(whole.value, rel=1e-3)  # certified from neighbours
    assert regret_bounds(*run, HORIZON, rounds=ROUNDS[1])["trivial"] == along[1]["trivial"]


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_before_the_horizon_a_policy_explores_more_than_one_tuned_to_that_round(run):
    names = [bound.name for bound in regret_bounds(*run, 40) if bound.applies]
    assert len(names) > 2
    early, tuned = regret_bounds(*run, HORIZON, rounds=40), regret_bounds(*run, 40)
    for name in set(names) - {"trivial", "instance in horizon"}:
        paid, fails = (
            {part: value for part, value in table[name].terms.items() if "fails" in part}
            for table in (early, tuned)
        )
        assert early[name].value - sum(paid.values()) >= tuned[name].value - sum(fails.values())


def test_the_widths_of_arms_have_the_logarithm_of_the_horizon():
    early = regret_bounds(*ARMS, HORIZON, rounds=700)["own gaps"]
    gaps = ARMS[0].gaps
    wanted = joint_potential(
        [0.3, 0.9, 0.5], 700, 1.0, 0.3, 0.6, gaps, confidence=math.log(HORIZON)
    )
    assert early.terms["rounds"] == pytest.approx(wanted, rel=1e-12)


def test_the_widths_of_linucb_have_the_delta_of_the_horizon():
    problem = LINEAR[0]
    early = regret_bounds(*LINEAR, HORIZON, rounds=700)["potential from d/p_min"]
    beta = confidence_factor(2, 700, 1.0, 0.5, problem.norm, delta=1 / HORIZON)
    potential = expected_potential_bound(2, 0.2, 700, 1.0)
    assert early.terms["confidence widths"] == pytest.approx(2 * beta * math.sqrt(700 * potential))
    assert early.terms["optimism fails"] == pytest.approx(700 / HORIZON * problem.largest_gap)


@pytest.mark.parametrize("rounds", [0, HORIZON + 1, 2.5, "10"])
def test_rounds_beyond_the_horizon_are_refused(rounds):
    with pytest.raises(InvalidInput, match="`rounds` must be a whole number"):
        regret_bounds(*ARMS, HORIZON, rounds=rounds)


def test_the_potential_of_arms_is_exact_and_of_linear_bandits_bounded():
    found = potential_bound_along(*ARMS, 0.5, ROUNDS)
    assert found.tolist() == [fluid_potential([0.3, 0.9, 0.5], t, 0.5, 1.0) for t in ROUNDS]
    bounded = potential_bound_along(*LINEAR, 1.0, ROUNDS)
    alone = [expected_potential_bound(2, 0.2, t, 1.0) for t in ROUNDS]
    assert (np.diff(bounded) > 0).all()
    assert (bounded <= np.array(alone) * (1 + 1e-9)).all()
    unknown = potential_bound_along(LINEAR[0], AnyFunction(lambda a: 0.5), LinUCB(), 1.0, ROUNDS)
    assert np.isinf(unknown).all()


def test_the_probability_that_optimism_fails_is_known_only_of_the_policies_in_the_proofs():
    problem, censorship, _ = ARMS
    assert optimism_failure(*ARMS, HORIZON) == optimism_failure_probability(3, HORIZON)
    assert optimism_failure(problem, censorship, UCB(bound=0.1), HORIZON) is None
    assert optimism_failure(problem, censorship, GaussianThompson(), HORIZON) is None
    assert optimism_failure(*LINEAR, HORIZON) == pytest.approx(1 / HORIZON)
    assert optimism_failure(LINEAR[0], STEPS, LinUCB(noise=0.1), HORIZON) is None
    assert optimism_failure(*RUNS["glm"], HORIZON) == pytest.approx(1 / HORIZON)
