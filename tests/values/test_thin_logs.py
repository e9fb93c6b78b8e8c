"""Logs that say little: cells of few rewards, arms never seen, rewards of one value."""

import math

import numpy as np
import pytest

from halfseen import InvalidInput, value

COLUMNS = {"action": "arm", "reward": "paid"}


def three_arms():
    """Return a log of three arms played alike, one of which is never seen."""
    return {
        "arm": ["x"] * 300 + ["y"] * 300 + ["z"] * 300,
        "paid": [1.0, 0.0, None] * 100 + [1.0, 0.0, 0.0] * 100 + [None] * 300,
        "chance": [1 / 3] * 900,
    }


def test_an_arm_never_seen_does_not_block_a_policy_that_does_not_play_it():
    found = value(three_arms(), target={"x": 1}, propensity="chance", **COLUMNS)
    assert found.value == pytest.approx(0.5)
    assert found.difference is None
    assert found.warnings == (
        "No reward was seen of z, which the logging policy plays: there is no comparison with it.",
    )
    other = value(three_arms(), target={"x": 1}, compare={"y": 1}, propensity="chance", **COLUMNS)
    assert other.difference.value == pytest.approx(0.5 - 1 / 3)
    with pytest.raises(InvalidInput, match=r"arm z \(no reward seen\)"):
        value(three_arms(), target={"z": 1}, propensity="chance", **COLUMNS)


def test_propensities_are_scaled_to_the_arms_that_are_left():
    options = COLUMNS | {"propensity": "chance", "drop_arms": ["z"]}
    found = value(three_arms(), target={"x": 1}, **options)
    by = {one.name: one.value for one in found.alternatives}
    assert by["IPW"] == pytest.approx(0.5)  # 3/4 if they stay 1/3
    assert "renormalised over the remaining arms" in " ".join(found.notes)
    assert found.diagnostics.mean_weight == pytest.approx(1.0)
    assert found.certain < 0.5
    rows = three_arms()
    rows["chance"][0] = 0.3
    with pytest.raises(InvalidInput, match="the same in every row of an arm and context"):
        value(rows, target={"x": 1}, **options)


def test_nothing_is_certain_where_the_mean_weight_is_far_from_1():
    options = COLUMNS | {"propensity": "chance", "where": "arm <> 'z'"}
    found = value(three_arms(), target={"x": 1}, **options)
    assert found.diagnostics.mean_weight == pytest.approx(1.5)
    assert found.certain is None


def test_a_log_of_conversions_only_is_refused():
    rows = {"arm": ["a", "b"] * 50, "paid": [1.0, None, None, 1.0] * 25}
    with pytest.raises(InvalidInput, match=r"Every reward in this log is 1.*empty means 0"):
        value(rows, target={"a": 1}, **COLUMNS)
    assert value(rows, target={"a": 1}, empty_means=0.0, **COLUMNS).value == pytest.approx(0.5)


def test_rows_without_an_arm_are_told():
    rows = {"arm": ["a", "b", None, "a"] * 10, "paid": [1.0, 0.0, 1.0, 0.0] * 10}
    found = value(rows, target={"a": 1}, **COLUMNS)
    assert "10 rows name no arm and are left out." in found.notes


def test_policies_that_are_the_same_are_said_to_be():
    rows = {"arm": ["a", "b"] * 50, "paid": [1.0, 0.0, None, 1.0] * 25}
    found = value(rows, target={"a": 1}, compare={"a": 1}, **COLUMNS)
    assert found.verdict == "On this log it is the same policy as always a."
    shares = {"a": 1 / 3, "b": 2 / 3}
    rows = {"arm": ["a", "b", "b"] * 40, "paid": [1.0, 0.0, None, 0.0] * 30}
    assert "the same policy as the logging" in value(rows, target=shares, **COLUMNS).verdict
    assert "at 1 they need not equal the estimate" in str(found)


def test_standard_errors_count_what_a_mean_takes_from_its_cell():
    # Arm b in u: 3 rewards, in v: 1. Shares of the contexts 1/4 and 3/4; propensities differ from
    # the shares of the arms: what counts is how often the policy plays, not their ratio.
    u = [("u", "b", r, 0.5) for r in (1.0, 1.0, 0.0, None)] + [("u", "a", 0.0, 0.5)] * 16
    v = [("v", "b", 1.0, 0.5), ("v", "b", None, 0.5)] + [("v", "a", 0.0, 0.5)] * 58
    names = ("group", "arm", "paid", "chance")
    rows = dict(zip(names, map(list, zip(*u, *v, strict=True)), strict=True))
    options = COLUMNS | {"propensity": "chance", "context": "group", "compare": None}
    found = value(rows, target={"b": 1}, **options)
    assert found.value == pytest.approx(0.25 * 2 / 3 + 0.75)
    spread = 1 / 3  # of the three rewards; that of the single one is its arm's
    means = 80 / 79 * (0.25**2 * spread / 3 + 0.75**2 * spread)
    contexts = 0.1875 * (1 / 3) ** 2 / 79
    # The influence values of seen rows also hold their context's mean; the cross terms vanish.
    assert found.standard_error == pytest.approx(math.sqrt(means + contexts), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("contexts", "rare"), [(20, 0.05), (30, 0.08)])
def test_intervals_cover_with_three_or_four_rewards_in_a_cell(contexts, rare):
    rng = np.random.default_rng(17)
    held, bounded = [], []
    for _ in range(400):
        x, b = rng.integers(contexts, size=3000), rng.random(3000) < rare
        paid = (rng.random(3000) < np.where(b, 0.5, 0.3)).astype(float)
        rows = {
            "x": x,
            "arm": np.where(b, "b", "a"),
            "paid": np.where(rng.random(3000) < 0.5, paid, np.nan),
            "chance": np.where(b, rare, 1 - rare),
        }
        try:
            found = value(rows, target={"b": 1}, context="x", propensity="chance", **COLUMNS)
        except InvalidInput as error:
            low, high = str(error).split("lies between ")[1].split(" at ")[0].split(" and ")
            bounded.append(float(low) <= 0.5 <= float(high))
        else:
            held.append(found.low <= 0.5 <= found.high)
    assert np.mean(held) >= 0.93
    assert np.mean(bounded) > 0.95 if bounded else len(held) == 400


def test_a_cell_of_few_rewards_has_a_variance_near_that_of_its_arm():
    # Two equal rewards of b in u, ten in v of variance 2: four degrees of freedom of the nine that
    # the arm has, 2 * 9/10, for one of the cell's own.
    u = [("u", "b", 1.0)] * 2 + [("u", "a", 0.0)] * 8
    v = [("v", "b", r) for r in (0.0, 1.0, 2.0, 3.0, 4.0) * 2] + [("v", "a", 0.0)] * 10
    rows = dict(zip(("group", "arm", "paid"), map(list, zip(*u, *v, strict=True)), strict=True))
    rows["chance"] = [0.5] * 30
    options = COLUMNS | {"context": "group", "compare": None, "propensity": "chance"}
    found = value(rows, target={"b": 1}, **options)
    of_v, of_arm = 20 / 9, 2.0  # squares 20 over 9, and over 10 in both cells
    of_u = 4 / 5 * of_arm
    means = 30 / 29 * (of_v / 10 * (2 / 3) ** 2 + of_u / 2 * (1 / 3) ** 2)
    contexts = 2 / 9 / 29  # the means of u and v are 1 and 2
    assert found.standard_error == pytest.approx(math.sqrt(means + contexts), rel=1e-9)


def test_a_policy_mostly_where_one_reward_was_seen_has_no_firm_verdict():
    rows = {"x": [*range(40)] * 6, "arm": ["a"] * 120 + ["b"] * 120, "paid": [0.5, 1.0, 2.0] * 80}
    rows["paid"][120:200] = [None] * 80
    found = value(rows, target={"b": 1}, compare=None, context="x", **COLUMNS)
    assert found.diagnostics.thin == 1.0
    assert "100% of the policy's decisions are where at most one reward" in found.verdict
    assert value(rows, target={"a": 1}, compare=None, context="x", **COLUMNS).diagnostics.thin == 0


@pytest.mark.slow
def test_intervals_cover_where_contexts_have_four_real_rewards_or_none():
    rng, held = np.random.default_rng(0), []
    while len(held) < 200:
        mean, rate = rng.uniform(0.05, 0.95, (30, 2)), rng.uniform(0.2, 0.9, (30, 2))
        chance, share = rng.uniform(0.3, 0.7, 30), rng.dirichlet(np.full(30, 20.0))
        x = rng.choice(30, 400, p=share)
        arm = (rng.random(400) < chance[x]).astype(int)
        paid = mean[x, arm] + 0.3 * rng.normal(size=400)
        rows = {
            "x": x,
            "arm": arm,
            "paid": np.where(rng.random(400) < rate[x, arm], paid, np.nan),
            "chance": np.where(arm == 1, chance[x], 1 - chance[x]),
        }
        try:
            found = value(rows, target={"1": 1}, context="x", propensity="chance", **COLUMNS)
        except InvalidInput:  # a cell never played
            continue
        held.append(found.low <= share @ mean[:, 1] <= found.high)
    assert np.mean(held) >= 0.93  # .914 with the variance of each cell alone


@pytest.mark.parametrize("estimator", ["DR", "IPW"])
def test_a_bootstrap_is_not_given_where_an_arm_has_few_rewards(estimator):
    rows = {
        "arm": ["a"] * 100 + ["b"] * 24,
        "paid": [1.0, 0.0] * 50 + [1.0, 0.0, None] * 8,  # 16 rewards of b
    }
    options = COLUMNS | {"interval": "bootstrap", "resamples": 20, "estimator": estimator}
    few = value(rows, target={"b": 1}, **options)
    plain = value(rows, target={"b": 1}, **options | {"interval": "normal"})
    assert few.interval == "normal"
    assert (few.low, few.high) == (plain.low, plain.high)
    assert "There is no bootstrap: where arms have fewer than 20 rewards" in " ".join(few.notes)
    many = value({name: column * 2 for name, column in rows.items()}, target={"b": 1}, **options)
    assert many.interval == "bootstrap"
    known = value(rows, target={"b": 1}, observe={"a": 1, "b": 2 / 3}, **options)
    assert known.interval == ("bootstrap" if estimator == "IPW" else "normal")


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["DR", "IPW"])
@pytest.mark.parametrize(("contexts", "rows"), [(1, 700), (4, 2800)])
def test_bootstrap_intervals_that_are_given_cover(estimator, contexts, rows):
    rng = np.random.default_rng(3)
    options = COLUMNS | {"estimator": estimator, "context": "x", "propensity": "chance"}
    options |= {"interval": "bootstrap", "resamples": 200, "compare": None}
    held = []
    for _ in range(250):
        x, b = rng.integers(contexts, size=rows), rng.random(rows) < 0.08
        paid = (rng.random(rows) < np.where(b, 0.5, 0.3)).astype(float)
        log = {
            "x": x,
            "arm": np.where(b, "b", "a"),
            "paid": np.where(rng.random(rows) < 0.5, paid, np.nan),  # 28 rewards of b in each
            "chance": np.where(b, 0.08, 0.92),
        }
        found = value(log, target={"b": 1}, **options)
        if found.interval == "bootstrap":
            held.append(found.low <= 0.5 <= found.high)
    assert len(held) > 100
    assert np.mean(held) >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / len(held))


def test_nothing_is_certain_where_propensities_are_guessed():
    rng = np.random.default_rng(1)
    x = rng.random(20_000)
    plays = rng.random(20_000) < 0.1 + 0.8 * x
    rows = {"arm": np.where(plays, "b", "a"), "paid": (rng.random(20_000) < x).astype(float)}
    found = value(rows, target={"b": 1}, **COLUMNS)
    assert found.certain is None  # .587 of IPW by shares, where the truth is .5
    assert "Certain" not in str(found)
    known = rows | {"chance": np.where(plays, 0.1 + 0.8 * x, 0.9 - 0.8 * x)}
    found = value(known, target={"b": 1}, propensity="chance", **COLUMNS)
    assert 0.4 < found.certain < 0.5
    assert "if propensities and probabilities of being seen are right" in str(found)


def borrowing(**more):
    """Return a log with a cell, b in v, that was played and never seen."""
    u = [("u", "b", 1.0), ("u", "b", 0.0), ("u", "b", None), ("u", "a", 0.0), ("u", "a", 1.0)] * 40
    v = [("v", "a", 0.0), ("v", "a", 1.0)] * 30 + [("v", "b", None)] * 5
    columns = zip(("group", "arm", "paid"), zip(*u, *v, strict=True), strict=True)
    return {name: list(column) for name, column in columns} | more


def test_a_cell_played_and_never_seen_has_the_mean_of_its_arm_if_propensities_are_known():
    options = COLUMNS | {"context": "group", "compare": None}
    with pytest.raises(InvalidInput, match=r"b in v \(no reward seen\).*name propensity="):
        value(borrowing(), target={"b": 1}, **options)
    rows = borrowing()
    played = [
        {"ub": 0.6, "ua": 0.4, "va": 0.9, "vb": 0.1}[x + a]
        for x, a in zip(rows["group"], rows["arm"], strict=True)
    ]
    found = value(borrowing(chance=played), target={"b": 1}, propensity="chance", **options)
    assert found.value == pytest.approx(0.5)
    assert any("No reward was seen of b in v" in said for said in found.warnings)
    assert not any("below 0.01" in said for said in found.warnings)
    # The mean of b in v may differ from 1/2 as one reward does: 65 of 265 decisions.
    others, borrowed = (200 / 265) ** 2 * 0.25 / 79, (65 / 265) ** 2 * 0.25 * 80 / 79
    assert found.standard_error == pytest.approx(math.sqrt(others + borrowed), rel=0.01)
    by = {one.name: one.value for one in found.alternatives}
    assert by["SNIPW"] == pytest.approx(0.5)
    assert by["IPW"] == pytest.approx(0.5 * 200 / 265, rel=1e-9)


@pytest.mark.slow
def test_intervals_cover_with_cells_that_were_never_seen():
    made = np.random.default_rng(1)
    mean, rate = made.uniform(0.05, 0.5, (30, 2)), made.uniform(0.2, 0.9, (30, 2))
    chance, share = made.uniform(0.3, 0.7, 30), made.dirichlet(np.full(30, 2.0))
    truth, rng = share @ mean[:, 1], np.random.default_rng(2)
    held = []
    for _ in range(200):
        x = rng.choice(30, 1000, p=share)
        arm = (rng.random(1000) < chance[x]).astype(int)
        paid = (rng.random(1000) < mean[x, arm]).astype(float)
        rows = {
            "x": x,
            "arm": arm,
            "paid": np.where(rng.random(1000) < rate[x, arm], paid, np.nan),
            "chance": np.where(arm == 1, chance[x], 1 - chance[x]),
        }
        try:
            found = value(rows, target={"1": 1}, context="x", propensity="chance", **COLUMNS)
        except InvalidInput:  # a cell never played
            continue
        if any("the arm's mean elsewhere" in said for said in found.warnings):
            held.append(found.low <= truth <= found.high)
    assert len(held) > 20
    assert np.mean(held) >= 0.95 - 3 * math.sqrt(0.0475 / len(held))


def test_a_cell_that_chance_does_not_leave_unseen_is_refused():
    rows = borrowing()
    for name, more in (("group", "v"), ("arm", "b"), ("paid", None)):
        rows[name] += [more] * 20
    rows["chance"] = [0.5] * len(rows["arm"])
    options = COLUMNS | {"context": "group", "compare": None, "propensity": "chance"}
    with pytest.raises(InvalidInput, match=r"b in v \(no reward seen\)") as caught:
        value(rows, target={"b": 1}, **options)
    assert 'observe="arms"' in str(caught.value)
    assert "name propensity=" not in str(caught.value)


def test_an_arm_that_chance_left_out_of_a_small_context_is_no_reason_to_refuse():
    rng = np.random.default_rng(0)
    arm, user = rng.integers(0, 2, 200), np.repeat(np.arange(100), 2)
    paid = np.where(rng.random(200) < 0.7, arm + rng.normal(size=200), np.nan)
    rows = {"arm": arm, "paid": paid, "user": user, "chance": np.full(200, 0.5)}
    columns = {"action": "arm", "reward": "paid", "context": "user", "outcome": "arms"}
    options = columns | {"observe": "arms", "target": {"1": 1}}
    found = value(rows, propensity="chance", **options)
    assert found.low < 1.0 < found.high
    assert any("the expected reward there is" in said for said in found.warnings)
    with pytest.raises(InvalidInput, match="never played"):
        value(rows, **options)  # shares of arms say that it has no chance there
    rows["user"] = np.where(arm == 0, "u", "v")  # a hundred rows of one arm: no chance
    with pytest.raises(InvalidInput, match="never played"):
        value(rows, propensity="chance", **options)
