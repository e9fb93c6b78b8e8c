"""Changes of rate are found where they are, and not where there are none."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import xlogy

from halfseen import audit
from halfseen.logs.drift import Course, change_points


def objective(seen, rows, cuts):
    edges = (0, *cuts, len(rows))
    total = -2 * math.log(len(rows)) * len(cuts)
    for i, j in itertools.pairwise(edges):
        k, n = seen[i:j].sum(), rows[i:j].sum()
        total += xlogy(k, k / n) + xlogy(n - k, 1 - k / n)
    return total


@pytest.mark.parametrize("seed", range(6))
def test_the_cut_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(5, 60, 8)
    seen = rng.binomial(rows, rng.choice([0.1, 0.5, 0.9], 8))
    found, spread = change_points(seen, rows)
    assert spread == 1.0
    ways = itertools.chain.from_iterable(
        itertools.combinations(range(1, 8), size) for size in range(8)
    )
    best = max(objective(seen, rows, cuts) for cuts in ways)
    assert objective(seen, rows, found) == pytest.approx(best)


def test_few_false_alarms_and_no_missed_change():
    rng = np.random.default_rng(0)
    rows = np.full(64, 80)
    false = sum(bool(change_points(rng.binomial(rows, 0.3), rows)[0]) for _ in range(200))
    assert false <= 6
    rates = np.repeat([0.3, 0.45], [40, 24])
    for _ in range(20):
        (cut,), _ = change_points(rng.binomial(rows, rates), rows)
        assert abs(cut - 40) <= 4


def test_wobble_is_not_change():
    rng = np.random.default_rng(3)
    rows = np.full(100, 1_000_000)
    rates = 0.4 + 0.01 * rng.standard_normal(100)
    changes, spread = change_points(rng.binomial(rows, rates), rows)
    assert changes == ()
    assert spread > 50


def test_times_of_every_kind_and_in_any_order():
    rng = np.random.default_rng(5)
    day = rng.permutation(np.repeat(np.arange(100), 30))
    seen = rng.random(3000) < np.where(day < 70, 0.8, 0.2)
    frame = pd.DataFrame({"a": rng.integers(0, 2, 3000), "o": seen, "day": day})
    frame["stamp"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(frame.day, unit="D")
    frame["date"] = frame.stamp.dt.date
    frame["text"] = frame.stamp.astype(str)
    for column in ("day", "stamp", "date", "text"):
        found = audit(frame, action="a", observed="o", time=column)
        whole = found.courses[0]
        assert len(whole.changes) == 1
        start = whole.starts[whole.changes[0]]
        when = start if column == "day" else (start - 1704067200) / 86400
        assert 67 <= when <= 71
        assert whole.levels == pytest.approx((0.8, 0.2), abs=0.04)
        assert {course.name for course in found.courses} == {None, "0", "1"}
        assert whole.rows.sum() == 3000
        assert "drift" in [w.kind for w in found.warnings]


def test_changes_in_words():
    ones, starts = np.full(4, 100), 86_400.0 * np.arange(4)
    course = Course(None, starts, ones, np.array([50, 50, 10, 10]), (2,), 1.0)
    assert course.in_words(dated=True) == "50.0% until 1970-01-03, then 10.0%"
    assert course.in_words(dated=False) == "50.0% until 172800, then 10.0%"
    hourly = Course(None, starts / 24, ones, np.array([50, 50, 10, 90]), (2, 3), 1.0)
    words = "50.0% until 1970-01-01 02:00, then 10.0% until 1970-01-01 03:00, then 90.0%"
    assert hourly.in_words(dated=True) == words
    assert hourly.in_words(dated=True, most=2) == "50.0% until 1970-01-01 02:00, then ..."
    far = Course(None, starts * 1e12, ones, np.array([50, 50, 10, 10]), (2,), 1.0)
    assert far.in_words(dated=True) == "50.0% until 1.728e+17, then 10.0%"


def test_one_moment_has_no_course():
    assert audit({"a": [1], "r": [1.0], "t": [5]}, action="a", reward="r", time="t").courses == ()
