"""What is seen by when, although the log ends."""

import numpy as np
import pandas as pd
import pytest

from halfseen import InvalidInput, feedback_window

COLUMNS = {"action": "a", "time": "t", "feedback_time": "back", "reward": "r"}


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(0)
    n = 40_000
    frame = pd.DataFrame({"a": rng.integers(0, 2, n), "t": rng.uniform(0, 100, n)})
    back = frame.t + rng.exponential(5.0, n)
    arrived = (rng.random(n) < 0.8) & (back < 100)
    return frame.assign(back=back.where(arrived), r=np.where(arrived, 1.0, np.nan))


def test_the_end_of_the_log_does_not_bias(log):
    found = feedback_window(log, **COLUMNS)
    truth = 0.8 * (1 - np.exp(-found.waits / 5.0))
    assert found.share == pytest.approx(truth, abs=0.02)
    assert found.dimension == pytest.approx(2 / truth, rel=0.06)
    assert found.open_decisions == pytest.approx(400 * found.waits, rel=0.01)
    assert found.best is None


def test_the_best_wait_moves_with_the_gap(log):
    small, large = (feedback_window(log, **COLUMNS, gap=gap) for gap in (0.05, 5.0))
    assert large.waits[large.best] < small.waits[small.best]
    assert "* " in str(small) or "*\n" in str(small)
    assert small.to_dict()["best_wait"] == small.waits[small.best]


def test_dates_are_counted_in_days(log):
    dated = log.assign(
        t=pd.Timestamp("2024-01-01") + pd.to_timedelta(log.t, unit="D"),
        back=pd.Timestamp("2024-01-01") + pd.to_timedelta(log.back, unit="D"),
    )
    found = feedback_window(dated, **COLUMNS)
    assert found.unit == "days"
    assert found.waits == pytest.approx(feedback_window(log, **COLUMNS).waits, rel=1e-4)


def test_bad_input(log):
    with pytest.raises(InvalidInput, match="must come after `time`"):
        feedback_window(log.assign(back=log.t - 1), **COLUMNS)
    with pytest.raises(InvalidInput, match="at least two times"):
        feedback_window(log.assign(t=1.0), **COLUMNS)
    with pytest.raises(InvalidInput, match="gap"):
        feedback_window(log, **COLUMNS, gap=0)
