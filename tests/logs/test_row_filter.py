"""Rows that are left out are left out, counted and named; a condition can do nothing else."""

import datetime

import pandas as pd
import pytest

from halfseen import InvalidInput, audit, audit_by, feedback_window
from halfseen.logs.columns import Columns
from halfseen.logs.row_filter import RowFilter, filter_rows
from halfseen.logs.source import open_log

LOG = pd.DataFrame(
    {
        "offer": ["a", "a", "b", "b", "c", "c"],
        "sold": [1.0, None, 0.5, 0.25, None, 2.0],
        "land": ["de", "fr", "de", "fr", "de", None],
        "day": pd.to_datetime([f"2024-03-0{d}" for d in (1, 2, 3, 4, 5, 6)]),
        "came": pd.to_datetime([f"2024-03-0{d}" for d in (2, 3, 4, 5, 6, 8)]),
    }
)
COLUMNS = {"action": "offer", "reward": "sold", "time": "day"}


def test_a_filtered_audit_is_that_of_the_rows_that_are_left():
    found = audit(LOG, **COLUMNS, where="LAND = 'de' OR sold > 1")
    left = audit(LOG[(LOG.land == "de") | (LOG.sold > 1)], **COLUMNS)
    assert found.arms == left.arms
    assert found.counts.rows.tolist() == left.counts.rows.tolist() == [1, 1, 2]
    assert found.counts.seen.tolist() == left.counts.seen.tolist()
    assert found.left_out.rows == 2
    assert "Left out: 2 of 6 rows (2 where not (LAND = 'de' OR sold > 1))." in str(found)
    assert found.to_dict()["left_out"]["of"] == 6
    assert audit(LOG, **COLUMNS).to_dict()["left_out"] is None


@pytest.mark.parametrize(
    "since", ["2024-03-02", datetime.date(2024, 3, 2), pd.Timestamp("2024-03-02")]
)
def test_since_counts_and_until_does_not(since):
    found = audit(LOG, **COLUMNS, since=since, until="2024-03-05", drop_arms="b")
    assert (found.arms, found.rows) == (("a",), 1)
    assert [rows for _, rows in found.left_out.reasons] == [1, 2, 2]


def test_rows_without_a_time_are_left_out_and_said_so():
    log = {"offer": ["a"] * 3, "sold": [1, 1, 1], "day": [None, 1.0, 2.0]}
    found = audit(log, **COLUMNS, since="1.5")
    assert str(found.left_out) == "Left out: 2 of 3 rows (1 without day; 1 before 1.5)."
    assert str(audit(log, **COLUMNS, where="sold = 1").left_out) == "Left out: none of 3 rows."


def test_a_text_file_whose_types_were_guessed_wrongly_is_filtered_too(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("offer,sold,land\n" + "a,1,de\n" * 30_000 + "b,n/a,de\nb,2,fr\n")
    found = audit(path, action="offer", reward="sold", where="land = 'de'")
    assert (found.counts.rows.tolist(), found.seen) == ([30_000, 1], 30_000)


@pytest.mark.parametrize(
    "where",
    [
        "sold > 0; DROP TABLE x",
        "sold IN (SELECT 1)",
        "EXISTS (SELECT * FROM read_text('/etc/passwd'))",
        "read_text('/etc/passwd') IS NULL",
        "1) UNION (SELECT 1",
        "sum(sold) > 1",
        "row_number() OVER () = 1",
        "getenv('HOME') = ''",
        "current_setting('memory_limit') = ''",
        "nothing > 1",
        "offer > sold",
        "offer = 3",
        "offer = 'a",
        "error('x')",
        "? = 1",
        "*",
        "",
        7,
    ],
)
def test_only_a_condition_on_the_rows_is_taken(where):
    with pytest.raises(
        InvalidInput, match=r"^`where` must be (one SQL condition|a column)"
    ) as raised:
        audit(LOG, **COLUMNS, where=where)
    assert "\n" not in str(raised.value)


def test_a_condition_cannot_swallow_what_follows_it():
    found = audit(LOG, **COLUMNS, where="sold > 1 -- and so on", drop_arms=["a"])
    assert found.arms == ("c",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"since": "tomorrow"}, r"`since` must be a date such as 2026-03-31"),
        ({"since": "2024-03-05", "until": "2024-03-05"}, "`until` must be after `since`"),
        ({"until": "2020-01-01"}, "`until` must leave at least one row"),
        ({"where": "1 = 0", "until": "2020-01-01"}, "`where` together with until= must leave"),
        ({"drop_arms": ["A1"]}, r"`drop_arms` must be arms of the log \(a, b, c\)"),
        ({"drop_arms": ["offer a"]}, "`drop_arms` must be arms"),
        (
            {"time": None, "since": "2024-03-05"},
            "`since` needs `time`; got '2024-03-05'. Name the column of times with time=",
        ),
        ({"time": None, "until": "2024-03-05"}, "`until` needs `time`; got '2024-03-05'"),
    ],
)
def test_filters_that_mean_nothing(options, message):
    with pytest.raises(InvalidInput, match=message):
        audit(LOG, **COLUMNS | options)


def test_no_arm_to_drop_without_arms():
    rows = RowFilter(drop_arms=("a",))
    with pytest.raises(InvalidInput, match=r"`drop_arms` needs `action`; .* of arms with action="):
        filter_rows(open_log(LOG), Columns(None, "sold", features=("sold",)), rows)


def test_window_leaves_out_the_same_rows():
    found = feedback_window(
        LOG, **COLUMNS, feedback_time="came", learns="on-arrival", where="offer <> 'a'"
    )
    assert found.left_out.rows == 2
    assert "Left out: 2 of 6 rows" in str(found)


def test_every_segment_is_audited_as_if_alone(tmp_path):
    found = audit_by(LOG, "land", **COLUMNS, drop_arms=["a"])
    assert list(found.segments) == ["de", "fr", "(none)"]
    alone = audit(LOG[LOG.land == "de"], **COLUMNS, drop_arms=["a"])
    assert found.segments["de"].answers == alone.answers
    assert [row["decisions"] for row in found.table] == [4, 2, 1, 1]
    page = found.report(tmp_path).read_text()
    assert "land: (none)" in page
    assert "Left out: 2 of 6 rows" in page
    assert (tmp_path / "rates.csv").read_text().startswith("land,arm,rows,seen")


def test_segments_must_be_few_and_there():
    log = {"offer": ["a"] * 201, "sold": [1] * 201, "id": range(201)}
    with pytest.raises(InvalidInput, match="at most 200 values"):
        audit_by(log, "id", action="offer", reward="sold")
    with pytest.raises(InvalidInput, match="Did you mean 'id'"):
        audit_by(log, "ids", action="offer", reward="sold")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("1=1) or (1=1", "syntax error"),
        ("sold = 1) OR (offer = 'a'", "syntax error"),
        ("sold", "It gives DOUBLE, not true or false: compare it, as sold = [01].0"),
        ("offer", "not true or false: compare it, as offer = '[ab]'"),
        ("sold = 1; DROP TABLE t", "Another statement is not allowed"),
    ],
)
def test_a_condition_is_one_expression_that_is_true_or_false(where, said):
    with pytest.raises(InvalidInput, match=f"`where` must be one SQL condition.*{said}"):
        audit(LOG, **COLUMNS, where=where)


def test_a_column_of_flags_is_a_condition():
    log = {"offer": ["a", "a", "b"], "sold": [1, None, 2], "new": [True, False, True]}
    assert audit(log, action="offer", reward="sold", where="new").rows == 2


def test_a_segment_with_an_arm_never_seen_has_the_factor_of_the_others(tmp_path):
    log = {"offer": list("aabc"), "sold": [1.0, None, 2.0, None], "land": ["x"] * 4}
    found = audit_by(log, "land", action="offer", reward="sold")
    assert [(row["never seen"], row["factor"]) for row in found.table] == [(1, 1.5)] * 2
    page = found.report(tmp_path).read_text()
    assert f"halfseen audit LOG --action offer --reward sold --by land --out {tmp_path}" in page


def test_a_segment_whose_numbers_are_void_says_so_first(tmp_path):
    log = {"offer": list("ab") * 30, "sold": [1.0, None] * 30, "land": ["x"] * 60}
    page = audit_by(log, "land", action="offer", reward="sold").report(tmp_path).read_text()
    assert page.index("Every reward in this log is 1.") < page.index("Read this first")
    assert page.count('class="void') == 2


def test_a_segment_named_like_rows_without_a_value_keeps_its_rows():
    log = {"a": ["x"] * 60, "r": [1.0, 0.0, None] * 20, "g": ["(none)", None, "(all)"] * 20}
    found = audit_by(log, "g", action="a", reward="r")
    assert {name: part.rows for name, part in found.segments.items()} == {
        "(all)": 20,
        "(none)": 20,
        "((none))": 20,
    }
    assert found.table.records()[0]["g"] == "((all))"
