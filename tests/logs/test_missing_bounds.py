"""Bounds of means when missing rewards may differ from seen ones."""

import itertools
import math

import numpy as np
import pytest

from halfseen import InvalidInput, audit
from halfseen.logs import reward_cells
from halfseen.logs.missing_bounds import expectile_bounds, mean_bounds, tipping_gamma
from halfseen.logs.seen_rewards import SeenRewards
from halfseen.logs.sentences import missing_in_words

SEVEN = [0.1, 0.2, 0.2, 0.5, 0.7, 0.9, 1.0]


def log(**arms):
    """Return a log from lists of rewards, None for a missing one."""
    rows = [(name, value) for name, values in arms.items() for value in values]
    return {"a": [name for name, _ in rows], "r": [value for _, value in rows]}


def rewards_of(**arms):
    return audit(log(**arms), action="a", reward="r").rewards


def shares(ones, seen, rows):
    return [1] * ones + [0] * (seen - ones) + [None] * (rows - seen)


def test_golden_worst_case():
    bounds = mean_bounds(rewards_of(a=shares(28, 40, 100)), math.inf)
    assert (bounds.low[0], bounds.high[0]) == pytest.approx((0.28, 0.88), abs=1e-12)


@pytest.mark.parametrize(
    ("gamma", "low", "high"),
    [(1, 3.6 / 7, 3.6 / 7), (2, 0.41, 0.62), (5, 0.294736842105, 0.746666666667), (1e15, 0.1, 1)],
)
def test_golden_expectiles(gamma, low, high):
    found = expectile_bounds(rewards_of(a=SEVEN), gamma)
    assert [found[0][0], found[1][0]] == pytest.approx([low, high], abs=1e-12)


def test_golden_standard_errors():
    found = mean_bounds(rewards_of(a=[*SEVEN, None, None, None]), 2.0)
    assert [found.low[0], found.high[0]] == pytest.approx([0.483, 0.546], abs=1e-12)
    errors = [found.low_error[0], found.high_error[0]]
    assert errors == pytest.approx([0.125235538087, 0.126867489926], abs=1e-12)


def test_golden_tipping_gamma():
    found = tipping_gamma(rewards_of(a=shares(30, 50, 100), b=shares(20, 50, 80)))
    assert (found.best, found.rival) == ("a", "b")
    assert found.gamma == pytest.approx(2.53846153846, abs=1e-11)


@pytest.mark.parametrize("gamma", [1.0, 1.7, 4.0, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_sharp_among_all_weights(gamma, seed):
    values = np.random.default_rng(seed).normal(size=8).round(1)
    rewards = rewards_of(a=values.tolist())
    weights = np.array(list(itertools.product([1.0, gamma], repeat=8)))  # extreme points
    means = weights @ values / weights.sum(axis=1)
    low, high = expectile_bounds(rewards, gamma)
    assert [low[0], high[0]] == pytest.approx([means.min(), means.max()], abs=1e-12)


@pytest.mark.parametrize("gamma", [1.0, 2.5, 40.0])
def test_rewards_of_0_or_1_have_a_closed_form(gamma):
    s = 13 / 37
    low, high = expectile_bounds(rewards_of(a=shares(13, 37, 60)), gamma)
    assert low[0] == pytest.approx(s / (s + gamma * (1 - s)), abs=1e-14)
    assert high[0] == pytest.approx(gamma * s / (gamma * s + 1 - s), abs=1e-14)


@pytest.mark.slow
def test_standard_errors_are_those_of_repeated_logs():
    rng = np.random.default_rng(0)
    ends, errors = [], []
    for _ in range(300):
        values = np.where(rng.random(400) < 0.6, rng.exponential(size=400), np.nan)
        bounds = mean_bounds(rewards_of(a=values.tolist()), 3.0)
        ends.append((bounds.low[0], bounds.high[0]))
        errors.append((bounds.low_error[0], bounds.high_error[0]))
    spread = np.std(ends, axis=0)  # of 300: known within 4%
    assert np.mean(errors, axis=0) == pytest.approx(spread, rel=0.13)


def test_the_truth_lies_within_the_bounds_of_its_own_gamma():
    rng = np.random.default_rng(1)
    rewards = rng.normal(size=200_000)
    odds = np.exp(rng.permutation([0.0, math.log(3.0)]))  # seen with odds 1 or 3
    seen = rng.random(200_000) < 1 / (1 + 1 / np.where(rewards > 0.3, *odds))
    rows = {"a": np.zeros(200_000, int), "r": np.where(seen, rewards, np.nan)}
    known = audit(rows, action="a", reward="r").rewards
    inside = mean_bounds(known, 3.0)
    assert inside.low[0] - 0.01 < 0.0 < inside.high[0] + 0.01
    assert not mean_bounds(known, 1.0).low[0] - 0.05 < 0.0 < mean_bounds(known, 1.0).high[0] + 0.05


def test_tipping_is_1_for_a_tie_and_infinite_where_the_worst_case_separates():
    tie = tipping_gamma(rewards_of(a=[1, 0, None], b=[1, 0, None, None]))
    assert (tie.gamma, tie.rival) == (1.0, "b")
    apart = tipping_gamma(rewards_of(a=shares(90, 95, 100), b=shares(5, 95, 100)))
    assert (apart.gamma, apart.rival) == (math.inf, None)
    assert tipping_gamma(rewards_of(a=[1, 0, None])).gamma == math.inf


def test_an_arm_that_showed_one_value_only_tips_in_the_worst_case():
    rows = log(a=[1] * 60 + [None] * 140, b=[1] * 80 + [0] * 80 + [None] * 40)
    found = audit(rows, action="a", reward="r")
    assert (found.tipping.gamma, found.tipping.rival) == (math.inf, "b")
    assert found.bounds(math.inf).safe == "b"
    said = " ".join(missing_in_words(found))
    assert "if missing rewards can be values that were never seen of an arm, “b” may be" in said
    assert "however much" not in said


@pytest.mark.parametrize("seed", range(6))
def test_tipping_gamma_is_where_the_bounds_meet(seed):
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, 5, 300)
    gone = rng.random(300) < rng.random(5)[arm]
    rewards = np.where(gone, np.nan, rng.normal(size=300) + arm / 5)
    known = audit({"a": arm, "r": rewards}, action="a", reward="r").rewards
    found = tipping_gamma(known)
    best = int(np.argmax(known.mean))
    assert known.names[best] == found.best

    def apart(gamma):
        bounds = mean_bounds(known, gamma)
        return np.delete(bounds.high, best).max() - bounds.low[best]

    assert found.gamma > 1
    assert apart(found.gamma * (1 + 1e-9)) > 0 > apart(found.gamma * (1 - 1e-9))


def test_safe_arm_and_least_regret_arm_by_enumeration():
    rng = np.random.default_rng(3)
    arm = rng.integers(0, 6, 400)
    rewards = np.where(rng.random(400) < 0.2 + arm / 8, rng.random(400) < 0.5, np.nan)
    bounds = mean_bounds(audit({"a": arm, "r": rewards}, action="a", reward="r").rewards, 2.0)
    worst = [
        max(max(bounds.high[b] for b in range(6) if b != a) - bounds.low[a], 0.0) for a in range(6)
    ]
    assert bounds.least_regret == bounds.names[int(np.argmin(worst))]
    assert bounds.regret == min(worst)
    assert bounds.safe == bounds.names[max(range(6), key=lambda a: bounds.low[a])]


def test_arms_never_seen_are_named_and_change_nothing_for_the_others():
    some = {"a": shares(30, 50, 100), "b": shares(20, 50, 80)}
    with_another = rewards_of(**some, c=[None, None])
    assert with_another.never_seen == ("c",)
    assert tipping_gamma(with_another).gamma == tipping_gamma(rewards_of(**some)).gamma


def test_bins_of_a_large_log_give_the_bounds_of_every_value(monkeypatch):
    rng = np.random.default_rng(5)
    arm = rng.integers(0, 3, 30_000)
    rewards = np.where(rng.random(30_000) < 0.5, rng.lognormal(arm / 4, 1.0), np.nan)
    rows = {"a": arm, "r": rewards}
    exact = audit(rows, action="a", reward="r").rewards
    monkeypatch.setattr(reward_cells, "EXACT", 100)
    binned = audit(rows, action="a", reward="r").rewards
    assert len(binned.values) < 3 * 1002 < len(exact.values)
    for gamma in (1.0, 2.0, 20.0):
        ours, whole = mean_bounds(binned, gamma), mean_bounds(exact, gamma)
        assert ours.low == pytest.approx(whole.low, abs=2e-4)
        assert ours.high == pytest.approx(whole.high, abs=2e-4)
        assert ours.high_error == pytest.approx(whole.high_error, rel=0.01)


def test_whole_numbers_in_bins_stay_exact(monkeypatch):
    rng = np.random.default_rng(6)
    rows = {"a": rng.integers(0, 3, 3000), "r": rng.integers(1, 6, 3000).astype(float)}
    exact = audit(rows, action="a", reward="r").rewards
    monkeypatch.setattr(reward_cells, "EXACT", 100)
    binned = audit(rows, action="a", reward="r").rewards
    np.testing.assert_array_equal(binned.values, exact.values)
    np.testing.assert_array_equal(binned.counts, exact.counts)


def test_of_very_many_arms_those_seen_most_are_bounded(monkeypatch):
    monkeypatch.setattr(reward_cells, "ARMS", 2)
    rewards = rewards_of(a=[1.5, 2.0], b=[0.5], c=[0.1, 0.2, 0.3])
    assert (rewards.names, rewards.left_out) == (("a", "c"), 1)
    assert rewards.mean == pytest.approx([1.75, 0.2])


def test_no_rewards_no_bounds():
    found = audit({"a": [1, 2], "o": [True, False]}, action="a", observed="o")
    assert found.rewards is None
    assert found.to_dict()["missing_differ"] is None
    with pytest.raises(InvalidInput, match="must hold rewards"):
        found.bounds()
    with pytest.raises(InvalidInput, match="gamma"):
        audit(log(a=[1.0]), action="a", reward="r").bounds(0.5)


def test_the_page_the_text_and_the_dictionary_say_what_it_takes():
    rows = log(a=shares(30, 50, 100), b=shares(20, 50, 80))
    found = audit(rows, action="a", reward="r")
    assert "differ 2.5-fold between good and bad rewards, “b” may be as good" in str(found)
    told = found.to_dict()["missing_differ"]
    assert told["tipping_gamma"] == pytest.approx(2.53846153846)
    worst = told["levels"][-1]
    assert worst["worst_case"]
    assert worst["gamma"] is None
    assert (worst["arms"][0]["low"], worst["arms"][0]["high"]) == pytest.approx((0.3, 0.8))
    assert worst["safe_arm"] == "a"
    whole = audit(log(a=[1.0], b=[0.5]), action="a", reward="r")
    assert "may be as good" not in str(whole)


def three_arms(means, seed, rows=600):
    rng = np.random.default_rng(seed)
    arm = np.arange(rows) % 3
    sold = np.where(rng.random(rows) < 0.7, rng.random(rows) < np.array(means)[arm], np.nan)
    return audit({"a": np.array(list("ABC"))[arm], "r": sold}, action="a", reward="r")


@pytest.mark.slow
def test_the_safest_arm_is_named_only_beyond_sampling_error():
    close = [three_arms([0.50, 0.49, 0.48], seed) for seed in range(10)]
    assert sum(found.bounds(2.0).safe_shown() for found in close) <= 1
    text = str(close[0])
    assert "the safest arm is not determined yet" in text
    assert "is the safest arm" not in text
    assert "Sampling error aside: if the odds" in text
    apart = three_arms([0.9, 0.3, 0.3], 0)
    assert "“A” is the safest arm (a mean of at least" in str(apart)
    bounds = apart.bounds(2.0)
    assert bounds.widened().regret >= bounds.regret
    assert bounds.widened().low[0] < bounds.low[0]
    level = apart.to_dict()["missing_differ"]["levels"][1]
    assert level["safe_arm_shown"] is True
    assert level["regret_with_sampling_error"] == pytest.approx(bounds.widened().regret)


def test_an_arm_whose_few_rewards_do_not_vary_is_not_called_safest():
    found = audit(log(a=shares(3, 3, 6), b=shares(20, 50, 80)), action="a", reward="r")
    assert found.bounds(2.0).safe == "a"
    assert not found.bounds(2.0).safe_shown()
    assert missing_in_words(found)[-1].endswith("the safest arm is not determined yet.")


def test_an_arm_of_equal_rewards_has_an_error_and_can_be_told_from_a_better_one():
    found = audit(log(a=shares(0, 140, 190), b=shares(85, 140, 190)), action="a", reward="r")
    bounds = found.bounds(1.0)
    share = 4 / 148  # of ones, after four of each value more
    assert bounds.low_error[0] == pytest.approx(math.sqrt(share * (1 - share) / 140), rel=1e-9)
    assert bounds.low_error[1] == pytest.approx(math.sqrt(89 * 59 / 148**2 / 140), rel=1e-9)
    assert "“b” is the safest arm" in missing_in_words(found)[-1]
    amounts = [0.0] * 140 + [None] * 50
    dead = audit(
        log(a=amounts, b=[5.0, 10.0] * 60 + [0.0] * 20 + [None] * 50), action="a", reward="r"
    )
    spread = 4 / 148 * 100 - (4 / 148 * 10) ** 2
    assert dead.bounds(1.0).low_error[0] == pytest.approx(math.sqrt(spread / 140), rel=1e-9)
    assert "“b” is the safest arm" in missing_in_words(dead)[-1]


def cells_of(arms):
    """Return rewards of arms, given as arrays with NaN for a missing one."""
    found = [np.unique(values[~np.isnan(values)], return_counts=True) for values in arms]
    sizes = np.array([len(values) for values, _ in found])
    values, counts = (np.concatenate(column) for column in zip(*found, strict=True))
    rows, seen = ([len(x) for x in arms], [int(times.sum()) for _, times in found])
    return SeenRewards(
        names=tuple("abcdef"[: len(arms)]),
        never_seen=(),
        left_out=0,
        rows=np.array(rows, float),
        seen=np.array(seen),
        starts=np.cumsum(sizes) - sizes,
        values=values,
        counts=counts.astype(float),
        within=np.zeros(len(values)),
        least=values.min(),
        most=values.max(),
    )


@pytest.mark.slow
@pytest.mark.parametrize("rows", [(100, 100), (600, 60), (20, 100), (15, 2000)])
@pytest.mark.parametrize("mean", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("sizes", [(1.0,), (5.0, 10.0, 50.0)])
def test_no_arm_is_called_safest_by_luck(sizes, mean, rows):
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(500):
        paid = [np.where(rng.random(n) < mean, rng.choice(sizes, n), 0.0) for n in rows]
        arms = [np.where(rng.random(len(r)) < 0.4, np.nan, r) for r in paid]
        wrong += mean_bounds(cells_of(arms), 2.0).safe_shown()
    assert wrong <= 500 * 0.05 + 3 * math.sqrt(500 * 0.05 * 0.95)


def test_of_very_many_arms_of_0_and_1_those_seen_most_are_bounded(monkeypatch):
    monkeypatch.setattr("halfseen.logs.reward_cells.ARMS", 3)
    names = [name for name, rows in zip("abcde", (9, 4, 8, 3, 7), strict=True) for _ in range(rows)]
    found = audit({"arm": names, "r": [1.0, 0.0, None] * 10 + [1.0]}, action="arm", reward="r")
    assert (found.rewards.names, found.rewards.left_out) == (("a", "c", "e"), 2)
    assert found.to_dict()["missing_differ"]["arms_left_out"] == 2
