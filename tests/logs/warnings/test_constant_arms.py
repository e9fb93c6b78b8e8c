"""An arm that sends only what happened is asked about; a good, rare or cheap arm is not."""

import numpy as np
import pandas as pd
import pytest

from halfseen import audit

N = 3000


def log(rng, means, rates, only=None, arms=None):
    """Return a log of rewards of 0 and 1, of one arm of which only ones may be written."""
    arm = rng.integers(0, len(means), N) if arms is None else arms
    reward = (rng.random(N) < np.asarray(means)[arm]).astype(float)
    seen = rng.random(N) < np.asarray(rates)[arm]
    if only is not None:
        seen = np.where(arm == only, reward == 1.0, seen)
    return pd.DataFrame({"arm": arm, "reward": np.where(seen, reward, np.nan)})


def one_value(found):
    return [w for w in found.warnings if w.kind == "one-value"]


@pytest.mark.parametrize("rates", [(1.0, 0.6, 0.6), (1.0, 1.0, 1.0)])
def test_an_arm_that_sends_only_conversions_is_asked_about(rates):
    frame = log(np.random.default_rng(0), (0.3, 0.35, 0.4), rates, only=0)
    found = audit(frame, action="arm", reward="reward")
    (warning,) = one_value(found)
    assert warning.facts["arms"] == ["0"]
    assert warning.facts["values"] == [1.0]
    assert not warning.voids
    assert "Is that so, or are only successes recorded for it?" in warning.finding
    assert "“0” is best among what was seen" in str(found.best)
    assert "But this does not hold if only successes are recorded for “0”: see the warning." in str(
        found
    )


@pytest.mark.slow
def test_arms_with_means_near_1_or_few_rewards_are_not_asked_about():
    for seed in range(2):
        rng = np.random.default_rng(seed)
        good = log(rng, (0.99, 0.995, 0.999), rng.permutation([0.3, 0.6, 0.6]))
        rare = log(rng, rng.beta(2, 2, 100), rng.choice([0.3, 0.6], 100))
        seldom = log(rng, (0.01, 0.002, 0.05), (0.3, 0.6, 0.6))
        for frame in (good, rare, seldom):
            assert not one_value(audit(frame, action="arm", reward="reward"))


def test_an_arm_with_a_price_of_its_own_is_not_asked_about():
    rng = np.random.default_rng(0)
    frame = log(rng, (0.3, 0.35, 0.4), (0.3, 0.6, 0.6))
    frame["reward"] *= np.array([4.99, 9.99, 19.99])[frame.arm]
    frame.loc[(frame.arm == 0) & frame.reward.notna(), "reward"] = 4.99
    found = audit(frame, action="arm", reward="reward")
    assert not one_value(found)


def test_an_arm_that_always_earns_where_rates_differ_is_a_note():
    frame = log(np.random.default_rng(0), (1.0, 0.5, 0.7), (0.3, 0.6, 0.85))
    found = audit(frame, action="arm", reward="reward")
    assert not one_value(found)
    assert any(note.startswith("Every reward seen of “0” is 1.") for note in found.notes)
