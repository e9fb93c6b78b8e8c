"""Rewards still on their way are told from rewards that will not come."""

import math

import numpy as np
import pandas as pd
import pytest

from halfseen import InvalidInput, audit, kaplan_meier
from halfseen.logs.time_bins import duration_in_words

DAY = pd.Timedelta(days=1)


def delayed(seed, rows=4000, days=60.0, rates=(0.8, 0.8, 0.8), scale=7.0):
    """Return a log that ends now: what is not back yet is empty."""
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, len(rates), rows)
    when = rng.random(rows) * days
    delay = rng.exponential(scale, rows)
    back = (rng.random(rows) < np.asarray(rates)[arm]) & (when + delay <= days)
    start = pd.Timestamp("2026-01-01")
    return pd.DataFrame(
        {
            "arm": arm,
            "reward": np.where(back, rng.normal(size=rows), np.nan),
            "time": start + pd.to_timedelta(when, unit="D"),
            "back": (start + pd.to_timedelta(when + delay, unit="D")).where(back),
        }
    )


NAMES = {"action": "arm", "reward": "reward", "time": "time", "feedback_time": "back"}
NOW = "2026-03-02"


def test_kaplan_meier_equals_lifelines():
    delays = [0, 3, None, 1, None, 0, 3, None, 0, None]
    ages = range(9, -1, -1)
    back = np.bincount([d for d in delays if d is not None], minlength=10)
    waiting = np.bincount([a for d, a in zip(delays, ages, strict=True) if d is None], minlength=10)
    law = kaplan_meier(back, waiting)
    assert law.at_risk[[0, 1, 3]].tolist() == [10, 6, 4]
    assert law.share[[0, 1, 3]] == pytest.approx([0.3, 0.416666666667, 0.708333333333], abs=1e-12)
    errors = np.sqrt(law.variance[[0, 1, 3]])
    assert errors == pytest.approx([0.144913767462, 0.161015297180, 0.166579838494], abs=1e-12)


def test_estimates_of_delays_are_equal_by_value():
    assert kaplan_meier([5, 3], [1, 2]) == kaplan_meier([5, 3], [1, 2])
    assert kaplan_meier([5, 3], [1, 2]) != kaplan_meier([5, 3], [1, 1])


def test_kaplan_meier_refuses_what_is_no_count():
    for bad in ([-1, 2], [math.nan, 1], "ab", 3):
        with pytest.raises(InvalidInput, match="`back` must be an array of counts of at least 0"):
            kaplan_meier(bad, [1, 0])
    with pytest.raises(InvalidInput, match=r"`waiting` must have the shape of `back`, \(2,\); got"):
        kaplan_meier([1, 0], [1])


def test_the_audit_of_whole_delays_equals_lifelines():
    delays = np.array([0, 3, np.nan, 1, np.nan, 0, 3, np.nan, 0, np.nan])
    log = pd.DataFrame({"a": 1, "t": np.arange(10), "b": np.arange(10) + delays})
    log["r"] = np.where(np.isnan(delays), np.nan, np.arange(10.0))
    found = audit(log, action="a", reward="r", time="t", feedback_time="b", window=3)
    assert found.maturity.cells.exact
    assert found.observe[0] == pytest.approx(0.708333333333, abs=1e-12)
    size = 0.708333333333 * (1 - 0.708333333333) / 0.166579838494**2
    assert found.effective_rows[0] == pytest.approx(size, abs=1e-9)


def test_a_log_that_ends_now_has_the_eventual_rate():
    log = delayed(0, rows=8000)
    naive = audit(log, action="arm", reward="reward").effective_dimension
    assert naive.factor_interval[0] > 1.3  # what the truth, 1.25, is missed by
    found = audit(log, **NAMES, now=NOW)
    low, high = found.effective_dimension.factor_interval
    assert low < 1.25 < high
    assert found.maturity.reached
    said = str(found)
    assert "are pending and" in said
    assert "of outcomes come back within 5" in said


def test_how_many_are_on_their_way():
    rng = np.random.default_rng(4)
    when, delay = rng.random(8000) * 60, rng.exponential(7.0, 8000)
    comes, back = rng.random(8000) < 0.8, when + delay <= 60
    start = pd.Timestamp("2026-01-01")
    log = pd.DataFrame({"arm": 0, "time": start + pd.to_timedelta(when, unit="D")})
    log["seen"] = comes & back
    log["back"] = (log.time + pd.to_timedelta(delay, unit="D")).where(log.seen)
    found = audit(log, action="arm", observed="seen", time="time", feedback_time="back", now=NOW)
    truth = (comes & ~back).sum()
    assert found.maturity.pending.sum() == pytest.approx(truth, abs=3 * np.sqrt(truth))


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_old_rows_give_the_rates_of_a_plain_count(missing):
    rng = np.random.default_rng(7)
    n = 3000
    log = pd.DataFrame({"a": rng.integers(0, 3, n), "t": rng.random(n)})
    log["r"] = np.where(rng.random(n) < 1 - missing, rng.random(n), np.nan)
    log["b"] = (log.t + rng.exponential(0.1, n)).where(log.r.notna())
    plain = audit(log, action="a", reward="r")
    timed = audit(log, action="a", reward="r", time="t", feedback_time="b", now=9.0)
    for one, other in zip(plain.rates, timed.rates, strict=True):
        assert list(other.values())[1:] == pytest.approx(list(one.values())[1:], rel=1e-12)
    a, b = plain.effective_dimension, timed.effective_dimension
    assert (b.value, b.low, b.high) == pytest.approx((a.value, a.low, a.high), rel=1e-12)
    assert timed.prior.mean == pytest.approx(plain.prior.mean, rel=1e-9)
    assert timed.maturity.pending.sum() < 0.5


def test_a_stated_window_is_the_window():
    log = delayed(1)
    found = audit(log, **NAMES, now=NOW, window=7)
    assert found.maturity.window == 7 * 86400
    assert found.observe == pytest.approx(0.8 * (1 - np.exp(-1)), abs=0.04)
    assert "come back within 7 days" in str(found)


def test_heavy_delays_are_rates_within_a_window():
    found = audit(delayed(2, scale=60.0), **NAMES, now=NOW).maturity
    assert not found.reached
    assert found.later > 0.05
    assert "Some comes later still" in " ".join(found.findings)


def test_young_rows_are_left_out_without_feedback_times():
    log = delayed(3).drop(columns="back")
    names = {"action": "arm", "reward": "reward", "time": "time"}
    found = audit(log, **names, window=30, now=NOW)
    assert found.rows == (log.time <= pd.Timestamp(NOW) - 30 * DAY).sum()
    assert found.observe == pytest.approx(0.8, abs=0.05)
    assert f"{4000 - found.rows:,} decisions are younger than the window" in str(found)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"window": 0}, "window"),
        ({"now": "yesterday"}, "`now` must be a date"),
        ({"now": "2026-01-05"}, "`now` must not be before the last time"),
    ],
)
def test_bad_options_are_refused(options, said):
    with pytest.raises(InvalidInput, match=said):
        audit(delayed(0, rows=200), **NAMES, **options)


def test_options_that_need_a_time():
    for option in ({"window": 3}, {"now": 3}):
        with pytest.raises(InvalidInput, match="needs `time`"):
            audit({"a": [1], "r": [1.0]}, action="a", reward="r", **option)


def test_rows_without_a_decision_time_void_the_rates_they_leave():
    log = delayed(0, rows=2000, rates=(0.5, 0.5, 0.5))
    unseen = np.flatnonzero(log.reward.isna())
    log.loc[unseen[::2], "time"] = pd.NaT
    found = audit(log, **NAMES)
    first = found.warnings[0]
    assert (first.kind, first.voids) == ("without-times", True)
    assert first.facts["not_seen"] == len(unseen[::2])
    assert str(found).startswith(f"Warning: {len(unseen[::2]):,} of 2,000 rows have no time")


def test_rows_without_a_decision_time_that_change_no_rate_are_told_and_a_few_are_not():
    log = delayed(0, rows=2000)
    log = log.sort_values("reward", ignore_index=True)  # the unseen ones last
    for step, voids in ((20, [False]), (500, [])):
        some = log.copy()
        some.loc[::step, "time"] = pd.NaT
        warned = [w.voids for w in audit(some, **NAMES).warnings if w.kind == "without-times"]
        assert warned == voids


def test_swapped_columns_of_time_are_refused():
    swapped = NAMES | {"time": "back", "feedback_time": "time"}
    with pytest.raises(InvalidInput, match="rewards came before their decision"):
        audit(delayed(0, rows=500), **swapped)


def test_durations():
    assert duration_in_words(86400.0, True) == "1 day"
    assert duration_in_words(30.0, True) == "30 seconds"
    assert duration_in_words(200 * 86400.0, True) == "200 days"


def test_bounds_and_tipping_do_not_take_rewards_on_their_way_for_missing():
    log = delayed(3, rows=3000, rates=(0.7, 0.7), scale=15.0)
    rng = np.random.default_rng(0)
    ones = rng.random(3000) < np.where(log.arm == 0, 0.65, 0.5)
    log["reward"] = np.where(log.back.notna(), ones, np.nan)
    found, raw = audit(log, **NAMES), audit(log, action="arm", reward="reward")
    share = found.observe[0]
    assert share > found.counts.seen[0] / found.counts.rows[0] + 0.1
    # Of 0 and 1 the sharp lower bound of the missing share at Gamma is q / (q + Gamma (1 - q)).
    q = found.counts.mean[0]
    low = share * q + (1 - share) * q / (q + 2.0 * (1 - q))
    assert found.bounds(2.0).low[0] == pytest.approx(low, abs=1e-12)
    assert found.tipping.gamma > raw.tipping.gamma
    assert found.to_dict()["missing_differ"]["tipping_gamma"] == found.tipping.gamma
    assert "So far you see 53%" in found.answers[0]
    assert found.answers[0].startswith(f"{found.share:.0%} of outcomes come back within")
    assert found.share == pytest.approx(found.counts.rows @ found.observe / found.rows, abs=1e-12)


def test_feedback_at_the_moment_of_decision_is_not_taken_for_feedback_without_delay():
    log = delayed(0, rows=3000, days=40.0, scale=10.0)
    found = audit(log, **NAMES | {"feedback_time": "time"})
    kinds = [warning.kind for warning in found.warnings]
    assert "falls-at-end" in kinds
    assert "drift" not in kinds
    assert found.maturity is None
    assert any("Every time of feedback is that of its decision" in note for note in found.notes)
    assert "every decision is old enough" not in str(found)


def test_what_is_on_its_way_and_what_will_not_come_add_up():
    found = audit(delayed(1, rows=6000, rates=(0.5, 0.5)), **NAMES)
    words = found.maturity.findings[0].replace(",", "").split()
    unseen, coming, lost = (int(word) for word in words if word.isdigit())
    assert coming + lost == unseen
    assert coming == pytest.approx(found.maturity.pending.sum(), abs=0.5)


def test_a_moment_before_the_end_of_the_log_is_shown_as_a_date():
    with pytest.raises(InvalidInput, match=r"last time in the log, 2026-03-01.*got '2025-01-01"):
        audit(delayed(0, rows=500), **NAMES, now="2025-01-01")


def test_a_window_longer_than_the_log_is_cut_to_the_oldest_decision():
    log = delayed(0, rows=500)
    found, whole = (audit(log, **NAMES, window=window).maturity for window in (1e9, 59.9))
    assert found.window == pytest.approx(60 * 86_400, rel=0.01)
    assert found.share == pytest.approx(whole.share, abs=0.02)
    assert "No decision is older than 60 days" in " ".join(found.findings)
    assert "000,000" not in " ".join(found.findings)
    assert "No decision is older" not in " ".join(whole.findings)


def test_young_rows_of_a_text_file_with_dates_are_left_out(tmp_path):
    log = delayed(3, rows=400)
    log.drop(columns="back").to_csv(tmp_path / "log.csv", index=False)
    found = audit(tmp_path / "log.csv", action="arm", reward="reward", time="time", window=30)
    assert found.rows == (log.time <= log.time.max() - 30 * DAY).sum()


def test_the_headline_names_a_stated_window_though_nothing_is_pending():
    found = audit(delayed(1), **NAMES, window=0.5, now="2026-05-01")
    assert found.maturity.pending.sum() < 0.5
    assert "of outcomes come back within 12 hours. So far you see" in found.answers[0]


def test_complete_feedback_that_comes_after_a_stated_window_is_not_called_free():
    log = delayed(1).dropna()
    assert "costs you nothing" in str(audit(log, **NAMES).answers)
    found = audit(log, **NAMES, window=0.5)
    assert "costs you nothing" not in str(found.answers)
    rates = [(group.back - group.time <= DAY / 2).mean() for _, group in log.groupby("arm")]
    assert found.observe == pytest.approx(rates, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("window", [1e-9, 1e-4])
def test_a_window_in_which_nothing_comes_back_is_said_to_be_too_short(window, tmp_path):
    found = audit(delayed(1), **NAMES, window=window)
    said = f"Nothing came back within {found.maturity.duration(window * 86400)}."
    assert found.answers[1] == f"{said} Choose a longer window."
    found.report(tmp_path)


def test_an_arm_of_which_nothing_comes_back_within_the_window_is_named():
    log = delayed(1)
    log.loc[log.arm == 2, "back"] += 3 * DAY
    found = audit(log, **NAMES, window=2.0)
    assert "Nothing of “2” came back within 2 days. The numbers here leave that out." in str(found)
    assert found.never_seen == ()


def test_rates_within_a_very_short_window_are_plain_shares():
    log = delayed(1, scale=1e-4)
    found = audit(log, **NAMES, window=1e-5, now="2026-05-01")
    rates = [(g.back - g.time <= 1e-5 * DAY).mean() for _, g in log.groupby("arm")]
    assert found.observe == pytest.approx(rates, abs=2e-3)


def test_a_window_longer_than_a_log_without_feedback_times_is_refused():
    roles = {"action": "arm", "reward": "reward", "time": "time"}
    with pytest.raises(InvalidInput, match="shorter than the oldest decision is old; it counts da"):
        audit(delayed(1), **roles, window=864000)


def test_means_with_rewards_on_their_way_are_said_to_be_of_those_already_back():
    said = "Means are those of the rewards already back"
    assert said in str(audit(delayed(1), **NAMES, now=NOW))
    assert said not in str(audit(delayed(1), **NAMES, now="2027-03-02"))


def test_delays_that_outlast_the_log_make_the_factor_an_upper_end():
    from halfseen.logs.fail_if import read_threshold

    rng = np.random.default_rng(0)
    time, delay = np.sort(rng.random(3000)) * 60.0, rng.exponential(30.0, 3000)
    back = np.where((rng.random(3000) < 0.8) & (time + delay <= 60.0), time + delay, np.nan)
    rows = {"a": rng.integers(0, 3, 3000), "t": time, "back": back}
    rows["r"] = np.where(np.isnan(back), np.nan, rng.normal(size=3000))
    columns = {"action": "a", "reward": "r", "time": "t", "feedback_time": "back"}
    found = audit(rows, **columns)
    assert found.upper_end
    assert "takes at most 1." in found.answers[1]
    assert "95%: at most 1." in found.answers[1]
    assert found.to_dict()["effective_dimension"]["upper_end"] is True
    limit = read_threshold("factor>1.3", False)
    assert limit.crossed(found, None) is None
    assert "whether it is > 1.3 is undetermined" in limit.left_open(found)
    assert read_threshold("factor>9", False).left_open(found) is None
    assert "is at most" in read_threshold("factor<9", False).crossed(found, None)
    said = read_threshold("factor_high>1.3", False).crossed(found, None)
    assert "factor_high is at most 1." in said
    assert read_threshold("factor_low>1.01", False).crossed(found, None) is None
    stated = audit(rows, **columns, window=10.0)
    assert not stated.upper_end
    assert "at most" not in stated.answers[1]


def test_a_clock_of_whole_seconds_is_not_before_the_last_row():
    shown = [f"2026-01-{day:02d} 10:00:00.25" for day in range(1, 31)]
    back = [f"2026-01-{day:02d} 12:00:00.25" for day in range(1, 30)] + [None]
    log = {"arm": ["x"] * 30, "paid": [1.0, 0.0, 1.0] * 9 + [1.0, 0.0, None], "at": shown}
    options = {"action": "arm", "reward": "paid", "time": "at", "feedback_time": "back"}
    found = audit(log | {"back": back}, now="2026-01-30 10:00:00", **options)
    assert found.rows == 30
    with pytest.raises(InvalidInput, match="`now` must not be before the last time"):
        audit(log | {"back": back}, now="2026-01-30 09:59:58", **options)
