"""Time in equal bins, whatever it is written as."""

import math

import numpy as np
import pandas as pd
import pytest

from halfseen import InvalidInput
from halfseen.logs import counts
from halfseen.logs.columns import Columns
from halfseen.logs.counts import read_decisions
from halfseen.logs.drift import follow_rates
from halfseen.logs.mature_rows import count_over_time
from halfseen.logs.source import open_log
from halfseen.logs.time_bins import BINS


def bins(times, **more):
    rows = {"a": 1, "r": 1.0, "t": times, **more}
    return read_decisions(open_log(pd.DataFrame(rows)), Columns("a", "r", time="t")).bins


@pytest.mark.parametrize(
    "times",
    [
        [3, 1, 2],
        [3.0, 1.0, math.nan],
        ["3", "1.0", ""],
        pd.to_datetime([3, 1, None], unit="s"),
        pd.to_datetime([3, 1, None], unit="s", utc=True),
        ["1970-01-01 00:00:03", "1970-01-01 00:00:01", None],
    ],
    ids=["whole", "real", "text", "timestamps", "with a zone", "dates as text"],
)
def test_ends(times):
    found = bins(times)
    assert (found.first, found.last) == (1.0, 3.0)
    assert found.starts[0] == 1.0
    assert len(found.starts) == found.count <= BINS


def test_bins_begin_at_times_that_can_be():
    assert (bins([2007, 2016]).starts % 1.0 == 0.0).all()
    assert bins([2007.5, 2016.0]).starts[1] == 2007.5 + 8.5 / BINS
    days = pd.to_datetime(["2024-01-01", "2024-03-01"])
    assert (bins(days.date).starts % 86_400 == 0.0).all()


@pytest.mark.parametrize(
    ("days", "step", "count"),
    [(0.5, 1 / 128, 128), (10, 1 / 11, 121), (63, 0.5, 128), (100, 1, 101), (200, 7, 29)],
)
def test_bins_of_dates_are_whole_parts_of_a_day_or_whole_weeks(days, step, count):
    start = pd.Timestamp("2024-01-03 06:00")
    found = bins([start, start + pd.Timedelta(days=days)])
    assert found.step == pytest.approx(step * 86_400)
    assert found.count == count
    assert found.starts[1] == pytest.approx(pd.Timestamp("2024-01-03").timestamp() + found.step)


@pytest.mark.parametrize("days", [20, 100, 400, 2000])
def test_places_know_their_weekday(days):
    stamps = pd.date_range("2024-01-03 05:00", periods=days, freq="D")
    log = open_log(pd.DataFrame({"a": 1, "r": 1.0, "t": stamps}))
    read = read_decisions(log, Columns("a", "r", time="t"))
    place = read.log.query(f"SELECT bin FROM {read.sql} ORDER BY time")["bin"].astype(int)
    assert read.bins.weekday_of(place).tolist() == stamps.day_of_week.tolist()
    assert place.max() < read.bins.places
    assert (np.diff(read.bins.bin_of(place)) >= 0).all()
    week = np.arange(days) // 7
    pairs = {(a, b) for a, b in zip(week, read.bins.week_of(place), strict=True)}
    assert len(pairs) == len(set(week))  # a week is never cut


def test_no_time_and_times_without_end():
    assert bins([None, None]) is None
    assert bins([5, 5]).step == 0.0
    for end in (math.inf, 1.7e308):
        with pytest.raises(InvalidInput, match="`time` must hold times that are finite"):
            bins([-1.7e308, end])


def test_counting_by_time_changes_no_count(monkeypatch):
    rng = np.random.default_rng(2)
    n = 4000
    frame = pd.DataFrame(
        {
            "a": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "r": np.where(rng.random(n) < 0.5, rng.normal(1e6, 1.0, n), np.nan),
            "t": rng.permutation(n),
            "q": rng.random(n),
        }
    )
    frame.loc[:20, ["a"]] = None
    frame["t"] = frame.t.astype("Int64")
    frame.loc[30:60, ["t"]] = None
    names = {"reward": "r", "propensity": "q", "cost": "q"}
    plain = read_decisions(open_log(frame), Columns("a", **names)).counts
    timed = read_decisions(open_log(frame), Columns("a", time="t", **names))
    for name, values in vars(plain).items():
        found = getattr(timed.counts, name)
        if isinstance(values, np.ndarray):
            np.testing.assert_allclose(found, values, rtol=1e-9, err_msg=name)
        else:
            assert found == values
    monkeypatch.setattr(counts, "ARMS", 3)  # many arms are counted over time by themselves
    apart = read_decisions(open_log(frame), Columns("a", time="t", **names))
    assert apart.binned is None
    courses = [follow_rates(read, count_over_time(read, None)) for read in (timed, apart)]
    for one, other in zip(*courses, strict=True):
        np.testing.assert_array_equal(one.rows, other.rows)
        np.testing.assert_allclose(one.shares, other.shares, rtol=1e-12)
        assert one.name == other.name
    assert sum(courses[0][0].rows) == n - 21 - 31
