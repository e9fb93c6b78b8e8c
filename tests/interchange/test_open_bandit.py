"""There and back again."""

import numpy as np
import pytest

from halfseen import InvalidInput, audit
from halfseen.interchange import from_open_bandit, to_open_bandit

ROWS = {
    "offer": ["b", "a", "a", "c"],
    "sold": [1.0, None, 0.0, 2.0],
    "chance": [0.2, 0.5, 0.5, 0.3],
    "age": [1.0, 2.0, 3.0, 4.0],
}


def test_there_and_back():
    columns = {"action": "offer", "reward": "sold", "propensity": "chance"}
    feedback = to_open_bandit(ROWS, **columns, features=["age"])
    assert (feedback["n_rounds"], feedback["n_actions"]) == (4, 3)
    known = "action action_context context n_actions n_rounds position pscore reward"
    assert sorted(feedback) == known.split()
    order = np.argsort(feedback["context"][:, 0])
    assert feedback["action"][order].tolist() == [1, 0, 0, 2]
    assert feedback["pscore"][order].tolist() == ROWS["chance"]
    back = from_open_bandit(feedback)
    found = audit(back, action="action", reward="reward", propensity="propensity")
    assert found.counts.seen.tolist() == [1, 1, 1]
    assert found.counts.rows.tolist() == [2, 1, 1]
    assert np.sort(back["context_0"]).tolist() == ROWS["age"]


def test_seen_only_and_shares_for_propensities():
    feedback = to_open_bandit(ROWS, action="offer", reward="sold", seen_only=True)
    assert feedback["n_rounds"] == 3
    assert not np.isnan(feedback["reward"]).any()
    assert sorted(feedback["pscore"]) == [0.25, 0.25, 0.5]
    assert feedback["context"].shape == (3, 1)


def test_bad_input():
    with pytest.raises(InvalidInput, match="must hold 'reward'"):
        from_open_bandit({"action": [1]})
    with pytest.raises(InvalidInput, match="one length"):
        from_open_bandit({"action": [1], "reward": [1.0, 2.0]})


def test_open_bandit_pipeline_itself_takes_and_gives_it():
    ope = pytest.importorskip("obp.ope")
    dataset = pytest.importorskip("obp.dataset")
    rng = np.random.default_rng(0)
    arm = rng.integers(0, 3, 400)
    reward = np.where(rng.random(400) < 0.5, rng.random(400) < 0.2 + 0.3 * arm, np.nan)
    rows = {"a": arm, "r": reward, "p": np.full(400, 1 / 3)}
    feedback = to_open_bandit(rows, action="a", reward="r", propensity="p", seen_only=True)
    always = np.zeros((feedback["n_rounds"], 3, 1))
    always[:, 2] = 1.0
    weighted = ope.OffPolicyEvaluation(feedback, [ope.InverseProbabilityWeighting()])
    value = weighted.estimate_policy_values(action_dist=always)["ipw"]
    seen = ~np.isnan(reward)
    assert value == pytest.approx(np.mean(np.where(arm[seen] == 2, 3 * reward[seen], 0.0)))

    theirs = dataset.SyntheticBanditDataset(n_actions=4, dim_context=2, random_state=1)
    drawn = theirs.obtain_batch_bandit_feedback(n_rounds=500)
    back = from_open_bandit(drawn)
    found = audit(back, action="action", reward="reward", propensity="propensity")
    assert found.counts.rows.tolist() == np.bincount(drawn["action"]).tolist()
    assert back["context_1"].tolist() == drawn["context"][:, 1].tolist()
