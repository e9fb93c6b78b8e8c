"""Logs in files: text, JSON Lines, Parquet, Feather, Excel, compressed or not, or piped in."""

from __future__ import annotations

import glob
import gzip
import re
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfseen.errors import InvalidInput, StorageError, shorten
from halfseen.logs.encodings import NATIVE, as_utf8
from halfseen.logs.packed_files import GZIP, ZSTD, check_whole
from halfseen.logs.queries import GIVE, JSON_AS_TEXT, one_of_each, several, text
from halfseen.logs.server_errors import without_password

if TYPE_CHECKING:
    import duckdb

PACKED = ("", ".gz", ".zst")
PARQUET = (".parquet", ".pq")
TEXT = tuple(kind + packed for kind in (".csv", ".tsv", ".txt") for packed in PACKED)
JSON = tuple(kind + packed for kind in (".jsonl", ".ndjson", ".json") for packed in PACKED)
FEATHER = (".feather", ".arrow", ".ipc")
EXCEL = (".xlsx", ".xlsm")
UNTOLD = ("", ".log", ".dat", ".data", ".out")  # file extensions that do not determine the format
INPUT = "standard input"  # name of the file it is kept in
BEGINNINGS = {b"PAR1": ".parquet", b"ARROW1": ".feather", b"PK\x03\x04": ".xlsx"}


@dataclass(frozen=True)
class TextForm:
    """How text is written: its encoding and the mark before decimals."""

    encoding: str | None = None
    decimal: str = "."


def read_files(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    form: TextForm,
    sheet: str | None,
    folder: Path,
) -> tuple[str, str | None]:
    """Return SQL that reads files, and for text files SQL that guesses no types.

    Parameters
    ----------
    connection
        Where tables that DuckDB cannot read itself are registered.
    name
        A path, a folder, a pattern, or ``-``.
    form
        How text in it is written.
    sheet
        The sheet of an Excel file.
    folder
        Where standard input may be kept.
    """
    if not name.strip():
        raise InvalidInput("log", "must be a path", name, GIVE)
    path = _kept_input(folder) if name == "-" else Path(name)
    name = str(path) if name == "-" else name
    if _is_folder(path):
        check_no_table(sheet)
        pattern = _of_folder(path, name)
        _check_packed(connection, pattern)
        return _read_text(connection, pattern, form, folder, hive=True)
    ending = ""
    if path.is_file() or not glob.has_magic(name):
        present(path)
        if path.is_file() and path.stat().st_size == 0:
            raise _empty(name)
        if _untold(path):
            check_whole(path)
            ending = sniff_ending(path, connection)
    lowered = ending or name.lower()
    if lowered.endswith(FEATHER):
        check_no_table(sheet)
        return _registered(connection, _feather(path)), None
    if lowered.endswith(EXCEL):
        return _registered(connection, _excel(path, sheet)), None
    check_no_table(sheet)
    pattern = glob.escape(name) if path.is_file() else name  # log[1].csv is not log1.csv
    _check_packed(connection, pattern)
    return _read_text(connection, pattern, form, folder, ending)


def check_no_table(table: str | None) -> None:
    """Refuse the name of a table or sheet for a log that is one table."""
    if table is not None:
        raise InvalidInput(
            "table",
            "is for databases and Excel files; this log is one table",
            table,
            "Leave it out.",
        )


def _untold(path: Path) -> bool:
    """Return whether a name leaves the kind of file open (log, log.gz) or calls a table text."""
    ending = path.suffix.lower()
    if (Path(path.stem).suffix.lower() if ending in PACKED else ending) in UNTOLD:
        return True
    if ending not in (*TEXT, *JSON) or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(8).startswith(tuple(BEGINNINGS))
    except OSError as error:
        raise _unusable(path, error.strerror) from None


def _read_text(
    connection: duckdb.DuckDBPyConnection,
    pattern: str,
    form: TextForm,
    folder: Path,
    ending: str = "",
    hive: bool = False,
) -> tuple[str, str | None]:
    """Return SQL that reads files, those in an encoding that DuckDB does not read from copies."""
    written = (ending or pattern.lower()).endswith((*TEXT, *JSON))
    if written and form.encoding is not None and form.encoding not in NATIVE.values():
        pattern = as_utf8(connection, pattern, form.encoding, folder)
        form, ending = replace(form, encoding=None), ending.removesuffix(".gz")
    return read_pattern(pattern, form, ending, hive)


def _check_packed(connection: duckdb.DuckDBPyConnection, pattern: str) -> None:
    """Refuse compressed files that are cut off."""
    if pattern.lower().endswith((".gz", ".zst")):
        for (file,) in connection.execute("SELECT file FROM glob(?)", [pattern]).fetchall():
            check_whole(Path(file))


def read_pattern(
    pattern: str, form: TextForm, ending: str = "", hive: bool = False
) -> tuple[str, str | None]:
    """Return SQL that reads what a pattern names, and for text files SQL that guesses no types.

    Parameters
    ----------
    pattern
        A path, an address or a pattern of them.
    form
        How text is written.
    ending
        The ending that tells what kind of file it is; left out, that of the pattern.
    hive
        Whether folders are named ``key=value``.
    """
    asked = pattern.partition("?")[0] if "://" in pattern else pattern  # an address may ask more
    lowered = ending or asked.lower()
    options = ", hive_partitioning = true" if hive else ""
    if lowered.endswith(PARQUET):
        return f"read_parquet({text(pattern)}{options}, union_by_name = true)", None
    options += ", union_by_name = true"
    if ending.endswith((".gz", ".zst")):
        options += f", compression = {text('gzip' if ending.endswith('.gz') else 'zstd')}"
    if lowered.endswith(JSON):
        return f"read_json({text(pattern)}{options})", JSON_AS_TEXT
    if lowered.endswith(TEXT):
        options += f", encoding = {text(form.encoding)}" if form.encoding else ""
        options += ", decimal_separator = ','" if form.decimal == "," else ""
        options += ", header = true"
        read = f"read_csv({text(pattern)}{options}"
        return f"{read})", f"{read}, all_varchar = true)"
    kind = "must be a kind of file that can be read"
    raise InvalidInput("log", kind, without_password(pattern), GIVE)


def repeated_headers(
    connection: duckdb.DuckDBPyConnection, plain: str, columns: dict[str, str]
) -> tuple[str, ...]:
    """Return the names that several columns of a text file have: DuckDB numbers all but the first.

    Parameters
    ----------
    connection
        What reads it.
    plain
        SQL that reads it as text.
    columns
        Its columns.
    """
    numbered = (re.fullmatch(r"(.*)_\d+", name) for name in columns)
    if not any(part is not None and part[1] in columns for part in numbered):
        return ()
    asked = plain.replace(", header = true", ", header = false")
    first = connection.execute(f"SELECT * FROM {asked} LIMIT 1").fetchone() or ()
    return several(str(name).strip() for name in first)


def json_as_text(relation: str, columns: dict[str, str]) -> str:
    """Return SQL that reads JSON with every column as text."""
    types = ", ".join(f"{text(name)}: 'VARCHAR'" for name in columns)
    return f"{relation[:-1]}, columns = {{{types}}})"


def sniff_ending(path: Path, connection: duckdb.DuckDBPyConnection) -> str:
    """Return the extension that fits a file's first bytes.

    Parameters
    ----------
    path
        The file.
    connection
        What unpacks the beginning of a zstd file.

    Raises
    ------
    InvalidInput
        If it begins like no kind of file that can be read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(4096)
        packed = ".gz" if head.startswith(GZIP) else ".zst" if head.startswith(ZSTD) else ""
        if packed == ".gz":
            with gzip.open(path) as file:
                head = file.read(4096)
        elif packed:
            head = _first_line(connection, path)
    except (OSError, EOFError) as error:
        raise _unusable(path, getattr(error, "strerror", None) or "it is cut off") from None
    for mark, ending in BEGINNINGS.items():
        if head.startswith(mark) and not packed:
            return ending
    if head.lstrip()[:1] in (b"{", b"["):
        return f".jsonl{packed}"
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if b"\0" in head and not wide:
        kind = "must be a kind of file that can be read"
        raise InvalidInput("log", kind, _shown(path), GIVE)
    return f".csv{packed}"


def _first_line(connection: duckdb.DuckDBPyConnection, path: Path) -> bytes:
    """Return the first line of text in a zstd file."""
    whole = "delim = '', quote = '', escape = '', auto_detect = false, ignore_errors = true"
    line = connection.execute(
        f"SELECT line FROM read_csv({text(str(path))}, compression = 'zstd', header = false,"
        f" columns = {{'line': 'VARCHAR'}}, {whole}) LIMIT 1"
    ).fetchone()
    return b"" if line is None else str(line[0]).encode()


def present(path: Path) -> None:
    """Refuse a path at which nothing is."""
    try:
        there = path.exists()
    except OSError as error:
        raise _unusable(path, error.strerror) from None
    if not there:
        raise _unusable(path, "no such file")


def _of_folder(path: Path, name: str) -> str:
    kinds = (*PARQUET, *TEXT, *JSON)
    endings = [e for e in kinds if next(path.rglob(f"*{e}"), None) is not None]
    if not endings:
        raise InvalidInput("log", "must hold CSV, JSON Lines or Parquet files", name, GIVE)
    if len(endings) > 1:
        raise InvalidInput(
            "log",
            f"must hold files of one kind, not {' and '.join(endings)}",
            name,
            f"Give a pattern such as {name.rstrip('/')}/**/*{endings[0]}.",
        )
    return f"{glob.escape(name.rstrip('/'))}/**/*{endings[0]}"


def _kept_input(folder: Path) -> Path:
    """Write standard input to a file: a log is read more than once."""
    path = folder / INPUT
    with path.open("wb") as kept:
        shutil.copyfileobj(sys.stdin.buffer, kept)
    if path.stat().st_size == 0:
        raise _empty("standard input")
    return path


def _registered(connection: duckdb.DuckDBPyConnection, found: Any) -> str:
    connection.register("halfseen_log", found)
    return "halfseen_log"


def _feather(path: Path) -> Any:
    try:
        from pyarrow import ArrowInvalid, dataset
    except ImportError:
        raise StorageError("Reading Feather needs pyarrow. Run: pip install pyarrow.") from None
    try:
        return dataset.dataset(path, format="feather")
    except (ArrowInvalid, OSError):
        raise _unusable(path, "it is not a whole Feather file") from None


def _excel(path: Path, sheet: str | None) -> Any:
    import pandas as pd

    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise StorageError(
            "Reading Excel files needs openpyxl. Run: pip install 'halfseen[excel]'."
        ) from None
    try:
        names = pd.read_excel(path, sheet_name=sheet or 0, engine="openpyxl", header=None, nrows=1)
        found = pd.read_excel(path, sheet_name=sheet or 0, engine="openpyxl")
    except Exception as error:  # openpyxl raises many types on a broken archive
        if isinstance(error, ValueError) and sheet is not None and "Worksheet" in str(error):
            raise InvalidInput(
                "table", "must be a sheet of the Excel file", sheet, "Check its name."
            ) from None
        raise _unusable(path, "it is not a whole Excel file") from None
    if not len(names):
        raise _empty(str(path))
    one_of_each(map(str, names.iloc[0].dropna()))
    return found.rename(columns=str)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:  # a name that is too long, or a folder without permission
        raise _unusable(path, error.strerror) from None


def _unusable(path: Path, reason: str | None) -> StorageError:
    return StorageError(f"Cannot read {shorten(_shown(path))}: {reason}. Check the path.")


def _shown(path: Path) -> str:
    """Return a file's name for a message, without the folder that standard input is kept in."""
    kept = path.name == INPUT and path.parent.name.startswith("halfseen-")
    return INPUT if kept else without_password(str(path))


def _empty(name: str) -> InvalidInput:
    return InvalidInput("log", "must hold at least one row", name, "Give a log of decisions.")
