"""There and back again."""

import numpy as np
import pytest

from halfseen import InvalidInput, audit
from halfseen.integrations import from_open_bandit, to_open_bandit

ROWS = {
    "offer": ["b", "a", "a", "c"],
    "sold": [1.0, None, 0.0, 2.0],
    "chance": [0.2, 0.5, 0.5, 0.3],
    "age": [1.0, 2.0, 3.0, 4.0],
}


OFFERS = {"action": "offer", "reward": "sold", "propensity": "chance"}


def test_there_and_back():
    columns = {"action": "offer", "reward": "sold", "propensity": "chance"}
    feedback = to_open_bandit(ROWS, **columns, features=["age"])
    assert (feedback["n_rounds"], feedback["n_actions"]) == (4, 3)
    known = "action action_context context n_actions n_rounds observed position pscore reward"
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
    assert feedback["pscore"] == pytest.approx([1 / 3] * 3)  # each one of the three seen
    assert feedback["context"].shape == (3, 1)


def weighted_value(feedback, policy):
    """Return the value of a policy by inverse propensities, as Open Bandit Pipeline computes it."""
    return float(np.mean(feedback["reward"] * policy / feedback["pscore"]))


def table(cells):
    """Return a log with exact counts from cells (arm, rows, rate, mean, chance, context)."""
    rows = {"a": [], "r": [], "p": [], "x": []}
    for arm, count, rate, mean, chance, context in cells:
        seen, ones = round(count * rate), round(count * rate * mean)
        rows["a"] += [arm] * count
        rows["r"] += [1.0] * ones + [0.0] * (seen - ones) + [None] * (count - seen)
        rows["p"] += [chance] * count
        rows["x"] += [context] * count
    return rows


COLUMNS = {"action": "a", "reward": "r", "propensity": "p"}


@pytest.mark.parametrize("observe", [None, {"0": 0.2, "1": 0.9}])
def test_seen_rows_alone_give_the_value_over_all_decisions(observe):
    rows = table([("0", 1000, 0.2, 0.6, 0.5, 0.0), ("1", 1000, 0.9, 0.4, 0.5, 0.0)])
    feedback = to_open_bandit(rows, **COLUMNS, seen_only=True, observe=observe)
    policy = np.array([0.7, 0.3])[feedback["action"]]
    assert feedback["n_rounds"] == 1100
    assert weighted_value(feedback, policy) == pytest.approx(0.54, abs=1e-12)  # was .348


def test_seen_rows_alone_give_the_value_where_propensities_depend_on_a_context():
    chance = {("0", 0): 0.8, ("1", 0): 0.2, ("0", 1): 0.3, ("1", 1): 0.7}
    mean = {("0", 0): 0.6, ("1", 0): 0.4, ("0", 1): 0.1, ("1", 1): 0.9}
    rate = {"0": 0.2, "1": 0.9}
    decisions = {0: 4000, 1: 6000}
    cells = [
        (arm, round(decisions[x] * p), rate[arm], mean[arm, x], p, float(x))
        for (arm, x), p in chance.items()
    ]
    feedback = to_open_bandit(table(cells), **COLUMNS, features=["x"], seen_only=True)
    wanted = {("0", 0): 0.5, ("1", 0): 0.5, ("0", 1): 0.1, ("1", 1): 0.9}
    places = zip(feedback["action"], feedback["context"][:, 0], strict=True)
    policy = np.array([wanted[str(arm), int(x)] for arm, x in places])
    truth = 0.4 * (0.5 * 0.6 + 0.5 * 0.4) + 0.6 * (0.1 * 0.1 + 0.9 * 0.9)
    assert weighted_value(feedback, policy) == pytest.approx(truth, abs=1e-12)


def doubly_robust(feedback, policy, q):
    """Return the direct method and the doubly robust value as Open Bandit Pipeline computes them.

    `policy` and `q` hold one column per arm.
    """
    rows = np.arange(feedback["n_rounds"])
    weight = policy[rows, feedback["action"]] / feedback["pscore"]
    direct = (policy * q).sum(axis=1)
    robust = direct + weight * (feedback["reward"] - q[rows, feedback["action"]])
    return direct.mean(), robust.mean()


def test_weighted_rows_give_every_estimator_the_contexts_of_all_decisions():
    # p depends on the context: that of the seen rows is not that of all decisions.
    rate = {("0", 0): 0.1, ("1", 0): 0.9, ("0", 1): 0.8, ("1", 1): 0.2}
    mean = {("0", 0): 0.6, ("1", 0): 0.4, ("0", 1): 0.1, ("1", 1): 0.9}
    cells = [(arm, 1000, p, mean[arm, x], 0.5, float(x)) for (arm, x), p in rate.items()]
    rows = table(cells) | {"seen": [p for p in rate.values() for _ in range(1000)]}
    options = {"features": ["x"], "observe": "seen"}
    truth = 0.5 * (0.5 * 0.6 + 0.5 * 0.4) + 0.5 * (0.1 * 0.1 + 0.9 * 0.9)
    wanted = np.array([[0.5, 0.5], [0.1, 0.9]])
    right = np.array([[0.6, 0.4], [0.1, 0.9]])

    whole = to_open_bandit(rows, **COLUMNS, weighted=True, **options)
    place = whole["context"][:, 0].astype(int)
    policy = wanted[place]
    assert whole["n_rounds"] == 4000
    assert whole["observed"].sum() == 2000
    assert whole["reward"][~whole["observed"]].tolist() == [0.0] * 2000
    logged = policy[np.arange(4000), whole["action"]]
    assert weighted_value(whole, logged) == pytest.approx(truth, abs=1e-12)
    assert doubly_robust(whole, policy, right[place]) == pytest.approx([truth] * 2, abs=1e-12)
    wrong = np.full((4000, 2), 0.3)  # a regression that has learned nothing
    assert doubly_robust(whole, policy, wrong)[1] == pytest.approx(truth, abs=1e-12)

    some = to_open_bandit(rows, **COLUMNS, seen_only=True, **options)
    there = some["context"][:, 0].astype(int)
    logged = wanted[there][np.arange(2000), some["action"]]
    assert weighted_value(some, logged) == pytest.approx(truth, abs=1e-12)


def test_weighted_rows_come_back_with_missing_rewards_missing():
    feedback = to_open_bandit(ROWS | {"sold": [1.0, None, 0.0, 2.0]}, **OFFERS, weighted=True)
    assert feedback["pscore"] == pytest.approx([0.2, np.inf, 0.5 * 0.5, 0.3])
    for name in ("reward", "propensity"):
        assert np.isnan(from_open_bandit(feedback)[name]).tolist() == [False, True, False, False]


def test_weights_that_cannot_be_are_refused():
    with pytest.raises(InvalidInput, match="cannot come with `seen_only`"):
        to_open_bandit(ROWS, **OFFERS, seen_only=True, weighted=True)
    rows = ROWS | {"p": [0.5, None, 0.0, 1.2]}
    with pytest.raises(InvalidInput, match="2 other cells in column p"):
        to_open_bandit(rows, **OFFERS, weighted=True, observe="p")


def test_arms_never_seen_and_arms_without_a_given_rate_are_refused():
    rows = {"a": ["x", "y"], "r": [1.0, None]}
    with pytest.raises(InvalidInput, match="none of y"):
        to_open_bandit(rows, action="a", reward="r", seen_only=True)
    rows = {"a": ["x", "y"], "r": [1.0, 0.0]}
    with pytest.raises(InvalidInput, match="must name every arm of the log; got 'y'"):
        to_open_bandit(rows, action="a", reward="r", seen_only=True, observe={"x": 0.5})


def test_bad_input():
    with pytest.raises(InvalidInput, match="must hold 'reward'"):
        from_open_bandit({"action": [1]})
    with pytest.raises(InvalidInput, match="one length"):
        from_open_bandit({"action": [1], "reward": [1.0, 2.0]})


def their_estimate(feedback, choice):
    """Return what obp's InverseProbabilityWeighting does; obp itself needs Python below 3.11."""
    rounds = np.arange(feedback["n_rounds"])
    chance = choice[rounds, feedback["action"], feedback["position"] or 0]
    return np.mean(chance * feedback["reward"] / feedback["pscore"])


def test_their_estimator_gives_the_value_of_the_whole_log_by_hand():
    rng = np.random.default_rng(0)
    arm = rng.integers(0, 3, 400)
    reward = np.where(rng.random(400) < 0.5, rng.random(400) < 0.2 + 0.3 * arm, np.nan)
    rows = {"a": arm, "r": reward, "p": np.full(400, 1 / 3)}
    feedback = to_open_bandit(rows, action="a", reward="r", propensity="p", seen_only=True)
    always = np.zeros((feedback["n_rounds"], 3, 1))
    always[:, 2] = 1.0
    third = arm == 2
    rate = np.mean(~np.isnan(reward[third]))
    by_hand = np.nansum(np.where(third, 3 * reward, 0.0)) / rate / 400
    assert their_estimate(feedback, always) == pytest.approx(by_hand)

    whole = to_open_bandit(rows, action="a", reward="r", propensity="p", weighted=True)
    always = np.zeros((400, 3, 1))
    always[:, 2] = 1.0
    assert their_estimate(whole, always) == pytest.approx(by_hand)


def test_feedback_as_their_synthetic_dataset_gives_it_can_be_audited():
    rng = np.random.default_rng(1)
    action = rng.integers(0, 4, 500)
    drawn = {
        "n_rounds": 500,
        "n_actions": 4,
        "context": rng.normal(size=(500, 2)),
        "action_context": np.eye(4, dtype=int),
        "action": action,
        "position": None,
        "reward": (rng.random(500) < 0.3).astype(int),
        "expected_reward": rng.random((500, 4)),
        "pi_b": np.full((500, 4, 1), 0.25),
        "pscore": np.full(500, 0.25),
    }
    back = from_open_bandit(drawn)
    found = audit(back, action="action", reward="reward", propensity="propensity")
    assert found.counts.rows.tolist() == np.bincount(action).tolist()
    assert back["context_1"].tolist() == drawn["context"][:, 1].tolist()


@pytest.mark.parametrize("observe", [{"a": 0.5, "b": 1.0}, "p"])
def test_probabilities_of_being_seen_that_nothing_would_use_are_refused(observe):
    rows = {"offer": ["a", "b"], "sold": [1.0, None], "p": [0.5, 1.0]}
    with pytest.raises(InvalidInput, match="`observe` needs `weighted` or `seen_only`"):
        to_open_bandit(rows, action="offer", reward="sold", observe=observe)
