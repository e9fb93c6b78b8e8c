"""Logs are read from whatever people keep them in, and what cannot be is said in a sentence."""

import gzip
import io
import json
import sys

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

from halfseen import HalfseenError, InvalidInput, StorageError, audit
from halfseen.logs.packed_files import check_whole
from halfseen.logs.source import open_log
from logs.test_source import EXPECTED, ROWS, counted

RECORDS = [{"offer": "b", "sold": 1.0}, {"offer": "a", "sold": None}, {"offer": "a", "sold": 0.5}]
LINES = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
TABLE = b"offer,sold\nb,1\na,\na,0.5\n"


def zstd(content):
    return pa.compress(content, codec="zstd", asbytes=True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("log.jsonl", LINES),
        ("log.ndjson", LINES),
        ("log.json", json.dumps(RECORDS).encode()),
        ("log.jsonl.gz", gzip.compress(LINES, mtime=0)),
        ("log.jsonl.zst", zstd(LINES)),
        ("log.csv.gz", gzip.compress(TABLE, mtime=0)),
        ("log.txt.gz", gzip.compress(TABLE, mtime=0)),
        ("log.csv.zst", zstd(TABLE)),
        ("log", TABLE),
        ("log.dat", LINES),
        ("jsonlog", json.dumps(RECORDS).encode()),
        ("packed", gzip.compress(TABLE, mtime=0)),
        ("packed-lines", gzip.compress(LINES, mtime=0)),
        ("zst", zstd(TABLE)),
        ("unnamed.gz", gzip.compress(TABLE, mtime=0)),
        ("lines.log.zst", zstd(LINES)),
    ],
)
def test_text_of_every_kind(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert counted(path) == EXPECTED


def test_binary_files_with_and_without_an_ending(tmp_path):
    frame = pd.DataFrame(ROWS)
    frame.to_parquet(tmp_path / "plain")
    pyarrow.feather.write_feather(pa.Table.from_pandas(frame), tmp_path / "log.feather")
    pyarrow.feather.write_feather(pa.Table.from_pandas(frame), tmp_path / "feather")
    with duckdb.connect(str(tmp_path / "base")) as connection:
        connection.execute("CREATE TABLE decisions AS SELECT * FROM frame")
    (tmp_path / "called.csv").write_bytes((tmp_path / "plain").read_bytes())
    for name in ("plain", "log.feather", "feather", "base", "called.csv"):
        assert counted(tmp_path / name) == EXPECTED, name


def zstd(content):
    return pa.compress(content, codec="zstd", asbytes=True)


@pytest.mark.parametrize(
    "content", [TABLE, LINES, gzip.compress(TABLE, mtime=0), zstd(TABLE), zstd(LINES)]
)
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert counted("-") == EXPECTED


def test_tables_on_standard_input(monkeypatch):
    frame = pd.DataFrame(ROWS)
    feather = io.BytesIO()
    pyarrow.feather.write_feather(pa.Table.from_pandas(frame), feather)
    for content in (frame.to_parquet(), feather.getvalue()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert counted("-") == EXPECTED
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(bytes(99))))
    with pytest.raises(InvalidInput, match="got 'standard input'"):
        open_log("-")
    cut = io.BytesIO(frame.to_parquet()[:99])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(cut))
    with pytest.raises(StorageError, match=r"^Cannot read standard input: [^/]*$"):
        open_log("-")


def test_excel_files_by_name_called_text_and_on_standard_input(tmp_path, monkeypatch):
    pd.DataFrame(ROWS).to_excel(tmp_path / "log.xlsx", index=False)
    content = (tmp_path / "log.xlsx").read_bytes()
    (tmp_path / "export.csv").write_bytes(content)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    for source in (tmp_path / "log.xlsx", tmp_path / "export.csv", "-"):
        assert counted(source) == EXPECTED, source


@pytest.mark.parametrize("name", ["log[1].csv", "log*.csv", "log?.csv"])
def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path, name):
    (tmp_path / "log1.csv").write_text("a,b\n1,2\n")
    pd.DataFrame(ROWS).to_csv(tmp_path / name, index=False)
    assert counted(tmp_path / name) == EXPECTED
    inside = tmp_path / name.removesuffix(".csv")
    inside.mkdir()
    pd.DataFrame(ROWS).to_csv(inside / "log.csv", index=False)
    assert counted(inside) == EXPECTED


def test_a_question_mark_stands_for_one_letter(tmp_path):
    for name in ("log1.csv", "log22.csv"):
        pd.DataFrame(ROWS).to_csv(tmp_path / name, index=False)
    assert counted(tmp_path / "log?.csv") == EXPECTED


def test_nothing_on_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InvalidInput, match="at least one row; got 'standard input'"):
        open_log("-")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("noise", b"\x00\x01\x02" * 99, "kind of file"),
        ("log.feather", b"not one", "not a whole Feather file"),
        ("cut", gzip.compress(TABLE, mtime=0)[:12], "cut off"),
        ("cut.csv.gz", gzip.compress(TABLE * 999, mtime=0)[:-9], "cut off"),
        ("cut.csv.zst", zstd(TABLE * 999)[:-3], "cut off"),
        ("cut.jsonl.zst", zstd(LINES)[: len(zstd(LINES)) // 2], "cut off"),
        ("twice.csv", b"offer,sold,sold\na,1,2\n", "one column, not of several; got 'sold'"),
        ("log.jsonl", b'{"offer": 1', "Cannot read"),
        ("log.xlsx", b"not one", "Excel"),
    ],
)
def test_broken_files(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(HalfseenError, match=message) as raised:
        counted(path)
    assert "\n" not in str(raised.value)


def test_json_that_mixes_types_is_read_as_text(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"offer": 1, "sold": "0.5"}\n{"offer": "b", "sold": 2}\n{"offer": "b"}\n')
    assert counted(path) == (("1", "b"), [1, 2], [1, 1])


def test_a_list_of_dictionaries():
    assert counted(RECORDS) == EXPECTED
    for wrong in ([], [1, 2]):
        with pytest.raises(InvalidInput, match="must be a path or a table"):
            open_log(wrong)


def test_decimal_commas(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("offer;sold;price\nb;1,5;1.000,5\na;;2\na;0,25;n/a\n")
    with pytest.raises(InvalidInput, match=r"other cells in column sold.*say decimal=.,"):
        audit(path, action="offer", reward="sold")
    found = audit(path, action="offer", reward="sold", cost="price", decimal=",")
    assert found.counts.mean.tolist() == [0.25, 1.5]
    assert found.counts.cost.tolist() == [2.0, 1000.5]
    with pytest.raises(InvalidInput, match="`decimal`"):
        open_log(path, decimal=";")


def test_categories_are_read_as_what_they_say():
    frame = pd.DataFrame(
        {"offer": ["a", "a", "b"], "won": ["yes", "no", "yes"], "x": ["1", "", "2"]}
    )
    found = audit(frame.astype("category"), action="offer", observed="won", reward="x")
    assert found.counts.seen.tolist() == [1, 1]
    assert found.counts.mean.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_an_arm_called_nan_is_a_missing_one(make):
    found = audit(
        make({"offer": [1.0, float("nan"), 2.0], "sold": [1.0, 1.0, None]}),
        action="offer",
        reward="sold",
    )
    assert (found.arms, found.counts.unnamed) == (("1.0", "2.0"), 1)


def test_one_name_in_two_schemas_is_refused(tmp_path):
    path = tmp_path / "base.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute("CREATE SCHEMA old; CREATE TABLE old.log AS SELECT 'a' AS offer, 1.0 AS sold")
        base.execute("CREATE TABLE log AS FROM (VALUES ('a', 1.0), ('b', 2.0)) t(offer, sold)")
    message = r"\(main\.log, old\.log\); got 'log'\. Several schemas have it: write schema\.table"
    with pytest.raises(InvalidInput, match=message):
        open_log(path, table="log")
    assert counted(path, table="old.log")[0] == ("a",)
    assert counted(path, table="main.log")[0] == ("a", "b")


def test_a_table_of_a_log_that_is_one_table_is_refused(tmp_path):
    frame = pd.DataFrame({"offer": ["a", "b"], "sold": [1.0, None]})
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    frame.to_feather(tmp_path / "log.feather")
    folder = tmp_path / "logs"
    folder.mkdir()
    frame.to_parquet(folder / "log.parquet")
    paths = [tmp_path / f"log.{kind}" for kind in ("csv", "parquet", "feather")]
    for log in (*paths, tmp_path / "*.csv", folder, frame, "https://example.org/log.csv"):
        with pytest.raises(InvalidInput, match="`table` is for databases and Excel files; this"):
            open_log(log, table="march")


@pytest.mark.parametrize("scale", [1, 10**3, 10**6, 10**9])
@pytest.mark.parametrize("as_text", [False, True])
def test_times_since_1970_are_dates_whatever_their_unit(scale, as_text):
    start = 1_794_700_800  # 2026-11-15
    times = [(start + 86_400 * day) * scale for day in range(60) for _ in range(50)]
    sold = [1.0] * 1500 + [1.0, None, None, None, None] * 300
    log = pd.DataFrame({"offer": "a", "sold": sold, "t": times})
    found = audit(
        log.astype({"t": str}) if as_text else log, action="offer", reward="sold", time="t"
    )
    assert found.dated
    assert "2026-12-1" in str(found)
    assert "e+" not in " ".join(map(str, found.warnings))
    later = audit(log, action="offer", reward="sold", time="t", since="2026-12-15")
    assert later.rows == 1500
    assert audit(log, action="offer", reward="sold", time="t", since=times[1500]).rows == 1500


def test_years_and_counts_are_no_dates():
    log = {"offer": ["a"] * 3, "sold": [1, 2, 3], "t": [2015, 2016, 123_456_789]}
    assert not audit(log, action="offer", reward="sold", time="t").dated


@pytest.mark.parametrize(
    "address", ["https://me:secret@example.com/x.parquet", "s3://bucket/x.csv?key=secret"]
)
def test_addresses_need_an_extension_that_is_not_there(address, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(
        StorageError, match=r"httpfs is not installed\. Download the file"
    ) as raised:
        open_log(address)
    assert "secret" not in str(raised.value)


def test_excel_needs_an_extra_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    path = tmp_path / "log.xlsx"
    path.write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(StorageError, match=r"pip install 'halfseen\[excel\]'"):
        open_log(path)


def test_columns_that_share_a_name_are_refused_only_where_they_are_meant(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("offer,sold,x,x\na,1,2,3\nb,,2,3\n")
    assert counted(path) == (("a", "b"), [1, 1], [1, 0])
    frame = pd.DataFrame([["a", 1, 2], ["b", 3, 4]], columns=["offer", "sold", "sold"])
    with pytest.raises(InvalidInput, match="not of several; got 'sold'"):
        counted(frame)
    table = pa.Table.from_arrays([pa.array(["a"])] * 2, names=["offer", "offer"])
    with pytest.raises(InvalidInput, match="one column of each name; got 'offer'"):
        counted(table)


def test_files_of_several_frames_and_with_checksums_are_whole(tmp_path):
    path = tmp_path / "log.csv.zst"
    skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    for content in (zstd(TABLE) + skipped, zstd(TABLE[:5]) + zstd(TABLE[5:]), zstd(b"")):
        path.write_bytes(content)
        check_whole(path)
    path.write_bytes(zstd(TABLE) + b"more")
    with pytest.raises(StorageError, match="cut off or damaged"):
        check_whole(path)
