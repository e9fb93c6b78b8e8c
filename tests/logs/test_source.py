"""Logs of every kind are opened, and what cannot be opened is refused with a sentence."""

import gc
import gzip
import sqlite3
import tempfile
from contextlib import closing
from importlib import metadata
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

from halfseen import HalfseenError, InvalidInput, StorageError, audit
from halfseen.logs.columns import Columns
from halfseen.logs.counts import read_decisions
from halfseen.logs.source import open_log

ROWS = {"offer": ["b", "a", "a"], "sold": [1.0, None, 0.5]}


def counted(source, **options):
    counts = read_decisions(open_log(source, **options), Columns("offer", "sold")).counts
    return counts.names, counts.rows.tolist(), counts.seen.tolist()


EXPECTED = (("a", "b"), [2, 1], [1, 1])


@pytest.mark.parametrize(
    "make",
    [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table],
    ids=lambda make: make.__name__,
)
def test_tables_in_memory(make):
    assert counted(make(ROWS)) == EXPECTED


def test_a_relation_and_a_log_that_is_open():
    frame = pd.DataFrame(ROWS)
    assert counted(duckdb.from_df(frame)) == EXPECTED
    assert counted(open_log(frame)) == EXPECTED


@pytest.mark.parametrize(
    "make", [lambda t: t.to_reader(), duckdb.from_arrow, lambda t: pa.dataset.dataset(t).scanner()]
)
def test_what_can_be_read_once_is_asked_more_than_once(make):
    table = pa.table({"offer": ["a", "b"] * 50, "sold": [1.0, None] * 50, "day": range(100)})
    found = audit(make(table), action="offer", reward="sold", time="day", features=["day"])
    assert (found.rows, found.courses[0].rows.sum(), found.direction.rows.sum()) == (100, 100, 100)


def test_opening_does_not_change_the_table():
    frame = pd.DataFrame({0: ["a"], 1: [1.0]})
    assert list(open_log(frame).columns) == ["0", "1"]
    assert list(frame.columns) == [0, 1]


def test_files_patterns_folders_and_databases(tmp_path):
    frame = pd.DataFrame(ROWS)
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    assert counted(tmp_path / "log.csv") == EXPECTED
    assert counted(str(tmp_path / "log.parquet")) == EXPECTED
    for day in (1, 2):
        folder = tmp_path / "days" / f"day={day}"
        folder.mkdir(parents=True)
        frame.to_parquet(folder / "part.parquet")
    twice = (("a", "b"), [4, 2], [2, 2])
    assert counted(tmp_path / "days") == twice
    assert counted(str(tmp_path / "days" / "*" / "*.parquet")) == twice
    assert "day" in open_log(tmp_path / "days").columns

    base = tmp_path / "base.duckdb"
    with duckdb.connect(str(base)) as connection:
        connection.execute("CREATE TABLE decisions AS SELECT * FROM frame")
    assert counted(base) == EXPECTED
    with duckdb.connect(str(base)) as connection:
        connection.execute("CREATE TABLE other AS SELECT 1 AS x")
    assert counted(base, table="decisions") == EXPECTED
    assert counted(base, table="main.decisions") == EXPECTED
    with pytest.raises(InvalidInput, match=r"decisions, other.*Choose one"):
        open_log(base)
    with pytest.raises(InvalidInput, match="Did you mean 'decisions'"):
        open_log(base, table="decision")


def sqlite_base(path, rows):
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE decisions (offer TEXT, sold REAL, day TEXT)")
        base.executemany("INSERT INTO decisions VALUES (?, ?, ?)", rows)
        base.execute("CREATE VIEW recent AS SELECT * FROM decisions WHERE day > '2024'")


@pytest.mark.parametrize("name", ["base.sqlite", "base.sqlite3", "base.db"])
def test_sqlite(tmp_path, name):
    rows = [("b", 1.0, "2024-01-01"), ("a", None, "2024-01-02"), ("a", 0.5, "2024-01-03")]
    sqlite_base(tmp_path / name, rows)
    assert counted(tmp_path / name, table="decisions") == EXPECTED
    assert counted(tmp_path / name, table="recent") == EXPECTED
    with pytest.raises(InvalidInput, match=r"decisions, recent.*Did you mean 'decisions'"):
        open_log(tmp_path / name, table="decision")
    columns = {"action": "offer", "reward": "sold", "time": "day"}
    found = audit(tmp_path / name, table="decisions", **columns)
    assert (found.seen, found.dated, len(found.courses)) == (2, True, 3)


def test_sqlite_holds_any_type_in_any_column(tmp_path):
    path = tmp_path / "base.sqlite"
    rows = [("b", 1.0, ""), ("a", "n/a", ""), ("a", "0.5", "")]
    sqlite_base(path, rows)
    assert counted(path, table="decisions") == EXPECTED
    sqlite_base(tmp_path / "bad.sqlite", [*rows, ("a", "lots", "")])
    with pytest.raises(InvalidInput, match="1 other cells in column sold"):
        counted(tmp_path / "bad.sqlite", table="decisions")


def test_a_reader_that_cannot_be_had(tmp_path, monkeypatch):
    sqlite_base(tmp_path / "base.sqlite", [])

    def nothing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", nothing)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(StorageError, match=r"pip install 'halfseen\[sqlite\]'"):
        open_log(tmp_path / "base.sqlite")


def test_a_folder_of_two_kinds(tmp_path):
    frame = pd.DataFrame(ROWS)
    frame.to_csv(tmp_path / "one.csv", index=False)
    frame.to_parquet(tmp_path / "two.parquet")
    with pytest.raises(InvalidInput, match=r"one kind, not \.parquet and \.csv.*Give a pattern"):
        open_log(tmp_path)
    assert counted(f"{tmp_path}/**/*.csv") == EXPECTED


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "at least one row"),
        ("empty.parquet", b"", "at least one row"),
        ("broken.parquet", b"PAR1 and then nothing", r"Cannot read .*broken.parquet"),
        ("head.csv", b"offer,sold\n", "at least one row with an action"),
        ("latin.csv", b"offer,sold\nb\xe9b\xe9,1\n" * 30, "UTF-8.*latin-1"),
        ("picture.png", b"x", "kind of file"),
        ("inf.csv", b"offer,sold\na,inf\na,\n", "squared and added up"),
        ("dates.csv", b"offer,sold\na,2024-01-01\na,\n", "`sold`|1 other cells in column sold"),
        ("ragged.csv", b"offer,sold\na,1\nb,1,2,3\nc\n", "as many cells"),
        ("wide.csv", "offer,sold\na,1\n".encode("utf-16"), "utf-16"),
        ("base.duckdb", b"not a database at all", "Cannot read"),
        ("base.sqlite", b"SQLite format 3\0 and then nothing", "Cannot read"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(HalfseenError, match=message) as raised:
        counted(path)
    assert "\n" not in str(raised.value)


def test_truncated_parquet(tmp_path):
    path = tmp_path / "log.parquet"
    pd.DataFrame({"offer": range(10_000), "sold": 1.0}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(StorageError, match="Check that the file is whole"):
        counted(path)


def test_other_encodings(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("offer,sold\nbébé,1\nbébé,\n".encode("latin-1"))
    assert counted(path, encoding="latin-1") == (("bébé",), [2], [1])


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz", "part/x=1/log.csv", "log"])
def test_files_of_excel_on_windows_are_read(tmp_path, name):
    text = "größe,sold\r\n“ä”€,1\r\n“ä”€,\r\n".encode("cp1252")
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    given = tmp_path / "part" if "/" in name else path
    read = audit(given, action="größe", reward="sold", encoding="windows-1252")
    assert (read.arms, read.rows, read.seen) == (("“ä”€",), 2, 1)
    with pytest.raises(InvalidInput, match=r'encoding="cp1252", as Excel on Windows'):
        audit(given, action="größe", reward="sold")
    for wrong in ("latin-1", "utf-16", "ascii"):
        with pytest.raises(InvalidInput, match=r"`encoding` must be the one .* cp1252"):
            audit(given, action="größe", reward="sold", encoding=wrong)


def test_what_is_not_there(tmp_path):
    with pytest.raises(StorageError, match="no such file"):
        open_log(tmp_path / "nothing.csv")
    with pytest.raises(StorageError, match="no such file"):
        open_log(tmp_path / "nothing.duckdb")
    with pytest.raises(StorageError, match="No files found"):
        open_log(str(tmp_path / "*.parquet"))
    with pytest.raises(InvalidInput, match="must hold CSV, JSON Lines or Parquet files"):
        open_log(tmp_path)
    with pytest.raises(InvalidInput, match="must be a path"):
        open_log(" ")
    with pytest.raises(
        InvalidInput, match=r"must be a file, or an address .*Download the file"
    ) as raised:
        open_log("gs://me:secret@bucket/x.parquet")
    assert "secret" not in str(raised.value)
    with pytest.raises(InvalidInput, match=r"`encoding` .*latin-1"):
        open_log(tmp_path / "nothing.csv", encoding="klingon")
    for wrong in (3, None, pd.Series([1]), pd.DataFrame()):
        with pytest.raises(InvalidInput, match="must be a path or a table"):
            open_log(wrong)
    with pytest.raises(InvalidInput, match="columns of one length; got 'offer: 1, sold: 2'"):
        open_log({"offer": [1], "sold": [1, 2]})


def test_names_are_quoted(tmp_path):
    path = tmp_path / "it's.csv"
    path.write_text('"of""fer",so ld\na,1\nb,\n')
    counts = read_decisions(open_log(path), Columns('of"fer', "so ld")).counts
    assert counts.seen.tolist() == [1, 0]


@pytest.mark.slow
def test_every_log_spills_into_a_folder_of_its_own_that_goes_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ask = "SELECT current_setting('temp_directory') AS place"
    logs = [open_log({"offer": [1], "sold": [1.0]}) for _ in range(2)]
    places = [Path(str(log.query(ask)["place"][0])) for log in logs]
    assert len(set(places)) == 2
    assert all(place.parent == tmp_path and place.stat().st_mode & 0o77 == 0 for place in places)
    del logs
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_duckdb_keeps_within_half_of_a_container(monkeypatch):
    monkeypatch.setattr("halfseen.memory.container_limit", lambda: 200e6)
    log = open_log({"offer": [1], "sold": [1.0]})
    (limit,) = log.query("SELECT current_setting('memory_limit') AS x")["x"]
    assert limit == "95.3 MiB"
