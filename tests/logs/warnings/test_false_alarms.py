"""How often each warning is wrong on clean logs, and how often it finds the defect it is for."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from halfseen.logs.dimension import estimate_dimension
from halfseen.theory.events import clopper_pearson
from logs.warnings.made_logs import (
    CLEAN,
    DEFECTS,
    DELAYS_DIFFER,
    START,
    TRUE_OF_CLEAN,
    UNDECIDABLE,
    findings,
    kinds,
    made,
    maturity_of,
)

LOGS = 100


def alarms(kind, change, logs, first=0):
    """Return how many logs raise any warning but a true one, and how many raise each."""
    true = TRUE_OF_CLEAN.get(kind, set())
    found = [kinds(kind, change, seed) - true for seed in range(first, first + logs)]
    return sum(map(bool, found)), Counter(name for names in found for name in names)


@pytest.mark.slow
def test_clean_logs_raise_no_warning():
    assert {
        kind: alarms(kind, change, 1, 500)[0] for kind, change in CLEAN.items()
    } == dict.fromkeys(CLEAN, 0)


@pytest.mark.parametrize("kind", [kind for kind in DEFECTS if DEFECTS[kind][2] >= 30])
def test_a_defect_is_found(kind):
    change, warning, share = DEFECTS[kind]
    logs = 1 if share > 80 else 8
    assert any(warning in kinds(kind, change, 900 + seed) for seed in range(logs))


@pytest.mark.slow
@pytest.mark.parametrize("kind", CLEAN)
def test_false_alarms_on_100_clean_logs(kind):
    together, each = alarms(kind, CLEAN[kind], LOGS)
    assert together <= 0.05 * LOGS
    assert all(times <= 0.02 * LOGS for times in each.values())


@pytest.mark.parametrize("kind", DELAYS_DIFFER)
def test_a_difference_in_delay_is_no_difference_of_rates(kind):
    assert alarms(kind, DELAYS_DIFFER[kind], 3, 500)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", DELAYS_DIFFER)
def test_a_difference_in_delay_is_seldom_taken_for_one_of_rates(kind):
    assert alarms(kind, DELAYS_DIFFER[kind], LOGS)[0] <= 0.06 * LOGS


@pytest.mark.slow
@pytest.mark.parametrize("kind", DEFECTS)
def test_power_on_100_logs_with_a_defect(kind):
    change, warning, share = DEFECTS[kind]
    found = sum(warning in kinds(kind, change, seed) for seed in range(LOGS))
    assert found >= (share - 10) / 100 * LOGS


@pytest.mark.slow
@pytest.mark.parametrize("kind", UNDECIDABLE)
def test_what_leaves_no_trace_is_not_claimed(kind):
    change, warning = UNDECIDABLE[kind]
    assert sum(warning in kinds(kind, change, seed) for seed in range(40)) <= 1


@pytest.mark.slow
def test_names_units_and_whole_weeks_change_no_p_value():
    frame, roles = made("all", CLEAN["users differ, independently"], 12)
    roles["context"] = "context"
    frame = frame.assign(reward=frame.reward.round(3))
    plain = [check.p for check in findings(frame, roles).checks]
    assert sum(p is not None for p in plain) >= 4
    week = pd.Timedelta(weeks=3)
    changed = {
        "arms": frame.assign(arm=2 - frame.arm),
        "contexts": frame.assign(context=frame.context.map(lambda c: f"c{9 - c}")),
        "units": frame.assign(user=frame.user.map(lambda u: f"u{u * 7919 % 10_007}")),
        "time": frame.assign(time=frame.time + week, back=frame.back + week),
        "rewards": frame.assign(reward=4.0 * frame.reward),
    }
    for name, log in changed.items():
        found = [check.p for check in findings(log, roles).checks]
        for one, other in zip(plain, found, strict=True):
            assert other == (one if one is None else pytest.approx(one, rel=1e-6)), name


RATES = {  # of the arms, rows, days, mean delay
    "three arms": ((0.8, 0.8, 0.8), 4000, 60.0, 7.0),
    "two arms, 40 days": ((0.8, 0.8), 4000, 40.0, 7.0),
    "rates apart": ((0.8, 0.3, 0.05), 4000, 60.0, 7.0),
    "one arm, 400 rows": ((0.8,), 400, 60.0, 7.0),
    "slow": ((0.8, 0.5), 4000, 60.0, 30.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", RATES)
def test_intervals_of_rates_within_a_window_hold_93_percent_of_the_time(kind):
    rates, rows, days, scale = RATES[kind]
    rates = np.asarray(rates)
    arms, whole = [], []
    for seed in range(200):
        rng = np.random.default_rng([seed, 77])
        arm, when = rng.integers(0, len(rates), rows), rng.random(rows) * days
        delay = rng.exponential(scale, rows)
        seen = (rng.random(rows) < rates[arm]) & (when + delay <= days)
        frame = pd.DataFrame({"arm": arm, "seen": seen})
        frame["time"] = START + pd.to_timedelta(when, unit="D")
        frame["back"] = (frame.time + pd.to_timedelta(delay, unit="D")).where(seen)
        end = (START + pd.Timedelta(days=days)).timestamp()
        roles = {"action": "arm", "observed": "seen", "time": "time", "feedback_time": "back"}
        found = maturity_of(frame, roles, end)
        truth = rates * (1 - np.exp(-found.windows / 86400 / scale))
        low, high = clopper_pearson(found.seen, found.rows, 0.95)
        arms += ((low <= truth) & (truth <= high)).tolist()
        dimension = estimate_dimension(found.seen, found.rows)
        whole.append(dimension.low <= (1 / truth).sum() <= dimension.high)
    assert np.mean(arms) >= 0.93
    assert np.mean(whole) >= 0.93 - 2 * np.sqrt(0.93 * 0.07 / 200)
