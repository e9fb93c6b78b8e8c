"""Tables print for reading and export for pasting."""

import csv
import io
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen.errors import InvalidInput
from halfseen.tables import Table, percent, show, table, with_error

AWKWARD = 'a|b & 50% $x_1^2$ #{\\} ~ "q", <i>\n[z] *'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (math.nan, ""),
        (0.0, "0"),
        (0.5, "0.5"),
        (1 / 3, "0.3333"),
        (0.000012345, "1.234e-05"),
        (999.94, "999.9"),
        (999.96, "1,000"),
        (1000.0, "1,000"),
        (-12345.678, "-12,346"),
        (1e15, "1e+15"),
        (math.inf, "inf"),
        (1234567, "1,234,567"),
        (np.int64(1234567), "1,234,567"),
        (np.float32(0.25), "0.25"),
        (np.float64("nan"), ""),
        (True, "True"),
        ("1234567", "1234567"),
        ([1], "[1]"),
    ],
)
def test_show(value, text):
    assert show(value) == text


def test_str_aligns_numbers_right_and_words_left():
    text = str(Table(("name", "count"), (("a", 5), ("long name", 12345), ("b", None))))
    assert text.splitlines() == [
        "name        count",
        "-----------------",
        "a               5",
        "long name  12,345",
        "b",
    ]


def test_records_and_length():
    rows = table([{"a": 1, "b": None}, {"a": 2, "b": "x"}])
    assert rows.records() == list(rows) == [{"a": 1, "b": None}, {"a": 2, "b": "x"}]
    assert len(rows) == 2
    assert len(table([])) == 0


def test_markdown_keeps_one_line_per_row_and_one_cell_per_column():
    lines = Table((AWKWARD, "n"), ((AWKWARD, 0.5), ("\\|", None))).to_markdown().splitlines()
    assert len(lines) == 4
    for line in lines:
        cells = re.split(r"(?<!\\)(?:\\\\)*\|", line)
        assert len(cells) == 4, line
    assert lines[1] == "| --- | --- |"
    assert lines[3] == r"| \\\| |  |"
    assert r"\<i\>" in lines[2]


def test_latex_escapes_every_special_character():
    text = Table(("name", "n"), ((AWKWARD, 0.5), ("[z]", 1), ("*", 2))).to_latex()
    lines = text.splitlines()
    assert lines[0] == r"\begin{tabular}{lr}"
    assert lines[-1] == r"\end{tabular}"
    assert lines[2] == r"name & n \\"
    assert lines[4] == (
        r"a\textbar{}b \& 50\% \$x\_1\textasciicircum{}2\$ \#\{\textbackslash{}\}"
        r' \textasciitilde{} "q", \textless{}i\textgreater{} {[}z{]} {*} & $0.5$ \\'
    )
    assert lines[5].startswith("{[}z")
    assert lines[6].startswith("{*}")


cells = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@given(st.lists(st.tuples(st.text(min_size=1), cells, cells), max_size=5))
def test_csv_round_trip(rows):
    columns = ("name", 'first, "odd"\n', "second")
    text = Table(columns, tuple(rows)).to_csv()
    found = list(csv.reader(io.StringIO(text, newline="")))
    assert tuple(found[0]) == columns
    plain = [[cell.removeprefix("'") for cell in row] for row in found[1:]]
    assert plain == [["" if v is None else str(v).removeprefix("'") for v in row] for row in rows]
    for row, (_, *values) in zip(found[1:], rows, strict=True):
        for written, value in zip(row[1:], values, strict=True):
            if isinstance(value, float) and value == value:
                assert float(written) == value  # numbers in full precision


FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-", "=", "＝1", "-1_0"]


@pytest.mark.parametrize("cell", FORMULAS)
def test_csv_has_no_cell_that_a_spreadsheet_runs(cell):
    text = Table((cell, "x"), ((cell, -1.5), ("-1.5", -2), ("+3e-2", None))).to_csv()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows == [["'" + cell, "x"], ["'" + cell, "-1.5"], ["-1.5", "-2"], ["+3e-2", ""]]


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_csv_text_begins_like_a_formula_only_if_it_is_a_number(rows):
    for row in csv.reader(io.StringIO(Table(("a", "b"), tuple(rows)).to_csv(), newline="")):
        for cell in row:
            if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")):
                float(cell)


def test_printed_tables_keep_one_short_line_per_row_and_cannot_steer_a_terminal():
    lines = str(Table(("a",), (("x\n\x1b[31m\u202e",), ("y" * 10_000,)))).splitlines()
    assert lines[2] == "x\\n\\x1b[31m\\u202e"
    assert len(lines[3]) == 100
    assert len(lines) == 4


RESULTS = Table(
    ("world", "policy", "regret", "± 95%", "seen"),
    (
        ("a", "UCB", 81.234, 4.912, 0.5),
        ("a", "IMED", 35.0, 3.0, 0.25),
        ("b", "UCB", -1234.5, 120.0, None),
        ("b", "IMED", 1e-20, None, math.inf),
    ),
)


def test_latex_sets_the_best_of_the_groups_that_are_asked_for_in_bold():
    assert RESULTS.to_latex(best="regret", within=()).count("mathbf") == 1
    assert RESULTS.to_latex(best="regret", within=["policy"]).count("mathbf") == 2
    assert Table(("n", "regret"), (("a", 2.0), ("b", 1.0))).to_latex(best="regret").count("bf") == 1


def test_latex_sets_all_in_bold_that_their_errors_cannot_tell_from_the_best():
    rows = (("UCB", 12.0, 3.0), ("IMED", 10.0, 4.0), ("random", 16.0, 2.0))
    found = Table(("policy", "regret", "± 95%"), rows)
    bold = [
        line.split(" ")[0] for line in found.to_latex(best="regret").splitlines() if "bf" in line
    ]
    assert bold == ["UCB", "IMED"]  # 6 is more than the root of 4^2 + 2^2
    told = Table(found.columns, rows, {"regret": frozenset({1, 2})})
    assert r"random & $\mathbf" in told.to_latex(best="regret")
    assert told.to_latex(best="regret", within=["policy"]).count("mathbf") == 3
    assert told == found


def test_formulas_in_a_caption_are_kept_and_money_is_not_one():
    found = Table(("a",), ((1,),))
    assert r"\caption{50\% at $T=10^4$}" in found.to_latex(caption="50% at $T=10^4$")
    assert r"\caption{over \$5}" in found.to_latex(caption="over $5")


def test_a_number_its_error_and_the_ends_of_its_interval_have_the_same_decimals():
    columns = ("policy", "regret", "± 95%", "low", "high", "factor")
    rows = (
        ("IMED", 161.39, 33.804, 127.586, 195.194, 3.178),
        ("UCB", 50.78, 8.938, 41.842, 59.718, 1.0),
    )
    assert Table(columns, rows).written() == [
        ("IMED", "161.4", "33.8", "127.6", "195.2", "3.178"),
        ("UCB", "50.8", "8.9", "41.8", "59.7", "1.000"),
    ]
    alone = Table(("regret", "± 95%"), ((161.39, None), (50.781, None)))
    assert [row[0] for row in alone.written()] == ["161.39", "50.78"]
    exact = Table(("regret", "± 95%"), ((0.02, 0.0), (50.781, 8.9)))
    assert exact.written() == [("0.02", "0.0"), ("50.8", "8.9")]


def test_latex_joins_errors_and_sets_the_best_of_each_group_in_bold():
    text = RESULTS.to_latex(
        ["policy", "regret", "seen"], best="regret", caption="50%", label="tab:x"
    )
    assert text.splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{50\%}",
        r"\label{tab:x}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"policy & regret $\pm$ 95\% & seen \\",
        r"\midrule",
        r"UCB & $81.2 \pm 4.9$ & $0.50$ \\",
        r"IMED & $\mathbf{35.0 \pm 3.0}$ & $0.25$ \\",
        r"UCB & $\mathbf{-1{,}234 \pm 120}$ &  \\",
        r"IMED & $1 \cdot 10^{-20}$ & $\infty$ \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def test_latex_keeps_errors_that_have_nothing_to_join_and_the_decimals_of_a_column():
    text = Table(("policy", "factor", "± 95%"), (("UCB", 1.0, 0.5), ("IMED", 1.636, 0.25)))
    assert text.to_latex(["policy", "± 95%"]).splitlines()[2:6:2] == [
        r"policy & $\pm$ 95\% \\",
        r"UCB & $0.50$ \\",
    ]
    assert "UCB & $1.000$" in Table(("p", "f"), (("UCB", 1.0), ("IMED", 1.636))).to_latex()


@pytest.mark.parametrize(
    "options",
    [{"columns": ["reward"]}, {"best": "reward"}, {"best": "regret", "within": ["x"]}],
)
def test_a_column_that_is_not_there_is_named_with_those_that_are(options):
    with pytest.raises(InvalidInput, match=r"must be columns of the table; got .* Use world, pol"):
        RESULTS.to_latex(**options)


def test_the_best_of_a_column_that_is_not_written_is_refused():
    with pytest.raises(InvalidInput, match="`best` must be among the columns; got 'regret'"):
        RESULTS.to_latex(["policy"], best="regret")


def test_only_numbers_have_a_best():
    with pytest.raises(InvalidInput, match="`best` must be a column of numbers"):
        RESULTS.to_latex(best="policy")


def test_data_frames_keep_full_precision_and_missing_values():
    frame = RESULTS.to_pandas()
    assert list(frame.columns) == list(RESULTS.columns)
    assert frame["regret"].tolist() == [81.234, 35.0, -1234.5, 1e-20]
    assert math.isnan(frame["seen"][2])
    polars = RESULTS.to_polars()
    assert polars.columns == list(RESULTS.columns)
    assert polars["seen"].to_list() == [0.5, 0.25, None, math.inf]
    assert Table(("a",), ()).to_pandas().shape == (0, 1)
    assert Table(("a",), ()).to_polars().shape == (0, 1)


def test_a_notebook_shows_an_escaped_table_with_numbers_to_the_right():
    text = Table(("<b>", "n"), (("<script>", 1234.5),))._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert '<td style="text-align: right">1,234</td>' in text
    assert text.count("<tr>") == 2


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_a_value_with_its_error_is_rounded_to_the_error(value, error):
    shown, spread = (float(part.replace(",", "")) for part in with_error(value, error).split(" ± "))
    assert abs(shown - value) <= 0.06 * error
    assert abs(spread - error) <= 0.06 * error


@given(st.floats(0.0, 1.0))
def test_a_percentage_is_near_and_neither_none_nor_all_unless_it_is(share):
    written = float(percent(share).removesuffix("%"))
    assert written == pytest.approx(100 * share, rel=0.051)
    assert (written in (0.0, 100.0)) == (100 * share in (0.0, 100.0))


def test_numbers_of_a_column_have_the_same_decimals_everywhere():
    rows = ((0.677, 1.57, 10.0, 3), (0.5953, 6.162, 1e-9, 4), (None, 1234.5, math.inf, 5))
    found = Table(("rate", "worth", "far", "count"), rows)
    cells = [line.split() for line in str(found).splitlines()[2:]]
    assert cells[0] == ["0.6770", "1.570", "10", "3"]
    assert cells[1] == ["0.5953", "6.162", "1e-09", "4"]
    assert cells[2] == ["1,234.500", "inf", "5"]
    for written in (found.to_markdown(), found._repr_html_()):
        assert "0.6770" in written
        assert "1.570" in written
    assert "0.677," in found.to_csv()  # in full
