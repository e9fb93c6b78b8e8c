"""A weekly cycle is found in all arms together and in single arms."""

import numpy as np
import pytest

from halfseen.logs.counts import Binned
from halfseen.logs.time_bins import DAY, Bins
from halfseen.logs.weekly_cycle import find_weekly_cycle
from logs.warnings.made_logs import findings, made, opposite_weeks

WEEKS, PER_DAY = 8, 40
MONDAY = 4 * DAY  # 5 January 1970


def cube(rng, weekend_of_arm):
    """Return counts by arm and day, with rates at weekends of each arm's own."""
    days = 7 * WEEKS
    arm, place = (v.ravel() for v in np.indices((len(weekend_of_arm), days)))
    rate = np.where(place % 7 >= 5, np.asarray(weekend_of_arm)[arm], 0.5)
    rows = np.full(len(arm), PER_DAY)
    seen = rng.binomial(rows, rate)
    bins = Bins(MONDAY, MONDAY + days * DAY - 1.0, MONDAY, DAY, days, "", 0.0, days)
    return Binned(arm, place, rows, seen, np.zeros_like(rows)), bins


def test_opposite_cycles_of_two_arms_are_found_in_one_of_them():
    rng = np.random.default_rng(0)
    found = find_weekly_cycle(*cube(rng, [0.65, 0.35]))
    assert found.p < 1e-4
    assert found.arm in (0, 1)
    level = dict(zip(found.days, found.levels, strict=True))
    assert level[6] == pytest.approx((0.65, 0.35)[found.arm], abs=0.06)


def test_a_cycle_of_all_arms_is_that_of_all_arms():
    found = find_weekly_cycle(*cube(np.random.default_rng(1), [0.4, 0.4, 0.4]))
    assert found.p < 1e-4
    assert found.arm is None


@pytest.mark.slow
def test_arms_without_a_cycle_show_none():
    rng = np.random.default_rng(2)
    ps = [find_weekly_cycle(*cube(rng, [0.5] * 6)).p for _ in range(200)]
    assert np.mean(np.array(ps) < 0.05) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


def test_the_warning_names_the_arm():
    log, roles = made("weeks", opposite_weeks, 1)
    (warning,) = findings(log, roles).warnings
    assert warning.kind == "weekly"
    assert f" rewards of “{warning.facts['arm']}” come back" in warning.finding
    assert warning.facts["arm"] in ("0", "1")
