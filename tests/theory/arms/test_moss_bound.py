import math

import pytest

from halfseen import (
    MOSS,
    ArmedBandit,
    Delayed,
    Fixed,
    FixedArms,
    GeometricDelay,
    PerArm,
    RandomArms,
    Study,
    simulate,
)
from halfseen.theory import regret_bounds

MEANS, SEEN, NOISE = [0.5, 0.4, 0.2], [0.9, 0.2, 0.5], 0.5
TOTAL = 1 / 0.9 + 5 + 2
ARMS = ArmedBandit(MEANS, noise=NOISE)


def bound(problem, policy, horizon=10_000, seen=SEEN, **options):
    return regret_bounds(problem, PerArm(seen), policy, horizon, **options)["worst case"]


def test_the_dimension_takes_the_place_of_the_number_of_arms():
    found = bound(ARMS, MOSS(TOTAL))
    expected = 39 * NOISE * math.sqrt(TOTAL * 10_000) + 0.1 / 0.2 + 0.3 / 0.5
    assert found.value == pytest.approx(expected)
    assert found.applies
    full = bound(ARMS, MOSS(3.0), seen=[1, 1, 1]).value
    textbook = 39 * NOISE * math.sqrt(3 * 10_000) + 0.1 + 0.3
    assert full == pytest.approx(textbook)
    assert bound(ARMS, MOSS("arms"), seen=[1, 1, 1]).value == pytest.approx(textbook)


def test_with_the_number_of_arms_an_observation_costs_up_to_one_over_p_rounds():
    found = bound(ARMS, MOSS("arms")).value
    assert found == pytest.approx((39 * NOISE * math.sqrt(3 * 10_000) + 0.4) / 0.2)


def test_holds_at_every_round_of_the_horizon_told():
    assert bound(ARMS, MOSS(TOTAL), rounds=10).value == bound(ARMS, MOSS(TOTAL)).value


def test_arms_that_cannot_be_played_do_not_count():
    two = ArmedBandit(MEANS, noise=NOISE, actions=FixedArms([0, 2]))
    assert bound(two, MOSS(1 / 0.9 + 2)).applies


@pytest.mark.parametrize(
    ("problem", "policy", "reason"),
    [
        (ARMS, MOSS(), "proved for a known dimension, not for a learned one"),
        (ARMS, MOSS(9.0), "proved for dimension = the sum of 1/p, 8.11111111"),
        (ArmedBandit(MEANS, noise=[1, 2, 1]), MOSS(TOTAL), "proved for one noise"),
        (ArmedBandit([2, 1, 1], reward="poisson"), MOSS(TOTAL), "proved for sub-Gaussian rewards"),
        (
            ArmedBandit(MEANS, actions=RandomArms([1, 0.5, 0.5])),
            MOSS(TOTAL),
            "needs the same arms in every round",
        ),
    ],
)
def test_where_it_is_not_proved_it_says_why(problem, policy, reason):
    found = bound(problem, policy)
    assert not found.applies
    assert reason in found.reason


def test_the_dimension_it_names_is_accepted():
    named = bound(ARMS, MOSS(9.0)).reason.split()[-1]
    assert bound(ARMS, MOSS(float(named))).applies


@pytest.mark.slow
def test_measured_regret_is_below_it_on_the_hardest_gap():
    """The gap 3 sqrt(D/T), at which the regret of MOSS is about the largest."""
    gap = 3 * math.sqrt(TOTAL / 1000)
    problem = ArmedBandit([gap, 0.0, 0.0])
    study = Study(problem, PerArm(SEEN), MOSS(TOTAL), horizon=1000, replications=50, baseline=False)
    regret = simulate(study).tracks["regret"][0, 0, 0, :, -1]
    most = bound(problem, MOSS(TOTAL), 1000).value
    assert 0.02 * most < regret.mean() < most


@pytest.mark.parametrize(
    ("censorship", "dimension", "reason"),
    [
        (Delayed(Fixed(5), window=9, sends="conversions"), 2.0, "missing not at random"),
        (
            Delayed([[Fixed(0), GeometricDelay(300)], Fixed(0)], window=10),
            28.82,
            "missing not at random",
        ),
        (Delayed(Fixed(5), window=9), 2.0, "without delays"),
    ],
)
def test_nothing_is_claimed_where_feedback_is_late_or_depends_on_the_reward(
    censorship, dimension, reason
):
    arms = ArmedBandit([0.1, 0.9], reward="bernoulli")
    found = regret_bounds(arms, censorship, MOSS(dimension), 20_000)
    assert not found["worst case"].applies
    assert reason in found["worst case"].reason
    assert found.smallest.name == "trivial"


def test_messages_that_come_at_once_are_as_good_as_no_delays():
    arms = ArmedBandit([0.1, 0.9], reward="bernoulli")
    found = regret_bounds(arms, Delayed(Fixed(0, arrive=0.5)), MOSS(4.0), 1000)["worst case"]
    assert (
        found.value == regret_bounds(arms, PerArm([0.5, 0.5]), MOSS(4.0), 1000)["worst case"].value
    )
