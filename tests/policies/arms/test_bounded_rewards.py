"""Policies for rewards in [0, 1] refuse others."""

import pytest

from halfseen import (
    Agent,
    ArmedBandit,
    ConversionUCB,
    Delayed,
    Fixed,
    HopefulUCB,
    InvalidInput,
    OptimisticElimination,
    Study,
    SuccessiveElimination,
)

BOUNDED = [HopefulUCB(), SuccessiveElimination(), OptimisticElimination(), ConversionUCB()]


def study(policy, problem, late=None):
    return Study(problem, late or Delayed(Fixed(1), window=3), policy, horizon=100, baseline=False)


@pytest.mark.parametrize("policy", BOUNDED)
@pytest.mark.parametrize(
    "problem",
    [
        ArmedBandit([5, 0.4], reward="uniform", noise=0.1),
        ArmedBandit([0.6, 0.1], reward="uniform", noise=0.1),
        ArmedBandit([0.6, 0.4], reward="rademacher", noise=0.5),
        ArmedBandit([0.6, 0.4]),
    ],
)
def test_rewards_that_may_leave_the_unit_interval_are_refused(policy, problem):
    with pytest.raises(InvalidInput, match="must be played with rewards in"):
        study(policy, problem)


@pytest.mark.parametrize("policy", BOUNDED)
@pytest.mark.parametrize(("law", "noise"), [("uniform", 0.1), ("rademacher", 0.4)])
def test_rewards_that_keep_to_the_unit_interval_are_taken(policy, law, noise):
    study(policy, ArmedBandit([0.6, 0.4], reward=law, noise=noise))
    study(policy, ArmedBandit([1.0, 0.0], reward="bernoulli"))


def test_a_live_agent_is_refused_where_rewards_are_not_known_to_be_bounded():
    with pytest.raises(InvalidInput, match="must be played with rewards in"):
        Agent(HopefulUCB(), arms=2, reward="uniform", noise=0.2)
    Agent(HopefulUCB(), arms=2, reward="bernoulli")


@pytest.mark.parametrize("law", [Fixed(10), Fixed(1, arrive=0.0)])
def test_conversions_that_never_arrive_in_the_window_are_refused(law):
    late = Delayed(Fixed(1), window=3, sends="conversions")
    arms = ArmedBandit([0.4, 0.6], reward="bernoulli")
    with pytest.raises(InvalidInput, match="arm 1` must let some conversions arrive by age"):
        study(ConversionUCB([Fixed(1), law]), arms, late)
    study(ConversionUCB(Fixed(3)), arms, late)
