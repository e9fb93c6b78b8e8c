"""Every interval that an audit prints holds the truth about as often as it says."""

import numpy as np
import pytest

from logs.interval_coverage import coverage
from logs.warnings.made_logs import CLEAN

LOGS = 100
NOMINAL = {"worth of a little more (90%)": 0.9}


@pytest.mark.slow
def test_intervals_of_a_few_logs_hold_the_truth():
    held = coverage("log ends now", CLEAN["log ends now"], 5)
    assert held["rate within the window, rewards pending"] >= 0.8  # of 15
    assert held["bounds of the mean, Gamma 2"] >= 0.8


@pytest.mark.slow
def test_intervals_of_all_kinds_of_clean_log_hold_the_truth_in_93_of_100():
    found = {kind: coverage(kind, change, LOGS) for kind, change in CLEAN.items()}
    for name in sorted({name for held in found.values() for name in held}):
        shares = [held[name] for held in found.values() if name in held]
        level = NOMINAL.get(name, 0.95)
        assert np.mean(shares) >= level - 0.02, name
        error = np.sqrt(level * (1 - level) / LOGS)
        assert min(shares) >= level - 3.5 * error, name
