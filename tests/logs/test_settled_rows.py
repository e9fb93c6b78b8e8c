"""Pending decisions are left out of a policy's value, not counted as missing."""

import numpy as np
import pytest

from halfseen import InvalidInput, value

COLUMNS = {"action": "arm", "reward": "paid", "propensity": "chance", "target": {"slow": 1}}


def late_log(rows=20_000, slow=20.0):
    """Return a log followed to time 100: ones of arm slow take longest; it pays .6."""
    rng = np.random.default_rng(3)
    arm, time = rng.integers(0, 2, rows), rng.uniform(0.0, 100.0, rows)
    reward = (rng.random(rows) < np.where(arm == 0, 0.6, 0.4)).astype(float)
    back = time + rng.exponential(np.where((arm == 0) & (reward > 0), slow, 2.0))
    seen = back <= 100.0
    return {
        "arm": np.array(["slow", "fast"])[arm],
        "made": time,
        "paid": np.where(seen, reward, np.nan),
        "back": np.where(seen, back, np.nan),
        "chance": np.full(rows, 0.5),
    }


def test_waiting_decisions_are_not_missing():
    """Ones are waited for longest: counted as missing, the young ones hide the arm's mean."""
    log = late_log()
    as_missing = value(log, time="made", **COLUMNS)
    assert as_missing.value < 0.57
    found = value(log, time="made", feedback_time="back", window=90, **COLUMNS)
    assert found.rows < 2500
    assert found.low <= 0.6 <= found.high
    assert "within 90 units of time" in found.notes[0]


def test_rewards_after_the_window_count_as_missing():
    log = late_log()
    found = value(log, time="made", feedback_time="back", window=10, **COLUMNS)
    old = log["made"] <= np.nanmax(log["back"]) - 10.0
    assert found.rows == int(old.sum())
    assert found.seen == int((old & (log["back"] - log["made"] <= 10.0)).sum())


def test_without_a_window_most_rewards_are_waited_for():
    found = value(late_log(slow=8.0), time="made", feedback_time="back", **COLUMNS)
    assert 8000 < found.rows < 16_000
    assert found.value == pytest.approx(0.6, abs=0.02)


def test_later_times_of_feedback_leave_fewer_decisions_out():
    options = {"time": "made", "feedback_time": "back", "window": 10}
    early = value(late_log(), **options, **COLUMNS)
    late = value(late_log(), now=120, **options, **COLUMNS)
    assert late.rows == 20_000 > early.rows


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"window": 1000}, "must be shorter than the oldest decision is old"),
        ({"now": 5}, "must not be before the last time in the log"),
        ({"time": None}, "needs `time`"),
    ],
)
def test_windows_that_cannot_be_are_refused(options, said):
    with pytest.raises(InvalidInput, match=said):
        value(late_log(2000), **{"time": "made", "feedback_time": "back"} | options, **COLUMNS)
