"""A log of decisions from any source, aggregated in place by DuckDB."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfseen import checks
from halfseen.errors import InvalidInput, StorageError, did_you_mean
from halfseen.logs import databases, log_files
from halfseen.logs.encodings import checked_encoding
from halfseen.logs.queries import JSON_AS_TEXT, KINDS, explained, one_of_each, several, text
from halfseen.memory import memory_bytes
from halfseen.tables import brief

if TYPE_CHECKING:
    import duckdb

MEMORY_BYTES = 700e6  # beyond, DuckDB works on disk
ONCE = ("RecordBatchReader", "Scanner")  # can be read once: kept, on disk if it is long


@dataclass(frozen=True)
class Log:
    """A table of decisions, opened but not read.

    Attributes
    ----------
    name
        What messages call it.
    relation
        SQL of the table.
    columns
        The type of each column, by name.
    plain
        SQL for the same table with every column as text, where types are only a guess.
    on_server
        Whether it is on a server, whose messages may contain a password.
    decimal
        What separates the decimals of a number that is written as text.
    scales
        Seconds per unit of the columns known to count time since 1970.
    indexed
        Whether the number of rows and the ends of a column are known without reading it all.
    repeated
        Names that several columns share: which is meant cannot be told.
    """

    name: str
    relation: str
    columns: dict[str, str]
    connection: duckdb.DuckDBPyConnection
    plain: str | None = None
    on_server: bool = False
    decimal: str = "."
    scales: dict[str, float | None] = field(default_factory=dict, compare=False)
    indexed: bool = False
    repeated: tuple[str, ...] = ()

    def column(self, field: str, name: Any) -> str:
        """Return the name of an existing column, or suggest a similar one."""
        if name in self.repeated:
            fix = "Rename one of them."
            raise InvalidInput(field, "must be the name of one column, not of several", name, fix)
        if isinstance(name, str) and name in self.columns:
            return name
        known = list(self.columns)
        listed = ", ".join(brief(name, 40) for name in known[:20])
        listed += ", ..." if len(known) > 20 else ""
        hint = did_you_mean(name, known, least=0.5)
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
        return replace(self, relation=self.plain, columns=columns, plain=None, on_server=False)

    def narrowed(self, condition: str) -> Log:
        """Return the rows for which a condition in SQL holds."""
        narrow = f"(SELECT * FROM {self.relation} WHERE {condition})"
        return replace(self, relation=narrow, plain=None, indexed=False)


def open_log(
    source: Any,
    *,
    table: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    in_order: bool = False,
) -> Log:
    """Open a log without reading it.

    Parameters
    ----------
    source
        A path to a CSV, JSON Lines, Parquet, Feather or Excel file (text may be compressed, .gz or
        .zst), ``"-"`` for standard input, a pattern such as ``logs/*.parquet``, a folder of such
        files (with hive-style ``key=value`` folders), a DuckDB or SQLite database, an address such
        as ``postgresql://user@host/base``, ``mysql://user@host/base``, ``https://host/log.csv`` or
        ``s3://bucket/log.parquet``, a pandas, polars or Arrow table, a DuckDB relation, a
        dictionary of columns or a list of dictionaries.
    table
        The table of a database that has several, as ``table`` or ``schema.table``, or the sheet of
        an Excel file.
    encoding
        Of a text file that is not UTF-8: ``"cp1252"``, ``"latin-1"``, ``"utf-16"`` or any other
        that Python knows.
    decimal
        ``","`` if numbers in text are written as 0,5.
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
    order = f"SET preserve_insertion_order = {str(in_order).lower()}"
    if isinstance(source, Log):
        if in_order:
            with explained(source.name, source.on_server):
                source.connection.execute(order)
        return source
    if encoding is not None:
        encoding = checked_encoding(encoding)
    decimal = checks.one_of("decimal", decimal, (".", ","))
    connection, spill = _connected()
    connection.execute(order)
    plain, on_server = None, False
    repeated: tuple[str, ...] = ()
    if isinstance(source, str | Path):
        name = str(source)
        if "://" in name:
            on_server = True
            name, relation, plain = databases.at_address(connection, name, table, encoding, decimal)
        elif name != "-" and databases.is_database(name):
            relation, plain = databases.in_file(connection, name, table)
        else:
            form = log_files.TextForm(encoding, decimal)
            found = log_files.read_files(connection, name, form, table, spill)
            name, relation, plain = ("standard input" if name == "-" else name), *found
    else:
        log_files.check_no_table(table)
        name, relation, repeated = _object(connection, source)
    with explained(name, on_server):
        described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    columns = {row[0]: row[1] for row in described}
    if plain == JSON_AS_TEXT:
        plain = log_files.json_as_text(relation, columns)
    if relation.startswith("read_csv("):
        repeated = log_files.repeated_headers(connection, str(plain), columns)
    return Log(
        name,
        relation,
        columns,
        connection,
        plain,
        on_server,
        decimal,
        indexed=relation.startswith("read_parquet("),
        repeated=repeated,
    )


def _connected() -> tuple[duckdb.DuckDBPyConnection, Path]:
    """Return a connection of limited memory, and the folder it may use, which goes with it."""
    import duckdb

    connection = duckdb.connect()
    limit = int(min(MEMORY_BYTES, memory_bytes() / 2))
    connection.execute(f"SET memory_limit = '{limit} bytes'")
    spill = tempfile.mkdtemp(prefix="halfseen-")  # DuckDB's files in it are named alike
    weakref.finalize(connection, shutil.rmtree, spill, ignore_errors=True)
    connection.execute(f"SET temp_directory = {text(spill)}")
    connection.execute("SET python_enable_replacements = false")  # views see no Python variables
    connection.execute("SET autoinstall_known_extensions = false")  # nothing is downloaded
    return connection, Path(spill)


def _check_lengths(columns: Mapping[str, Any]) -> None:
    """Refuse columns of different lengths."""
    lengths = {
        name: len(column)
        for name, column in columns.items()
        if hasattr(column, "__len__") and not isinstance(column, str)
    }
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name}: {rows:,}" for name, rows in list(lengths.items())[:4])
        raise InvalidInput(
            "log", "must have columns of one length", said, "Give every column as many rows."
        )


def _object(connection: duckdb.DuckDBPyConnection, source: Any) -> tuple[str, str, tuple[str, ...]]:
    import duckdb

    kind = type(source).__name__
    wrong = InvalidInput(
        "log", "must be a path or a table", source, f"Give {KINDS}, or a pandas or polars table."
    )
    records = isinstance(source, list) and all(isinstance(row, Mapping) for row in source)
    if isinstance(source, Mapping) or (records and source):
        import pandas as pd

        if not records:
            _check_lengths(source)
        try:
            source = pd.DataFrame(source if records else dict(source))
        except (ValueError, TypeError):
            raise wrong
    repeated: tuple[str, ...] = ()
    if type(source).__module__.split(".")[0] == "pyarrow" and hasattr(source, "schema"):
        one_of_each(source.schema.names)
    try:
        if type(source).__module__.split(".")[0] == "pandas":
            source = source.rename(columns=str)
            repeated = several(source.columns)
            source = source.loc[:, ~source.columns.duplicated()] if repeated else source
        if isinstance(source, duckdb.DuckDBPyRelation):
            source = source.arrow()  # its own connection may be closed by then
        connection.register("halfseen_log", source)
        if type(source).__name__ in ONCE:
            with explained(f"the {kind}"):
                connection.execute("CREATE TEMP TABLE halfseen_kept AS FROM halfseen_log")
            return f"the {kind}", "halfseen_kept", repeated
    except ImportError:
        raise StorageError(f"Reading {kind} needs pyarrow. Run: pip install pyarrow.")
    except (duckdb.Error, TypeError, ValueError):
        raise wrong
    return f"the {kind}", "halfseen_log", repeated
