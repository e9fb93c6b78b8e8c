"""Whatever the types, a reward is seen or missing, never guessed."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import HalfseenError, InvalidInput, audit
from halfseen.logs import reward_cells
from halfseen.logs.columns import MISSING, Columns
from halfseen.logs.counts import read_decisions
from halfseen.logs.source import Log, open_log


def counts(rows, **columns):
    return read_decisions(open_log(rows), Columns("a", **columns)).counts


def test_numbers_of_every_kind():
    frame = pd.DataFrame({"a": [1, 1, 1, 1], "r": [1.0, math.nan, 3.0, None]})
    found = counts(frame, reward="r")
    assert (found.rows[0], found.seen[0], found.mean[0], found.variance[0]) == (4, 2, 2.0, 2.0)
    assert counts({"a": [1, 1], "r": [True, False]}, reward="r").mean[0] == 0.5
    assert counts({"a": [1, 1], "r": [None, None]}, reward="r").seen[0] == 0
    small = pd.DataFrame({"a": [1, 2], "r": pd.array([3, None], dtype="UInt8")})
    assert counts(small, reward="r").seen.tolist() == [1, 0]


def test_words_for_missing_in_text():
    words = [*MISSING, "NaN", " NA ", "2.5"]
    found = counts({"a": ["x"] * len(words), "r": words}, reward="r")
    assert (found.rows[0], found.seen[0], found.mean[0]) == (len(words), 1, 2.5)


def test_numeric_arms_are_in_the_order_of_numbers():
    assert counts({"a": [10, 9, 2], "r": [1, 1, 1]}, reward="r").names == ("2", "9", "10")


def test_rows_without_an_arm_are_counted_apart():
    found = counts({"a": ["x", None], "r": [1.0, 1.0]}, reward="r")
    assert found.names == ("x",)
    assert found.unnamed == 1


@pytest.mark.parametrize(
    "flags", [[True, True, False], [1, 1, 0], ["yes", "Y", "no"], ["TRUE", "t", ""], [1.0, 1.0, 0]]
)
def test_flags_of_every_kind(flags):
    rows = {"a": [1, 1, 1], "o": flags, "r": [5.0, None, 7.0]}
    assert counts(rows, observed="o").seen[0] == 2
    found = counts(rows, observed="o", reward="r")
    assert found.seen[0] == 1
    assert found.mean[0] == 5.0
    assert found.contradicting[0] == 1
    assert found.hidden[0] == 1
    assert found.hidden_mean[0] == 7.0


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ({"a": [1], "r": ["abc"]}, {"reward": "r"}, "`reward` must hold numbers.*1 other cells"),
        (
            {"a": [1, 2], "r": [1, 1], "t": ["", "31.01.2026 13:00"]},
            {"reward": "r", "time": "t"},
            "Write times as 2026-01-31 13:00:00 instead of '31.01.2026 13:00'",
        ),
        ({"a": [1, 1], "r": [math.inf, 0]}, {"reward": "r"}, "squared and added up"),
        ({"a": [1], "r": [math.inf]}, {"reward": "r"}, "squared and added up"),
        ({"a": [1, 1], "r": [-1e200, 0]}, {"reward": "r"}, "squared and added up"),
        ({"a": [1], "r": ["inf"]}, {"reward": "r"}, "squared and added up"),
        ({"a": [1], "o": [2]}, {"observed": "o"}, "`observed` must hold true and false"),
        ({"a": [1], "o": ["maybe"]}, {"observed": "o"}, "`observed` must hold true and false"),
        ({"a": [1], "r": [1], "t": ["soon"]}, {"reward": "r", "time": "t"}, "`time` must hold"),
        ({"a": [1], "r": [[1]]}, {"reward": "r"}, "must be a column of numbers"),
        ({"a": [1], "r": [1]}, {}, "nothing says which feedback is missing"),
        ({"a": [1], "r": [1]}, {"reward": "rr"}, "Did you mean 'r'"),
    ],
)
def test_cells_that_cannot_be_read(rows, columns, message):
    with pytest.raises(InvalidInput, match=message):
        counts(rows, **columns)


def test_a_type_that_changes_far_down_a_file(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("a,r\n" + "1,0.5\n" * 30_000 + "late,\n")
    found = read_decisions(open_log(path), Columns("a", "r")).counts
    assert found.names == ("1", "late")
    assert found.seen.tolist() == [30_000, 0]


@pytest.mark.slow
def test_numbers_read_as_text_are_no_dates(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("a,r,t\n" + "1,0.5,3\n1,,4\n" * 20_000 + "late,,5\n")
    found = audit(path, action="a", reward="r", time="t")
    assert (found.arms, found.dated) == (("1", "late"), False)
    assert found.courses[0].starts[0] == 3.0
    path.write_text("a,r,t\n" + "1,0.5,2024-01-03\n1,,2024-01-04\n" * 20_000 + "late,,\n")
    found = audit(path, action="a", reward="r", time="t")
    assert (found.arms, found.dated) == (("1", "late"), True)


def test_many_arms_agree_with_pandas():
    rng = np.random.default_rng(0)
    rewards = rng.normal(1e6, 1.0, 20_000)
    rewards[rng.random(20_000) < 0.4] = np.nan
    frame = pd.DataFrame({"a": rng.integers(0, 500, 20_000), "r": rewards})
    found = counts(frame, reward="r")
    theirs = frame.groupby("a").r.agg(["size", "count", "mean", "var"])
    np.testing.assert_array_equal(found.rows, theirs["size"])
    np.testing.assert_array_equal(found.seen, theirs["count"])
    np.testing.assert_allclose(found.mean, theirs["mean"], rtol=1e-12)
    np.testing.assert_allclose(found.variance, theirs["var"], rtol=1e-8)


def attempted(what):
    """Return what comes out, or what is said; any other error passes through."""
    try:
        return what(), ""
    except HalfseenError as error:
        return None, str(error)


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=6)
)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=8))
def test_any_table_gives_counts_or_a_sentence(rows):
    frame = pd.DataFrame(rows, columns=["a", "r", "t"], dtype=object)
    found, said = attempted(lambda: counts(frame, reward="r", time="t"))
    assert "\n" not in said
    assert found is None or found.rows.sum() + found.unnamed == len(rows)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=60) | st.text("a,r\n\"1.;\t'x", max_size=60).map(str.encode))
def test_any_file_gives_counts_or_a_sentence(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "log.csv"
    path.write_bytes(b"a,r\n" + content)
    _, said = attempted(lambda: read_decisions(open_log(path), Columns("a", "r")))
    assert "\n" not in said


@pytest.mark.parametrize("time", ["t", None])
@pytest.mark.parametrize("unnamed", [False, True])
def test_a_long_parquet_log_is_counted_like_the_table_it_holds(
    tmp_path, monkeypatch, unnamed, time
):
    rng = np.random.default_rng(3)
    arm = rng.choice(["a", "b", "c"], 3000).astype(object)
    reward = np.where(rng.random(3000) < 0.6, rng.normal(size=3000), np.nan)
    reward[arm == "c"] = np.nan
    reward[5], arm[5] = 99.0, None if unnamed else "a"
    moment = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(3000), unit="h")
    frame = pd.DataFrame({"a": arm, "r": reward, "t": moment})
    frame.to_parquet(tmp_path / "log.parquet")
    monkeypatch.setattr(reward_cells, "EXACT", 100)
    stored = read_decisions(open_log(tmp_path / "log.parquet"), Columns("a", "r", time=time))
    table = read_decisions(open_log(frame), Columns("a", "r", time=time))
    assert (stored.cells is not None, table.cells is None) == (True, True)
    assert stored.counts.names == table.counts.names
    for name in ("rows", "seen", "mean", "variance", "least", "most", "unnamed"):
        ours, theirs = getattr(stored.counts, name), getattr(table.counts, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    if time is not None:
        np.testing.assert_array_equal(stored.binned.seen, table.binned.seen)


def test_rewards_seen_in_a_long_log_are_counted_once_on_the_way(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 4, 3000), "r": rng.normal(size=3000)})
    frame.loc[rng.random(3000) < 0.4, "r"] = None
    frame.to_parquet(tmp_path / "log.parquet")
    monkeypatch.setattr(reward_cells, "EXACT", 100)
    asked = []
    query = Log.query
    monkeypatch.setattr(Log, "query", lambda log, sql: asked.append(sql) or query(log, sql))
    found = read_decisions(open_log(tmp_path / "log.parquet"), Columns("a", "r")).counts
    assert found.seen.tolist() == frame.groupby("a").r.count().tolist()
    assert not any("count(reward)" in sql for sql in asked)


@pytest.mark.parametrize("arms", [1, 10])
def test_no_reward_of_a_named_arm_in_a_long_log(tmp_path, monkeypatch, arms):
    frame = pd.DataFrame({"a": np.arange(300.0) % arms, "r": np.nan})
    frame.loc[:9, "a"], frame.loc[:9, "r"] = np.nan, np.linspace(0, 9, 10)
    frame.to_parquet(tmp_path / "log.parquet")
    monkeypatch.setattr(reward_cells, "EXACT", 100)
    found = read_decisions(open_log(tmp_path / "log.parquet"), Columns("a", "r")).counts
    assert (found.seen.sum(), found.unnamed, len(found)) == (0, 10, arms)
    assert np.isnan(found.mean).all()


ZONED = ("2026-01-01 12:00:00+02", "2026-01-02T12:00:00Z", "2026-01-03 12:00:00 +0200")


@pytest.mark.parametrize("zoned", ZONED)
@pytest.mark.parametrize("turned", [False, True])
def test_times_with_a_zone_beside_times_without_are_refused(tmp_path, zoned, turned):
    times = ["known,sent", f"2026-01-04 13:00:00,{zoned}"]
    if turned:
        times = [",".join(reversed(line.split(","))) for line in times]
    path = tmp_path / "log.csv"
    path.write_text(f"offer,sold,{times[0]}\na,1,{times[1]}\n", encoding="utf-8")
    named = {"action": "offer", "reward": "sold", "time": times[0].split(",")[1]}
    with pytest.raises(InvalidInput, match="got one in sent and none in known"):
        audit(path, **named, feedback_time=times[0].split(",")[0])


def test_times_that_all_have_a_zone_or_none_are_compared(tmp_path):
    rows = "offer,sold,sent,known,day\n" + "".join(
        f"a,{i % 2},2026-01-0{1 + i % 3} 12:00:00+02,2026-01-0{2 + i % 3} 11:00:00Z,2026-01-09\n"
        for i in range(12)
    )
    (tmp_path / "log.csv").write_text(rows, encoding="utf-8")
    named = {"action": "offer", "reward": "sold", "time": "sent"}
    found = audit(tmp_path / "log.csv", **named, feedback_time="known")
    assert found.maturity is not None
    assert 25 * 3600.0 <= found.maturity.window < 27 * 3600.0
    audit(tmp_path / "log.csv", **named, feedback_time="day")
