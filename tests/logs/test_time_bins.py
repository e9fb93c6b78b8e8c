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
    assert len(found.starts) == BINS


def test_bins_begin_at_times_that_can_be():
    assert (bins([2007, 2016]).starts % 1.0 == 0.0).all()
    assert bins([2007.5, 2016.0]).starts[1] == 2007.5 + 8.5 / BINS
    days = pd.to_datetime(["2024-01-01", "2024-03-01"])
    assert (bins(days.date).starts % 86_400 == 0.0).all()
    assert (bins(days).starts[1] % 86_400) != 0.0


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
    for one, other in zip(follow_rates(timed), follow_rates(apart), strict=True):
        np.testing.assert_array_equal(one.rows, other.rows)
        np.testing.assert_array_equal(one.seen, other.seen)
        assert one.name == other.name
    assert sum(follow_rates(apart)[0].rows) == n - 21 - 31
