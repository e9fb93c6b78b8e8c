"""The forecast is that of a plain simulation, and honest about what a log leaves open."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from halfseen import InvalidInput, RandomChoice, audit, plan
from halfseen.logs.forecast import Forecast
from halfseen.logs.futures import Followed
from halfseen.logs.goal import Goal
from halfseen.logs.plan import Plan
from halfseen.logs.sentences import outlook_in_words


def followed(good, traffic=10, regret=None):
    """Return futures from the daily shares of decisions that go to a best arm."""
    share = np.array(good, dtype=float)
    decisions = traffic * np.arange(1.0, share.shape[1] + 1)
    lost = np.zeros_like(share) if regret is None else np.array(regret, dtype=float)
    return Followed(decisions, np.cumsum(traffic * share, axis=1), np.cumsum(lost, axis=1))


def test_the_goal_is_the_first_day_from_which_enough_days_together_are_good():
    days = [
        [0.5, 1.0, 1.0, 0.9, 1.0],
        [1.0, 1.0, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 1.0, 0.6],
        [0.8, 1.0, 0.0, 0.0, 0.0],
    ]
    assert Goal(0.9, 2, 0).first_day(followed(days)).tolist() == [2.0, 1.0, math.inf, 1.0]
    assert Goal(0.8, 2, 0).first_day(followed(days)).tolist() == [2.0, 1.0, 4.0, 1.0]
    assert Goal(0.9, 1, 0).first_day(followed(days)).tolist() == [2.0, 1.0, 4.0, 2.0]
    lost = followed(days, regret=[[5, 4, 3, 2, 1]] * 4)
    assert Goal(days=2, kept=0, target=3.0).first_day(lost).tolist() == [3.0] * 4
    assert Goal(days=2, target=3.0).first_day(lost).tolist() == [3.0] * 4


def test_the_goal_must_be_kept_for_as_long_as_it_took():
    days = [
        [0.0, 0.0, 1.0, 0.0, 1.0, 1.0],  # lucky on day 3
        [0.0, 0.0, 1.0, 1.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 1.0, 1.0],  # too late to tell
        [0.0, 1.0, 0.7, 0.0, 0.0, 0.0],
    ]
    assert Goal(0.9, 1).first_day(followed(days)).tolist() == [math.inf, 3.0, math.inf, math.inf]
    assert Goal(0.9, 1, 2 / 3).first_day(followed(days)).tolist() == [math.inf, 3.0, 4.0, math.inf]
    assert Goal(0.9, 1, 0.5).first_day(followed(days)).tolist() == [math.inf, 3.0, 4.0, 2.0]
    assert Goal(0.9, 1, 9.0).first_day(followed(days)).tolist() == [math.inf] * 4


@pytest.mark.slow
def test_arms_that_cannot_be_told_apart_do_not_meet_the_goal_by_luck():
    same = {"traffic": 133, "days": 365, "reward": "bernoulli", "futures": 100}
    lucky = plan([0.5, 0.4999999], [0.8, 0.8], goal_kept=0, **same)
    assert lucky.yours.never == 0.0
    found = plan([0.5, 0.4999999], [0.8, 0.8], **same)
    assert found.yours.never > 0.95
    assert found.everything.never > 0.95
    assert "fewer than 1 in 10 futures get there by day 183, the latest that 365 days" in str(found)
    assert plan([0.5, 0.45], [0.8, 0.8], **same).yours.never == 0.0


def test_the_goal_is_printed_in_words():
    assert str(Goal()) == (
        "the first day d such that of all decisions of days d to d+6 at least 90% go to a best"
        " arm, and again from day d on for as long as it took to get there"
    )
    assert str(Goal(kept=0.0)).endswith("go to a best arm")
    assert str(Goal(kept=0.5)).endswith(
        "from day d on for 0.5 times as long as it took to get there"
    )
    assert "within 0.05 of the best" in str(Goal(close=0.05))
    assert "less than 3 is lost a day" in str(Goal(target=3.0))
    found = plan([0.6, 0.4], [1, 1], traffic=50, days=20, goal_share=0.8, goal_days=3, futures=5)
    assert "days d to d+2 at least 80% go to a best arm" in str(found)
    assert "starts without data" in str(found)


def plain(means, observe, noise, traffic, days, share, window, rng):
    """Play UCB one decision at a time and return the day on which the goal is met."""
    arms, horizon = len(means), traffic * days
    n, s, good = np.zeros(arms), np.zeros(arms), np.zeros(horizon)
    for t in range(horizon):
        index = s / (n + 1) + np.sqrt(6 * noise**2 * math.log(horizon) / (n + 1))
        arm = int(np.argmax(index + max(map(abs, means)) / (n + 1)))
        good[t] = means[arm] == max(means)
        if rng.random() < observe[arm]:
            n[arm] += 1
            s[arm] += means[arm] + noise * rng.standard_normal()
    daily = good.reshape(days, traffic).mean(axis=1)
    for d in range(1, days - window + 2):
        week, as_long = daily[d - 1 : d - 1 + window], daily[d - 1 : 2 * d - 1]
        if 2 * d - 1 <= days and week.mean() >= share and as_long.mean() >= share:
            return d
    return math.inf


@pytest.mark.slow
def test_it_agrees_with_a_plain_simulation_day_by_day():
    rng = np.random.default_rng(0)
    case = ([0.5, 0.0, 0.2], [0.6, 0.9, 0.4], 0.3, 20, 40, 0.8, 3)
    theirs = np.array([plain(*case, rng) for _ in range(120)])
    means, observe, noise, traffic, days, share, window = case
    found = plan(
        means,
        observe,
        traffic=traffic,
        days=days,
        noise=noise,
        goal_share=share,
        goal_days=window,
        futures=600,
    )
    ours, theirs = np.minimum(found.yours.days, 60), np.minimum(theirs, 60)
    error = math.hypot(ours.std() / math.sqrt(600), theirs.std() / math.sqrt(120))
    assert ours.mean() == pytest.approx(theirs.mean(), abs=3.5 * error)
    assert 3 < theirs.mean() < 40


def test_the_day_does_not_depend_on_a_grid_or_much_on_the_length_of_the_plan():
    easy = plan([0.9, 0.0], [1, 1], traffic=2000, days=30, noise=0.3, futures=20)
    assert easy.yours.quantile(0.9) == 1.0
    short, long = (
        plan([0.3, 0.0], [0.5, 0.5], traffic=100, days=days, noise=0.5, futures=100)
        for days in (60, 240)
    )
    assert long.yours.quantile(0.5) == pytest.approx(short.yours.quantile(0.5), rel=0.35)


def test_arms_that_are_close_enough_count_as_best():
    strict, lax = (
        plan([0.5, 0.49, 0.0], [1, 1, 1], traffic=50, days=30, noise=0.3, close=close, futures=40)
        for close in (0.0, 0.02)
    )
    assert lax.yours.quantile(0.5) < strict.yours.quantile(0.5)
    assert strict.yours.never > 0.5
    assert "not within 30 days" in str(strict)


def test_less_feedback_is_said_to_lose_less_only_beyond_the_error_of_the_simulation():
    rng = np.random.default_rng(0)
    found = plan([0.6, 0.4], [0.9, 1.0], traffic=20, days=7, futures=40, reward="bernoulli")
    said = []
    for shift in (0.0, -2.0, 2.0):
        regret = 10.0 + rng.exponential(size=(300, 40)) * rng.normal(size=(300, 1))
        worlds = (regret, regret + shift + rng.exponential(size=(300, 40)) - 1.0)
        said.append(
            [
                replace(
                    found,
                    everything=replace(found.everything, regret=whole),
                    yours=replace(found.yours, regret=mine),
                ).surprise
                for whole, mine in zip(*worlds, strict=True)
            ]
        )
    assert sum("regret is lower here" in text for text in said[0]) <= 300 * 0.02
    assert sum("does not differ significantly" in text for text in said[0]) >= 300 * 0.97
    assert all("regret is lower here" in text for text in said[1])
    assert set(said[2]) == {""}


def test_less_feedback_on_a_rival_takes_longer():
    found = plan([0.0, -0.4], [1.0, 0.05], traffic=100, days=300, futures=60)
    assert found.yours.quantile(0.5) > found.everything.quantile(0.5)
    assert found.yours.regret.mean() > 2 * found.everything.regret.mean()
    for world in (found.yours, found.everything):
        assert world.regret.mean() < world.bound
        assert world.quantile(0.5) <= world.quantile(0.9)
        low, middle, high = world.curve[1:]
        assert (low <= middle).all()
        assert (middle <= high).all()
    assert found.surprise == ""
    assert found.factor > 1
    assert found.to_dict()["worlds"][0]["day_50_percent"] == found.yours.quantile(0.5)


@pytest.mark.slow
def test_a_policy_that_never_learns_never_arrives():
    found = plan([0, -1], [0.5, 0.5], traffic=10, days=20, policy=RandomChoice(), futures=20)
    assert math.isinf(found.yours.quantile(0.5))
    assert found.worlds.records()[0]["half by day"] is None
    assert found.yours.bound is None
    easy = plan([0, -1], [0.5, 0.5], traffic=10, days=20, target=11, policy=RandomChoice())
    assert easy.yours.quantile(0.9) == 1


def test_luck_is_called_luck():
    found = plan([0.6, 0.5], [0.1, 0.9], traffic=1000, days=30, noise=0.5, futures=60)
    assert "This is luck" in str(found)


def binary_log(seed, rows=400, means=(0.3, 0.7), observe=(0.5, 0.5)):
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, len(means), rows)
    seen = rng.random(rows) < np.array(observe)[arm]
    return {"a": arm, "r": np.where(seen, rng.random(rows) < np.array(means)[arm], np.nan)}


def test_every_future_of_a_log_has_means_and_rates_of_its_own():
    found = audit(binary_log(0, rows=60), action="a", reward="r")
    ours = found.plan(50, days=20, futures=40)
    assert ours.drawn
    assert ours.reward == "bernoulli"
    assert "drawn from their posterior given the log" in str(ours)
    assert ours.to_dict()["drawn_from_log"]
    known = plan(found.means(), found.observe, traffic=50, days=20, reward="bernoulli", futures=40)
    assert ours.yours.regret.std() > 1.5 * known.yours.regret.std()


def test_arms_never_seen_are_left_out_and_named():
    rows = {"a": [0, 0, 0, 1, 1, 1, 2], "r": [1.0, 3.0, None, 1.0, 0.0, 0.5, None]}
    found = audit(rows, action="a", reward="r").plan(50, days=10, futures=20)
    assert found.left_out == ("2",)
    assert "nothing is known of them: 2" in str(found)
    with pytest.raises(InvalidInput, match="must hold rewards"):
        audit({"a": [0, 1], "r": [None, None]}, action="a", reward="r").plan(50)


def test_noise_of_the_user_replaces_that_of_the_log_unless_rewards_are_0_or_1():
    rows = {"a": [0, 0, 0, 1, 1, 1], "r": [1.0, 3.0, None, 1.0, 0.0, 0.5]}
    known = audit(rows, action="a", reward="r")
    calm, wild = (known.plan(50, days=10, futures=20, noise=noise) for noise in (0.01, 5.0))
    assert calm.yours.regret.mean() < wild.yours.regret.mean()
    with pytest.raises(InvalidInput, match="0 or 1, which fixes it"):
        audit(binary_log(0), action="a", reward="r").plan(50, noise=1.0)


@pytest.mark.slow
def test_rewards_of_0_or_1_are_told_apart_from_others():
    for rewards in ([0.0, 1.0, 0.5], [0.0, 1.0, 2.0], [-1.0, 1.0, 0.0], [None, None, None]):
        assert not audit({"a": [0, 0, 0], "r": rewards}, action="a", reward="r").counts.binary
    for rewards in ([0.0, 1.0, None], [1.0, None, None], [0.0, 0.0, 0.0], [True, False, False]):
        assert audit({"a": [0, 0, 0], "r": rewards}, action="a", reward="r").counts.binary
    found = audit(binary_log(0), action="a", reward="r")
    problem = found.compare_imputations(horizon=100, replications=2).study.problems
    assert next(iter(problem.values())).reward == "bernoulli"
    with pytest.raises(InvalidInput, match="fixed by Bernoulli rewards"):
        plan([0.5, 0.4], [1, 1], traffic=10, reward="bernoulli", noise=1.0)


@pytest.mark.parametrize(
    "bad",
    [
        {"traffic": 0},
        {"days": 0.5},
        {"days": 6},
        {"target": -1},
        {"goal_share": 1.5},
        {"goal_days": 0},
        {"goal_kept": -1},
        {"close": -1},
        {"futures": 0},
        {"observe": [0.5]},
        {"observe": [0.5, 2]},
    ],
)
def test_bad_input(bad):
    options = {"means": [0, -1], "observe": [0.5, 0.5], "traffic": 10.0, "days": 10.0} | bad
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        plan(options.pop("means"), options.pop("observe"), **options)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.05, 0.12])
def test_forecasts_from_logs_are_calibrated(spread):
    rng = np.random.default_rng(7)
    inside, rank, claimed, never = [], [], [], []
    for truth in range(60):
        means = np.clip(0.4 + spread * rng.standard_normal(4), 0.05, 0.95)
        observe = rng.uniform(0.2, 0.9, 4)
        rows = binary_log(1000 * truth + 1, 3000, means, observe)
        ours = audit(rows, action="a", reward="r").plan(300, days=120)
        real = plan(
            means, observe, traffic=300, days=120, reward="bernoulli", futures=1, seed=truth
        ).yours.days[0]
        low, high = (ours.yours.quantile(q) for q in (0.1, 0.9))
        days = ours.yours.days
        inside.append(low <= real <= high)
        rank.append((days < real).mean() + (days == real).mean() / 2.0)
        claimed.append(ours.yours.never)
        never.append(math.isinf(real))
    assert 0.7 <= np.mean(inside) <= 0.95, np.mean(inside)  # of 60, 80% nominal
    assert 0.38 <= np.mean(rank) <= 0.62, np.mean(rank)
    assert np.mean(claimed) == pytest.approx(np.mean(never), abs=0.12)


def outlook(mine, whole, length=500, worst=10.0):
    curve = np.zeros((4, 1))
    worlds = [
        Forecast(name, np.full(3, float(days)), np.zeros(3), None, curve)
        for name, days in (("your feedback", mine), ("everything seen", whole))
    ]
    found = SimpleNamespace(dimension_of_seen=SimpleNamespace(factor=worst))
    return outlook_in_words(found, Plan(Goal(), 200.0, length, *worlds, in_blocks=True))


@pytest.mark.parametrize(("mine", "explained"), [(108, True), (90, False), (math.inf, False)])
def test_a_forecast_beyond_the_worst_case_says_that_they_answer_different_questions(
    mine, explained
):
    words = outlook(mine, 35, worst=2.84)
    assert ("which is about the reward lost" in words) == explained


@pytest.mark.parametrize(
    ("mine", "whole", "said", "lucky"),
    [
        (
            108,
            35,
            "after about 21,600 decisions, 3.1 times the 7,000 it would take if every",
            False,
        ),
        (50, 80, "after about 10,000 decisions; if every reward were seen, after 16,000", True),
        (78, 80, "after about 15,600 decisions, about as many as if every reward", False),
        (2, 1, "after about 400 decisions, about as many as if", False),
        (math.inf, 3, "within 100,000 decisions in 0% of 3 futures.*, in 100% of them", False),
        (9, math.inf, "; if every reward were seen, not within 100,000", True),
    ],
)
def test_the_forecast_of_a_log_says_how_many_times_longer_never_a_fraction(
    mine, whole, said, lucky
):
    words = outlook(mine, whole)
    assert re.search(said, words), words
    assert ("is luck" in words) == lucky
