"""Rewards posted in a few batches are not extrapolated; rewards that come one by one are."""

import numpy as np
import pandas as pd
import pytest

from halfseen import audit

N, DAYS = 2000, 60
RATES = np.array([0.3, 0.6, 0.85])


def log(posted, ready=0.0, days=DAYS):
    """Return a log of 60 days with rewards posted every so many days, or late by chance."""
    rng = np.random.default_rng(0)
    arm, time = rng.integers(0, 3, N), np.sort(rng.random(N)) * days
    delay = rng.exponential(3.0, N)
    if posted:
        late = ready * rng.exponential(1.0, N)
        delay = np.ceil((time + late + 0.01) / posted) * posted - time
    seen = (rng.random(N) < RATES[arm]) & (time + delay <= days)
    frame = pd.DataFrame(
        {"arm": arm, "reward": np.where(seen, 1.0 * (rng.random(N) < 0.4), np.nan)}
    )
    start = pd.Timestamp("2026-01-05")
    frame["t"] = start + pd.to_timedelta(time, unit="D")
    back = frame.t + pd.to_timedelta(delay, unit="D")  # equal but for rounding
    frame["back"] = pd.Series(back).where(seen)
    return frame


COLUMNS = {"action": "arm", "reward": "reward", "time": "t", "feedback_time": "back"}


def test_rewards_posted_at_month_ends_are_not_extrapolated():
    frame = log(30)
    found = audit(frame, **COLUMNS)
    plain = frame.groupby("arm").reward.count() / frame.groupby("arm").size()
    assert found.observe == pytest.approx(plain.to_numpy(), rel=1e-12)
    assert found.maturity is None
    assert any("Rewards were posted at 2 moments only" in note for note in found.notes)


def test_decisions_after_the_last_batch_are_named():
    found = audit(log(25), **COLUMNS)
    assert any("made after the last of these moments and count as" in note for note in found.notes)


def test_rewards_that_come_one_by_one_are_extrapolated():
    found = audit(log(None), **COLUMNS)
    assert found.maturity is not None
    assert not any("posted" in note for note in found.notes)


def test_rewards_that_skip_batches_are_extrapolated():
    found = audit(log(7, ready=1.5), **COLUMNS)
    assert found.maturity is not None
