"""Late rewards are compared with early ones of the same arm and day."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from halfseen import audit
from logs.warnings.made_logs import CLEAN, Parts, findings, made, slower_ones


def late(frame, roles):
    return next(c for c in findings(frame, roles).checks if c.kind == "late-differ")


def test_the_p_value_equals_a_sum_over_days():
    frame, roles = made("slow", slower_ones(1.1), 3)
    roles.pop("unit")
    seen = frame[frame.reward.notna()].copy()
    day = (seen.time - frame.time.min().normalize()).dt.days
    end = seen.back.max()
    last = (end - frame.time.min().normalize()).total_seconds() / 86400
    delay = (seen.back - seen.time).dt.total_seconds()
    found = late(frame, roles)
    x = np.log1p(delay / delay.median())
    groups = [seen.arm, day]
    kept = day <= np.ceil(last) - 3
    dx = (x - x.groupby(groups).transform("mean"))[kept]
    dy = (seen.reward - seen.reward.groupby(groups).transform("mean"))[kept]
    strata = pd.DataFrame({"x": dx**2, "y": dy**2, "xy": dx * dy, "m": 1.0})
    strata = strata.groupby([seen.arm[kept], day[kept]]).sum().query("m > 1")
    strata["v"] = strata.x * strata.y / (strata.m - 1)
    arms = strata.groupby(level=0)[["xy", "v"]].sum()
    ps = 2 * norm.sf(abs(arms.xy) / np.sqrt(arms.v))
    together = 2 * norm.sf(abs(arms.xy.sum()) / np.sqrt(arms.v.sum()))
    expected = min(together / 0.8, len(arms) * min(ps) / 0.2)
    assert found.p == pytest.approx(expected, rel=0.05)  # the median delay is read from cells


def test_arms_whose_late_rewards_differ_in_opposite_ways_are_found():
    frame, roles = made("opposite", slower_ones(3.0, now=True, faster_in=[0, 1]), 0)
    found = late(frame, roles)
    assert found.state == "found"
    assert found.warning.finding.startswith("Rewards of “1” that come late are lower")
    assert "Those of “2” are higher: which arm looks best can be reversed." in found.warning.finding
    audited = audit(frame, action="arm", reward="reward", time="time", feedback_time="back")
    assert "another arm may be best once all have come" in str(audited)
    assert audited.rewards.rows == pytest.approx(audited.counts.rows)  # pending counts as missing


def test_a_trend_in_the_mean_is_no_difference_and_slow_ones_are():
    assert late(*made("trend", CLEAN["trend in the mean"], 0)).state == "not found"
    found = late(*made("slow", slower_ones(1.5, now=True), 0))
    assert found.state == "found"
    assert found.warning.finding.startswith("Rewards that come late are higher: the slowest fifth")
    assert "may differ" in found.warning.effect


def test_what_is_needed_is_said():
    frame, roles = made("i", CLEAN["i.i.d."], 0)
    roles.pop("feedback_time")
    found = late(frame, roles)
    assert (found.state, found.detail) == (
        "cannot be looked for",
        "name the column with feedback_time=",
    )


def nights_are_slow_and_low(seed=0):
    """Return a log in which decisions of the night wait for the morning, and earn less."""
    rng = np.random.default_rng(seed)
    parts = Parts(rng)
    night = parts.time % 1 < 0.33
    parts.reward = (rng.random(parts.rows) < np.where(night, 0.35, 0.6)) * 1.0
    parts.delay = rng.exponential(0.2, parts.rows) + np.where(night, 0.33 - parts.time % 1, 0.0)
    parts.context = np.where(night, "night", "day")
    return parts.log()


def test_the_hour_of_the_day_is_named_as_another_cause_and_its_context_settles_it():
    frame, roles = nights_are_slow_and_low()
    warning = late(frame, roles).warning
    assert (
        "An effect of the hour of the day on both reward and delay looks the same."
        in warning.effect
    )
    assert warning.remedy.endswith("add a column with the hour and name it with context=.")
    named = findings(frame, {**roles, "context": "context"})
    assert [w.kind for w in named.warnings] == []
