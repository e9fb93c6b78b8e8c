"""Codes among few values, written means of whole numbers and spikes of zeros are noticed."""

import numpy as np
import pandas as pd
import pytest

from halfseen import audit
from halfseen.logs.warnings.off_scale_values import off_scale
from halfseen.logs.warnings.sampled_rewards import rewards_of
from halfseen.logs.warnings.written_values import mean_among_whole_numbers

N = 2000


def parts(seed=0):
    """Return arms, rewards of 0 and 1, and which of them are seen."""
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, 3, N)
    return rng, arm, (rng.random(N) < np.array([0.3, 0.35, 0.4])[arm]) * 1.0, rng.random(N) < 0.6


def look(arm, reward):
    return audit(pd.DataFrame({"arm": arm, "reward": reward}), action="arm", reward="reward")


@pytest.mark.parametrize("digits", [2, 3, 17])
def test_the_mean_written_among_0_and_1_is_found(digits):
    _, arm, reward, seen = parts()
    filled = np.where(seen, reward, round(reward[seen].mean(), digits))
    found = look(arm, filled)
    assert [w.kind for w in found.warnings] == ["mean-written"]
    assert "costs you nothing, unless a value was written" in found.answers[1]


def test_the_mean_of_each_arm_written_among_0_and_1_is_found():
    _, arm, reward, seen = parts()
    means = np.array([reward[seen & (arm == a)].mean() for a in range(3)])
    found = mean_among_whole_numbers(rewards_of(arm, np.where(seen, reward, means[arm])))
    assert found.kind == "mean-written"
    assert found.facts["arms"] == 3


def test_the_mean_written_among_counts_is_found():
    rng, arm, _, seen = parts()
    counts = rng.poisson(60, N) * 1.0
    filled = rewards_of(arm, np.where(seen, counts, counts[seen].mean()))
    assert mean_among_whole_numbers(filled).kind == "mean-written"


def test_minus_one_beside_0_and_1_is_a_question():
    _, arm, reward, seen = parts()
    found = look(arm, np.where(seen, reward, -1.0))
    assert found.warnings == ()
    assert any("are -1, the only value below 0. Is it a code" in note for note in found.notes)
    assert "costs you nothing, unless a value was written" in found.answers[1]


def test_exact_zeros_among_values_that_hardly_repeat_are_a_question():
    rng, arm, _, seen = parts()
    found = look(arm, np.where(seen, rng.normal(10, 3, N), 0.0))
    assert found.warnings == ()
    assert any("are exactly 0, among values that hardly repeat" in note for note in found.notes)
    assert "costs you nothing, unless a value was written" in found.answers[1]


def test_half_credits_are_outcomes_whatever_the_mean():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for value, chances in ((0.5, [0.4, 0.2, 0.4]), (0.25, [0.6, 0.2, 0.2])):
            rewards = rewards_of(np.zeros(N), rng.choice([0.0, value, 1.0], N, p=chances))
            assert mean_among_whole_numbers(rewards) is None
            assert not off_scale(rewards.reward).is_mean


def test_a_complete_log_of_0_and_1_has_nothing_to_ask_about_its_cost():
    _, arm, reward, _ = parts()
    assert look(arm, reward).answers[1] == "Missing feedback costs you nothing."
