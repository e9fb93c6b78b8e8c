import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen import ArmedBandit, FiniteActions, FixedArms, LinearBandit, PerAction, PerArm
from halfseen.censorship import Uniform
from halfseen.errors import InvalidInput
from halfseen.problems import GeneralizedLinearBandit, RandomArms
from halfseen.problems.reward_laws import StudentT
from halfseen.theory import asymptotic_lower_bound
from theory.lower.instances import G

PAPER = ArmedBandit([0.9, 0.8, 0.7, 0.5, 0.2]), PerArm([0.9, 0.1, 0.5, 0.3, 0.05])
NOISY = ArmedBandit([0.9, 0.8, 0.7, 0.5], noise=[0.1, 1, 2, 0.3]), PerArm([0.5, 0.2, 0.8, 0.3])
B = (
    ArmedBandit([0.1, 0.05, 0.05, 0.02, 0.02], reward="bernoulli"),
    PerArm([0.8, 0.2, 0.9, 0.1, 0.5]),
)
P = ArmedBandit([2, 1.5, 1.2, 1], reward="poisson"), PerArm([0.1, 0.3, 0.9, 0.5])
TIMES = ArmedBandit([1, 0.5, 0.8], reward="exponential"), PerArm([0.5, 0.1, 0.9])


@pytest.mark.parametrize(
    ("arms", "constant"),
    [
        (PAPER, 293.80952381),
        (NOISY, 151.5),
        (G, 40.1388888889),
        (B, 37.0155197889),
        (P, 35.6100751842),
        (TIMES, 35.4889012732),
    ],
    ids=["paper", "noisy", "G", "B", "P", "exponential"],
)
def test_golden(arms, constant):
    found = asymptotic_lower_bound(*arms)
    assert found.constant == pytest.approx(constant, rel=2e-12)
    assert found.ignoring == found.certificate == found.constant
    assert math.fsum(found.terms) == found.constant
    assert found.worth == 1.0


def test_two_points_at_0_and_1_are_bernoulli_in_the_bounded_class():
    found = asymptotic_lower_bound(*B, family="bounded").constant
    assert found == pytest.approx(37.0155197889, rel=1e-11)


def test_uniform_rewards_use_the_bounded_class():
    arms = ArmedBandit([0.7, 0.5], noise=[0.1, 1 / math.sqrt(12)], reward="uniform")
    found = asymptotic_lower_bound(arms, PerArm([0.2, 0.5]))
    assert found.constant == pytest.approx(0.2 / (0.5 * 0.252845563004), rel=1e-11)


@pytest.mark.parametrize("reward", ["uniform", "rademacher"])
def test_near_ties_of_bounded_rewards_are_as_hard_as_normal_ones(reward):
    """At a gap of 1e-9 the constant was negative."""
    for gap in (1e-6, 1e-9):
        arms = ArmedBandit([0.5, 0.5 - gap], reward=reward, noise=0.1)
        found = asymptotic_lower_bound(arms, PerArm([0.5, 0.3])).constant
        assert found == pytest.approx(2 * 0.1**2 / (0.3 * arms.gaps[1]), rel=1e-4 * gap / 1e-6)


def test_unknown_variance_costs_more():
    known = asymptotic_lower_bound(*G).constant
    assert asymptotic_lower_bound(*G, family="gaussian-unknown-variance").constant > known
    pair = ArmedBandit([0.9, 0.5], noise=0.5), Uniform(1.0)
    unknown = asymptotic_lower_bound(*pair, family="gaussian-unknown-variance").constant
    assert unknown == pytest.approx(0.4 / 0.247348120918, rel=1e-11)


observations = st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3)


@given(observations, st.integers(1, 2), st.sampled_from(["gaussian", "bernoulli"]))
def test_falls_as_a_worse_arm_is_observed_more_often_and_ignores_the_best(observe, arm, reward):
    arms = ArmedBandit([0.7, 0.5, 0.2], reward=reward)
    before = asymptotic_lower_bound(arms, PerArm(observe))
    more = list(observe)
    more[arm] = 1.0
    assert asymptotic_lower_bound(arms, PerArm(more)).constant <= before.constant
    best = [1.0, *observe[1:]]
    assert asymptotic_lower_bound(arms, PerArm(best)).constant == before.constant
    assert before.uncensored == asymptotic_lower_bound(arms, Uniform(1.0)).constant


def test_orthogonal_actions_are_arms():
    actions = FiniteActions(np.eye(4).tolist())
    found = asymptotic_lower_bound(
        LinearBandit([0.9, 0.8, 0.6, 0.5], actions=actions), PerAction([0.9, 0.1, 0.5, 0.3])
    )
    arms = asymptotic_lower_bound(ArmedBandit([0.9, 0.8, 0.6, 0.5]), PerArm([0.9, 0.1, 0.5, 0.3]))
    assert found.constant == pytest.approx(arms.constant, rel=1e-12)
    assert found.worth == pytest.approx(1.0, rel=1e-12)
    assert found.allocation[1:] == pytest.approx(arms.allocation[1:], rel=1e-9)


def test_arms_that_cannot_be_played_do_not_count():
    arms = ArmedBandit([0.9, 2.0, 0.5], actions=FixedArms([0, 2]))
    found = asymptotic_lower_bound(arms, PerArm([0.9, 0.1, 0.5]))
    assert found.constant == pytest.approx(2 / (0.5 * 0.4))
    assert found.terms[1] == found.allocation[1] == 0.0


def test_without_noise_one_observation_tells():
    assert asymptotic_lower_bound(ArmedBandit([0.9, 0.5], noise=0.0), Uniform(0.5)).constant == 0.0


def test_to_dict_has_no_infinities_and_str_names_the_worth():
    found = asymptotic_lower_bound(*G)
    assert found.to_dict()["allocation"][0] is None
    assert "log T" in str(found)


@pytest.mark.parametrize(
    ("problem", "censorship", "options", "said"),
    [
        (
            ArmedBandit([0.5, 0.5, 0.1]),
            Uniform(0.5),
            {},
            r"`ArmedBandit.means` must have one best arm .*; got 'arms 0, 1 tied at 0.5'. Leave",
        ),
        (
            LinearBandit([1, 0], actions=FiniteActions([[0.5, 0], [0.5, 0.3]])),
            Uniform(0.5),
            {},
            r"`LinearBandit.actions` must have one best action .*actions 0, 1 tied",
        ),
        (
            LinearBandit([1, 0]),
            Uniform(0.5),
            {},
            "`LinearBandit.actions` must be a fixed finite set .* Use FiniteActions.",
        ),
        (
            ArmedBandit([0.5, 0.1], actions=RandomArms([0.5, 0.5])),
            Uniform(0.5),
            {},
            "`ArmedBandit.actions` must be the same arms in every round",
        ),
        (
            ArmedBandit([0.5, 0.1]),
            Uniform(0.5),
            {"family": "bernoulli"},
            "`family` must fit the rewards, which are gaussian: gaussian or gaussian-unknown-var",
        ),
        (
            ArmedBandit([0.5, 0.1]),
            Uniform(0.5),
            {"family": "gausian"},
            "`family` must be one of .* Did you mean 'gaussian'",
        ),
        (
            ArmedBandit([0.9, 0.5], noise=0.3, reward="uniform"),
            Uniform(0.5),
            {},
            r"`ArmedBandit.noise` must leave uniform rewards between 0 and 1 .*of arm 0",
        ),
        (
            ArmedBandit([0.5, 0.1], reward=StudentT(1.5)),
            Uniform(0.5),
            {},
            r"`ArmedBandit.reward` must have a finite variance .* got StudentT\(degrees=1.5\)",
        ),
        (
            ArmedBandit([0.5, 0.1], reward=StudentT(3.0)),
            Uniform(0.5),
            {},
            "`ArmedBandit.reward` must be one of gaussian, .* for a lower bound",
        ),
        (
            GeneralizedLinearBandit([1, 0], actions=FiniteActions([[0.5, 0], [0, 0.3]])),
            Uniform(0.5),
            {},
            "`problem` must have arms or be linear for a lower bound",
        ),
        (
            G[0],
            PerAction([0.5] * 5),
            {},
            "`actions` must be vectors, as the censorship depends on where",
        ),
        ("arms", Uniform(0.5), {}, "`problem` must have arms or be linear .* got 'arms'"),
        (
            LinearBandit([1, 0], actions=FiniteActions([[1, 0], [0, 1]])),
            [0.5, 0.5],
            {},
            "`censorship` must be a censorship of actions; got .* Use PerAction",
        ),
    ],
)
def test_bad_input_is_refused_in_a_sentence(problem, censorship, options, said):
    with pytest.raises(InvalidInput, match=said):
        asymptotic_lower_bound(problem, censorship, **options)


def test_an_arm_that_is_never_seen_is_refused():
    with pytest.raises(InvalidInput, match="never seen cannot be learned, so leave it out"):
        asymptotic_lower_bound(ArmedBandit([0.5, 0.1]), PerArm([0.5, 0.0]))


def test_infinite_noise_is_refused():
    with pytest.raises(InvalidInput, match=r"`ArmedBandit.noise` must be a finite number"):
        asymptotic_lower_bound(ArmedBandit([0.5, 0.1], noise=math.inf), PerArm([0.5, 0.1]))


@pytest.mark.parametrize("mean", [1e-3, 1e-10, 1e-16, 1e-17, 1e-100])
def test_exponential_arms_far_below_the_best_keep_their_digits(mean):
    """At a mean of 1e-17 of the best one's the constant was 0."""
    arms = ArmedBandit([1.0, mean], reward="exponential")
    nats = mean - 1.0 - math.log(mean)
    found = asymptotic_lower_bound(arms, PerArm([0.3, 0.5])).constant
    assert found == pytest.approx((1.0 - mean) / (0.5 * nats), rel=1e-13)


@pytest.mark.filterwarnings("error")
def test_a_constant_too_large_for_a_number_is_infinite():
    arms = ArmedBandit([0.9, 0.9 - 1e-12], noise=1e100)
    found = asymptotic_lower_bound(arms, PerArm([1.0, 1e-300]))
    assert found.constant == math.inf
    assert found.worth == 1.0
    assert found.to_dict()["constant"] is None
