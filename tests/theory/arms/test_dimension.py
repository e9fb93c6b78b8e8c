import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen.censorship import PerArm, Uniform
from halfseen.errors import InvalidInput
from halfseen.problems import ArmedBandit, FixedArms, RandomArms, SequenceOfArms
from halfseen.theory import (
    dimension_by_arm,
    effective_dimension,
    feedback_value,
    instance_dimension,
)

probabilities = st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6)


def test_golden():
    assert effective_dimension([0.9, 0.1, 0.5, 0.3, 0.05]) == pytest.approx(328 / 9, rel=1e-14)
    noisy = effective_dimension([0.5, 0.2, 0.8, 0.3], noise=[0.1, 1, 2, 0.3])
    assert noisy == pytest.approx(10.32, rel=1e-14)


@given(st.integers(1, 20), st.floats(0.0, 5.0))
def test_everything_observed_counts_the_arms(arms, noise):
    assert effective_dimension([1.0] * arms) == arms
    assert effective_dimension([1.0] * arms, noise=noise) == pytest.approx(arms * noise**2)


@given(probabilities, st.randoms(use_true_random=False))
def test_relabelling_changes_nothing(observe, shuffler):
    relabelled = list(observe)
    shuffler.shuffle(relabelled)
    assert effective_dimension(relabelled) == pytest.approx(effective_dimension(observe))


@given(probabilities, st.data())
def test_falls_as_any_probability_rises(observe, data):
    arm = data.draw(st.integers(0, len(observe) - 1))
    raised = list(observe)
    raised[arm] = data.draw(st.floats(observe[arm], 1.0, exclude_min=observe[arm] < 1.0))
    before, after = effective_dimension(observe), effective_dimension(raised)
    assert after < before or raised[arm] - observe[arm] < 1e-12


@given(st.lists(st.floats(0.05, 0.9), min_size=1, max_size=5), st.floats(0.1, 3.0))
def test_feedback_value_is_the_slope(observe, noise):
    values = feedback_value(observe, noise=noise)
    for arm in range(len(observe)):
        up, down = list(observe), list(observe)
        up[arm] += 1e-5
        down[arm] -= 1e-5
        slope = (
            effective_dimension(down, noise=noise) - effective_dimension(up, noise=noise)
        ) / 2e-5
        assert values[arm] == pytest.approx(slope, rel=1e-5)


def test_instance_dimension_leaves_out_every_best_arm():
    problem = ArmedBandit([1.0, 1.0, 0.5, 0.0], noise=[9.0, 9.0, 1.0, 2.0])
    expected = 1 / (0.5 * 0.5) + 4 / (0.25 * 1.0)
    found = instance_dimension(problem, PerArm([0.1, 0.2, 0.5, 0.25]))
    assert found == pytest.approx(expected)
    assert instance_dimension(ArmedBandit([0.3, 0.3]), Uniform(0.1)) == 0.0


def test_instance_dimension_counts_only_playable_arms():
    problem = ArmedBandit([5.0, 1.0, 0.5], actions=FixedArms([1, 2]))
    assert instance_dimension(problem, Uniform(0.5)) == pytest.approx(1 / (0.5 * 0.5))


def test_bernoulli_rewards_bring_their_own_noise():
    problem = ArmedBandit([0.75, 0.25], reward="bernoulli")
    assert instance_dimension(problem, Uniform(0.5)) == pytest.approx(0.25 / (0.5 * 0.5))


@pytest.mark.parametrize("actions", [RandomArms([0.5, 0.5]), SequenceOfArms([[0], [1]])])
def test_instance_dimension_refuses_changing_arms(actions):
    with pytest.raises(InvalidInput, match=r"`problem.actions` must offer the same arms"):
        instance_dimension(ArmedBandit([0.9, 0.1], actions=actions), Uniform(0.5))


def test_arrays_and_lists_agree():
    observe = np.random.default_rng(1).uniform(0.1, 1.0, 1000)
    assert effective_dimension(observe) == effective_dimension(observe.tolist())


def test_arms_add_up_to_the_dimension_that_is_printed():
    found = dimension_by_arm([0.5, 0.2, 0.8, 0.3], noise=[0.1, 1, 2, 0.3])
    assert found.total == pytest.approx(10.32)
    assert found.contributes.sum() == pytest.approx(found.total)
    assert found.share.sum() == pytest.approx(1.0)
    assert found.to_dict()["per_arm"][1]["worth_of_one_percent_more"] == pytest.approx(5 - 1 / 0.21)
    assert "effective dimension  10.32" in str(found)
    nothing = dimension_by_arm([0.5, 0.2], noise=0.0)
    assert nothing.factor is None
    assert nothing.to_dict()["per_arm"][0]["share"] is None


def test_the_worth_of_one_percent_more_is_the_fall_of_the_dimension():
    observe, noise = np.array([0.01, 0.3, 0.995, 1.0]), np.array([1.0, 2.0, 1.0, 1.0])
    found = dimension_by_arm(observe, noise=noise)
    for arm, fall in enumerate(found.one_percent_more):
        more = observe.copy()
        more[arm] = min(more[arm] + 0.01, 1.0)
        assert fall == pytest.approx(found.total - effective_dimension(more, noise=noise), abs=1e-9)
    assert found.table().rows[0][-1] == pytest.approx(50.0)
