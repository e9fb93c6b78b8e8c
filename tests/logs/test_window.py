"""How long to wait, by a simulation whose outcome is known."""

import numpy as np
import pandas as pd
import pytest

from halfseen import InvalidInput, feedback_window
from halfseen.logs.waits import LEVELS, simulate_waits
from halfseen.logs.window import _as_good
from logs.test_best_arm import counted

COLUMNS = {"action": "a", "time": "t", "feedback_time": "back", "reward": "r"}
WAITS = np.array([0.25, 1, 2, 3.5, 5, 10.5, 20, 37])
EXPECTED = {  # mean regret at each wait: 333 a day, 20,000 decisions, means .6 .4, p .8
    # When settled after 37 days, one arm is played alone for 12,321 decisions and the other for the
    # rest: .2 (12,321 + 7,679) / 2 lost on average over which comes first.
    (5.0, False): [715, 283, 185, 143, 124, 100, 93, 93],
    (5.0, True): [724, 328, 231, 294, 397, 782, 1444, 2000],
    (15.0, True): [1095, 621, 416, 362, 433, 811, 1459, 2000],
    (0.0, False): [73] * 8,
    (0.0, True): [75, 106, 171, 277, 385, 777, 1443, 2000],
}


@pytest.mark.slow
@pytest.mark.parametrize(("delay", "settled"), EXPECTED)
def test_regret_of_known_laws_of_delay(delay, settled):
    arms = counted({"a": np.repeat([0, 1], 100), "r": np.tile([1.0, 0.0], 100)})
    level = np.linspace(0.0, 1.0, LEVELS + 1)
    level[-1] = 1.0 - 1e-4
    inverse = np.tile(-delay * np.log1p(-level), (2, 1))
    regret = simulate_waits(
        np.tile([0.6, 0.4], (40, 1)),
        arms,
        np.full(2, 0.8),
        inverse,
        WAITS,
        step=1 / 333,
        rounds=20_000,
        settled=settled,
    ).mean(axis=0)
    assert regret == pytest.approx(EXPECTED[delay, settled], rel=0.2)
    if settled:
        assert np.argmin(regret) == np.argmin(EXPECTED[delay, settled])
    else:
        assert (np.diff(regret) <= 0.05 * regret[1:]).all()


def plain(means, share, delay, wait, step, rounds, settled, rng):
    """Play UCB one decision at a time with a list of rewards that are on their way."""
    n, s, due, regret = np.zeros(2), np.zeros(2), [], 0.0
    for t in range(rounds):
        for _, arm, reward in [d for d in due if d[0] <= t * step]:
            n[arm] += 1
            s[arm] += reward
        due = [d for d in due if d[0] > t * step]
        index = s / (n + 1) + np.sqrt(6 * 0.25 * np.log(rounds) / (n + 1)) + max(means) / (n + 1)
        arm = int(np.argmax(index))
        regret += max(means) - means[arm]
        late = rng.exponential(delay)
        if rng.random() < share and late <= wait:
            due.append((t * step + (wait if settled else late), arm, rng.random() < means[arm]))
    return regret


@pytest.mark.parametrize("settled", [False, True])
def test_the_loop_agrees_with_a_plain_simulation(settled):
    rng = np.random.default_rng(0)
    law = (0.8, 5.0, 4.0, 0.1, 1500, settled)
    theirs = [plain(means, *law, rng) for means in ([0.7, 0.2], [0.2, 0.7]) for _ in range(6)]
    arms = counted({"a": np.repeat([0, 1], 100), "r": np.tile([1.0, 0.0], 100)})
    level = np.linspace(0.0, 1.0, LEVELS + 1)
    level[-1] = 1.0 - 1e-4
    ours = simulate_waits(
        np.tile([0.7, 0.2], (200, 1)),
        arms,
        np.full(2, 0.8),
        np.tile(-5.0 * np.log1p(-level), (2, 1)),
        np.array([4.0]),
        step=0.1,
        rounds=1500,
        settled=settled,
    )
    error = np.std(theirs) / np.sqrt(12) + ours.std() / np.sqrt(200)
    assert ours.mean() == pytest.approx(np.mean(theirs), abs=3 * error)


def made(rows=20_000, slow_ones=1.0, means=(0.6, 0.4), seed=0):
    """Return 60 days of decisions with delays of 5 days on average; ones may be slower."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 2, rows), "t": np.sort(rng.uniform(0, 60, rows))})
    reward = (rng.random(rows) < np.array(means)[frame.a]).astype(float)
    back = frame.t + rng.exponential(np.where(reward == 1.0, 5.0 * slow_ones, 5.0))
    arrived = (rng.random(rows) < 0.8) & (back < 60)
    return frame.assign(back=back.where(arrived), r=np.where(arrived, reward, np.nan))


@pytest.fixture(scope="module")
def log():
    return made()


def test_a_learner_that_waits_is_told_about_2_days(log):
    found = feedback_window(log, **COLUMNS, learns="when-settled", futures=20)
    assert 1.0 <= found.waits[found.best] <= 3.7
    assert min(abs(found.waits[i] - 2.0) for i in found.as_good) < 1.0
    assert "when the wait is over: wait" in str(found)
    assert found.to_dict()["best_wait"] == found.waits[found.best]
    truth = 0.8 * (1 - np.exp(-found.waits / 5.0))
    assert found.share[found.waits < 30] == pytest.approx(truth[found.waits < 30], abs=0.02)


def test_a_learner_that_uses_rewards_as_they_come_is_told_to_wait_long(log):
    found = feedback_window(log, **COLUMNS, learns="on-arrival", futures=20)
    falls = np.diff(found.regret)
    assert (falls <= 2 * found.error[1:] + 0.05 * found.regret[1:]).all()
    assert "as long as you can" in str(found)
    assert found.waits[min(found.as_good)] > 5.0


def test_reward_dependent_delay_gets_no_advice():
    found = feedback_window(made(8000, slow_ones=2.0), **COLUMNS, learns="when-settled", futures=5)
    assert found.best is None
    assert found.regret is None
    assert "which wait is best cannot be said" in str(found)
    assert found.to_dict()["best_wait"] is None


def test_arms_that_change_places_with_the_wait_get_no_advice():
    rng = np.random.default_rng(0)
    frame = made(20_000, means=(0.5, 0.5))
    late = frame.back - frame.t > 4
    good = np.where(late, 0.9, 0.4)  # arm 0 is worse early and better late
    share = np.where(frame.a == 0, good, 1.0 - good)
    frame["r"] = np.where(frame.back.notna(), rng.random(len(frame)) < share, np.nan)
    found = feedback_window(frame, **COLUMNS, learns="on-arrival", futures=5)
    assert found.best is None
    assert "Which of 0 and 1 is better changes with the wait" in str(found)


def test_an_arm_never_seen_changes_nothing_for_the_others():
    frame = made(3000)
    never = pd.DataFrame({"a": [7] * 300, "t": np.linspace(5, 55, 300)})
    plain, more = (
        feedback_window(f, **COLUMNS, learns="when-settled", futures=5)
        for f in (frame, pd.concat([frame, never]))
    )
    np.testing.assert_array_equal(plain.waits, more.waits)
    np.testing.assert_array_equal(plain.regret, more.regret)
    assert more.never_seen == ("7",)
    assert "never seen: 7" in str(more)


def test_relabelling_arms_leaves_the_advice_unchanged():
    frame = made(4000, means=(0.5, 0.6))
    frame.loc[::5, "a"] = 2
    names = pd.Series({0: "a", 1: "b", 2: "c"}), pd.Series({0: "zz", 1: "b", 2: "c"})
    first, other = (
        feedback_window(
            frame.assign(a=frame.a.map(each)), **COLUMNS, learns="when-settled", futures=10
        )
        for each in names
    )
    assert str(first) == str(other)


def test_dates_are_counted_in_days():
    frame = made(3000)
    dated = frame.assign(
        t=pd.Timestamp("2024-01-01") + pd.to_timedelta(frame.t, unit="D"),
        back=pd.Timestamp("2024-01-01") + pd.to_timedelta(frame.back, unit="D"),
    )
    found = feedback_window(dated, **COLUMNS, learns="on-arrival", futures=3)
    assert found.unit == "days"
    other = feedback_window(frame, **COLUMNS, learns="on-arrival", futures=3)
    assert found.waits == pytest.approx(other.waits, rel=0.05, abs=0.1)


def test_rewards_that_come_at_once_leave_one_wait():
    frame = made(500).assign(back=lambda f: f.t, r=1.0)
    frame.loc[::3, ["back", "r"]] = np.nan
    found = feedback_window(frame, **COLUMNS, learns="when-settled", futures=3)
    assert len(found.waits) == 1


def test_bad_input():
    frame = made(300)
    with pytest.raises(InvalidInput, match="must come after `time`"):
        feedback_window(frame.assign(back=frame.t - 1), **COLUMNS, learns="on-arrival")
    with pytest.raises(InvalidInput, match="at least two times"):
        feedback_window(frame.assign(t=1.0), **COLUMNS, learns="on-arrival")
    with pytest.raises(InvalidInput, match="learns"):
        feedback_window(frame, **COLUMNS, learns="sometimes")


@pytest.mark.slow
def test_means_drawn_from_the_log_and_true_means_advise_the_same(log):
    found = feedback_window(log, **COLUMNS, learns="when-settled")
    assert 1.0 <= found.waits[found.best] <= 3.0


def test_a_wait_beyond_a_worse_one_is_not_as_good():
    mean = np.array([9.0, 5.0, 8.0, 4.0, 4.05, 7.0, 4.5])
    error = np.array([0.1, 1.0, 0.1, 0.0, 0.1, 0.1, 3.0])
    assert _as_good(mean, error, 3) == (3, 4)


def test_a_log_of_one_arm_or_a_few_rewards_gets_no_advice():
    rng = np.random.default_rng(0)
    time = np.sort(rng.random(400)) * 60.0
    back = np.where(time < 40.0, time + rng.exponential(3.0, 400), np.nan)
    reward = np.where(np.isnan(back), np.nan, rng.random(400) < 0.5)
    rows = pd.DataFrame({"a": "x", "t": time, "back": back, "r": reward})
    found = feedback_window(rows, **COLUMNS, learns="when-settled")
    assert (found.best, found.advice[:37]) == (None, "Rewards of one arm only were seen: a ")
    few = rows.head(20).assign(a=["x", "y"] * 10)
    found = feedback_window(few, **COLUMNS, learns="on-arrival")
    assert found.advice == "Only 20 rewards were seen: too few to say how long to wait."
    assert found.to_dict()["best_wait"] is None
