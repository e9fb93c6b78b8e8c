"""A log of decisions wherever it is kept, DuckDB aggregates it, nothing is loaded."""

from __future__ import annotations

import difflib
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput, StorageError, one_line, shorten
from halfseen.logs.server_errors import server_reason, without_password
from halfseen.memory import memory_bytes
from halfseen.tables import brief

if TYPE_CHECKING:
    import duckdb

MEMORY_BYTES = 700e6  # beyond, DuckDB works on disk
SERVERS = {"postgresql": "postgres", "postgres": "postgres", "mysql": "mysql"}
ONCE = ("RecordBatchReader", "Scanner")  # can be read once: kept, on disk if it is long
SQLITE = b"SQLite format 3\0"  # how such a file begins
DATABASES = (".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3")
PARQUET = (".parquet", ".pq")
ENCODINGS = ("utf-8", "latin-1", "utf-16")
TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".csv.zst")
KINDS = (
    "a CSV or Parquet file, a folder or a pattern of them, a DuckDB or SQLite database, or"
    " postgresql:// or mysql://"
)
GIVE = f"Give {KINDS}."


@dataclass(frozen=True)
class Log:
    """A table of decisions, opened but not read.

    Attributes
    ----------
    name
        What messages call it.
    relation
        SQL that stands for the table.
    columns
        The type of each column, by name.
    plain
        SQL for the same table with every column as text, where types are only a guess.
    on_server
        Whether a server is asked, whose messages may hold a password.
    """

    name: str
    relation: str
    columns: dict[str, str]
    connection: duckdb.DuckDBPyConnection
    plain: str | None = None
    on_server: bool = False

    def column(self, field: str, name: Any) -> str:
        """Return the name of a column that is there, or say which one is near."""
        if isinstance(name, str) and name in self.columns:
            return name
        known = list(self.columns)
        folded = {column.casefold(): column for column in known}
        near = None
        if isinstance(name, str):
            close = difflib.get_close_matches(name.casefold(), folded, 1, 0.5)
            near = folded[close[0]] if close else None
        listed = ", ".join(brief(name, 40) for name in known[:20])
        listed += ", ..." if len(known) > 20 else ""
        hint = f"Did you mean {shorten(near)}?" if near else "Choose one of those."
        if len(known) == 1 and any(mark in known[0] for mark in ",;|\t"):
            hint = "The first line was not split: check that every line has as many cells as it."
        raise InvalidInput(field, f"must be a column of the log ({listed})", name, hint)

    def query(self, sql: str) -> dict[str, Any]:
        """Return the columns of a query as arrays, masked where a value is missing."""
        with explained(self.name, self.on_server):
            found: dict[str, Any] = self.connection.execute(sql).fetchnumpy()
            return found

    def as_text(self) -> Log:
        """Return the same log with every column as text."""
        assert self.plain is not None
        if self.plain == self.relation:
            self.connection.execute("SET sqlite_all_varchar = true")
        columns = dict.fromkeys(self.columns, "VARCHAR")
        return Log(self.name, self.plain, columns, self.connection)

    def narrowed(self, condition: str) -> Log:
        """Return the rows for which a condition in SQL holds."""
        narrow = f"(SELECT * FROM {self.relation} WHERE {condition})"
        return replace(self, relation=narrow, plain=None)


def open_log(
    source: Any, *, table: str | None = None, encoding: str | None = None, in_order: bool = False
) -> Log:
    """Open a log without reading it.

    Parameters
    ----------
    source
        A path to a CSV or Parquet file, a pattern such as ``logs/*.parquet``, a folder of such
        files (with hive-style ``key=value`` folders), a DuckDB or SQLite database, the address of
        a server such as ``postgresql://user@host/base`` or ``mysql://user@host/base``, a pandas,
        polars or Arrow table, a DuckDB relation or a dictionary of columns.
    table
        The table to read, in a database that has several.
    encoding
        Of a CSV file that is not UTF-8: ``"latin-1"`` or ``"utf-16"``.
    in_order
        Give rows in the order in which they are stored. Counting is faster without.

    Returns
    -------
    Log
        The open log.

    Examples
    --------
    >>> open_log({"offer": [1, 2], "sold": [1.0, None]}).columns
    {'offer': 'BIGINT', 'sold': 'DOUBLE'}
    """
    import duckdb

    order = f"SET preserve_insertion_order = {str(in_order).lower()}"
    if isinstance(source, Log):
        if in_order:
            with explained(source.name, source.on_server):
                source.connection.execute(order)
        return source
    if encoding is not None:
        encoding = checks.one_of("encoding", encoding, ENCODINGS)
    connection = duckdb.connect()
    limit = int(min(MEMORY_BYTES, memory_bytes() / 2))
    connection.execute(f"SET memory_limit = '{limit} bytes'")
    connection.execute(order)
    spill = tempfile.mkdtemp(prefix="halfseen-")  # DuckDB's files in it are named alike
    weakref.finalize(connection, shutil.rmtree, spill, ignore_errors=True)
    connection.execute(f"SET temp_directory = {text(spill)}")
    connection.execute("SET python_enable_replacements = false")  # views see no Python variables
    plain, on_server = None, False
    if isinstance(source, str | Path):
        name = str(source)
        scheme, on_server = name.partition("://")[0], "://" in name
        if on_server:
            address = scheme.lower() + name[len(scheme) :]
            name = scheme = scheme.lower()
            if scheme not in SERVERS:
                raise _no_server(scheme)
            relation = _attached(connection, address, SERVERS[scheme], table)
        elif name.lower().endswith(DATABASES):
            kind = "sqlite" if _begins(Path(name), SQLITE) else None
            relation = _attached(connection, name, kind, table)
            plain = relation if kind else None
        else:
            relation, plain = _files(name, encoding)
    else:
        name, relation = _object(connection, source)
    with explained(name, on_server):
        described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    columns = {row[0]: row[1] for row in described}
    return Log(name, relation, columns, connection, plain, on_server)


def identifier(name: str) -> str:
    """Write a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Write a text for SQL."""
    return "'" + value.replace("'", "''") + "'"


def filled(values: Any) -> Vector:
    """Return numbers with NaN where a query gave none."""
    masked: Any = np.ma.asarray(values)
    return np.asarray(masked.astype(float).filled(np.nan))


@contextmanager
def explained(name: str, on_server: bool = False) -> Iterator[None]:
    """Turn DuckDB's errors into a sentence; a wrong guess of types passes through.

    Parameters
    ----------
    name
        What to call the log.
    on_server
        Whether it is on a server, whose messages may hold a password and are not repeated.
    """
    import duckdb

    try:
        yield
    except (duckdb.ConversionException, duckdb.TypeMismatchException):
        raise
    except duckdb.OutOfRangeException:
        raise too_large(name) from None
    except (duckdb.Error, UnicodeError) as error:
        said = str(error)
        if on_server:
            reason = server_reason(said, name)
            raise StorageError(f"Cannot read {name}: {reason}. Check the address.") from None
        if "UTF-8" in said or "utf-8" in said or "unicode" in said.lower():
            raise InvalidInput(
                "log",
                "must be text in UTF-8",
                name,
                "Say which encoding it has: --encoding latin-1 (or utf-16), or encoding='latin-1'.",
            )
        first = next((line.strip() for line in said.splitlines() if line.strip()), "unknown error")
        raise StorageError(
            f"Cannot read {brief(name, 200)}: {one_line(first[:200]).rstrip('.')}. Check that the"
            " file is whole, that you may read it and that it is of the kind its name says."
        )


def too_large(name: str) -> InvalidInput:
    """Return the refusal of rewards that no mean or variance can be taken of."""
    return InvalidInput(
        "log",
        "must hold rewards that can be squared and added up",
        f"infinite or huge ones in {name}",
        "Leave those rows out or measure in a larger unit.",
    )


def _object(connection: duckdb.DuckDBPyConnection, source: Any) -> tuple[str, str]:
    import duckdb

    kind = type(source).__name__
    wrong = InvalidInput(
        "log", "must be a path or a table", source, f"Give {KINDS}, or a pandas or polars table."
    )
    if isinstance(source, Mapping):
        import pandas as pd

        try:
            source = pd.DataFrame(dict(source))
        except (ValueError, TypeError):
            raise wrong
    try:
        if type(source).__module__.split(".")[0] == "pandas":
            source = source.rename(columns=str)
        if isinstance(source, duckdb.DuckDBPyRelation):
            source = source.arrow()  # its own connection may be closed by then
        connection.register("halfseen_log", source)
        if type(source).__name__ in ONCE:
            with explained(f"the {kind}"):
                connection.execute("CREATE TEMP TABLE halfseen_kept AS FROM halfseen_log")
            return f"the {kind}", "halfseen_kept"
    except ImportError:
        raise StorageError(f"Reading {kind} needs pyarrow. Run: pip install pyarrow.")
    except (duckdb.Error, TypeError, ValueError):
        raise wrong
    return f"the {kind}", "halfseen_log"


def _files(name: str, encoding: str | None) -> tuple[str, str | None]:
    """Return SQL that reads files, and for text files SQL that guesses no types."""
    path, pattern = Path(name), name
    if not name.strip():
        raise InvalidInput("log", "must be a path", name, GIVE)
    folder = _is_folder(path)
    if folder:
        endings = [e for e in (*PARQUET, *TEXT) if next(path.rglob(f"*{e}"), None) is not None]
        if not endings:
            raise InvalidInput("log", "must hold CSV or Parquet files", name, GIVE)
        if len(endings) > 1:
            raise InvalidInput(
                "log",
                f"must hold files of one kind, not {' and '.join(endings)}",
                name,
                f"Give a pattern such as {name.rstrip('/')}/**/*{endings[0]}.",
            )
        pattern = f"{name.rstrip('/')}/**/*{endings[0]}"
    elif not any(letter in name for letter in "*?["):
        _present(path)
        if path.stat().st_size == 0:
            raise _empty(name)
    lowered = pattern.lower()
    hive = ", hive_partitioning = true" if folder else ""
    if lowered.endswith(PARQUET):
        return f"read_parquet({text(pattern)}{hive}, union_by_name = true)", None
    if lowered.endswith(TEXT):
        options = f"{hive}, union_by_name = true"
        options += f", encoding = {text(encoding)}" if encoding else ""
        return tuple(
            f"read_csv({text(pattern)}{options}, header = true{more})"
            for more in ("", ", all_varchar = true")
        )  # type: ignore[return-value]
    kind = "must be a kind of file that can be read"
    raise InvalidInput("log", kind, without_password(name), GIVE)


def _attached(
    connection: duckdb.DuckDBPyConnection, address: str, kind: str | None, table: str | None
) -> str:
    """Attach a database and return SQL for the one table asked for."""
    on_server = "://" in address
    name = address.partition("://")[0] if on_server else address
    with explained(name, on_server):
        if kind is not None:
            _load_extension(connection, kind)
        how = f"TYPE {kind}, READ_ONLY" if kind else "READ_ONLY"
        connection.execute(f"ATTACH {text(address)} AS halfseen_source ({how})")
        found = connection.execute(
            "SELECT schema_name, name FROM (SELECT *, table_name AS name FROM duckdb_tables()"
            " UNION ALL BY NAME SELECT *, view_name AS name FROM duckdb_views() WHERE NOT internal)"
            " WHERE database_name = 'halfseen_source'"
            " AND schema_name NOT IN ('information_schema', 'pg_catalog') ORDER BY ALL"
        ).fetchall()
        # A view of the database must not read files of whoever opens it.
        connection.execute("SET enable_external_access = false")
        if kind != "sqlite":  # as_text sets an option of its reader
            connection.execute("SET lock_configuration = true")
    known = {short: (schema, short) for schema, short in found}
    known |= {f"{schema}.{short}": (schema, short) for schema, short in found}
    if table is None and len(found) == 1:
        schema, chosen = found[0]
    elif table in known:
        schema, chosen = known[table]
    else:
        near = difflib.get_close_matches(table, known, 1) if isinstance(table, str) else []
        hint = f"Did you mean {near[0]!r}?" if near else "Choose one of those with --table."
        listed = ", ".join(brief(name, 40) for _, name in found[:20]) or "none"
        raise InvalidInput("table", f"must be a table of the database ({listed})", table, hint)
    return f"halfseen_source.{identifier(schema)}.{identifier(chosen)}"


def _load_extension(connection: duckdb.DuckDBPyConnection, kind: str) -> None:
    """Load DuckDB's reader of another database from a package, else from where DuckDB keeps it."""
    import duckdb

    try:
        parts = metadata.files(f"duckdb-extension-{kind}-scanner") or []
        for part in parts:
            if part.name.endswith(".duckdb_extension"):
                connection.load_extension(str(part.locate()))
    except metadata.PackageNotFoundError:
        try:
            connection.load_extension(kind)
        except duckdb.Error:
            raise StorageError(
                f"Cannot read {kind}: DuckDB's reader for it is not installed."
                f" Run: pip install 'halfseen[{kind}]'."
            )


def _begins(path: Path, mark: bytes) -> bool:
    _present(path)
    try:
        with path.open("rb") as file:
            return file.read(len(mark)) == mark
    except OSError as error:
        raise StorageError(
            f"Cannot read {brief(str(path), 200)}: {error.strerror}. Check the path."
        )


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:  # a name that is too long, a folder that is closed
        raise _unusable(path, error.strerror) from None


def _present(path: Path) -> None:
    try:
        there = path.exists()
    except OSError as error:
        raise _unusable(path, error.strerror) from None
    if not there:
        raise _unusable(path, "no such file")


def _unusable(path: Path, reason: str | None) -> StorageError:
    name = shorten(without_password(str(path)))
    return StorageError(f"Cannot read {name}: {reason}. Check the path.")


def _no_server(scheme: str) -> InvalidInput:
    known = "must be a file, or an address that begins with postgresql:// or mysql://"
    away = scheme in ("http", "https", "ftp", "s3", "gs", "gcs", "az", "abfs", "hf")
    fix = "Download the file and give its path." if away else GIVE
    return InvalidInput("log", known, f"{scheme}://", fix)


def _empty(name: str) -> InvalidInput:
    return InvalidInput("log", "must hold at least one row", name, "Give a log of decisions.")
