"""Shared parts of log queries: SQL identifiers, numeric results, error messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.errors import InvalidInput, StorageError, one_line
from halfseen.logs.encodings import other_encoding
from halfseen.logs.server_errors import server_reason
from halfseen.tables import brief

NOT_ENCODED = "Invalid Input Error: File is not "  # then the encoding
JSON_AS_TEXT = "JSON"  # stands for SQL that needs the names of the columns
KINDS = (
    "a CSV, JSON Lines, Parquet, Feather or Excel file, a folder or a pattern of them, - for"
    " standard input, a DuckDB or SQLite database, or postgresql://, mysql://, https:// or s3://"
)
GIVE = f"Give {KINDS}."


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
        if said.startswith(NOT_ENCODED):
            raise other_encoding(name, said.removeprefix(NOT_ENCODED).split()[0])
        if "UTF-8" in said or "utf-8" in said or "unicode" in said.lower():
            raise other_encoding(name, None)
        first = next((line.strip() for line in said.splitlines() if line.strip()), "unknown error")
        first = re.sub(r"'[^']*[/\\]standard input'", name, first)  # not where it was kept
        raise StorageError(
            f"Cannot read {brief(name, 200)}: {one_line(first[:200]).rstrip('.')}. Check that the"
            " file is whole, that you may read it and that it is of the kind its name says."
        )


def too_large(name: str) -> InvalidInput:
    """Return the error for rewards too large for a mean or variance."""
    return InvalidInput(
        "log",
        "must hold rewards that can be squared and added up",
        f"infinite or huge ones in {name}",
        "Leave those rows out or measure in a larger unit.",
    )


def several(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that occur more than once.

    >>> several(["x", "y", "x"])
    ('x',)
    """
    return tuple(name for name, times in Counter(names).items() if times > 1)


def one_of_each(names: Iterable[str]) -> None:
    """Refuse a table of which several columns have the same name."""
    if repeated := several(names):
        fix = "Rename one of them."
        raise InvalidInput("log", "must have one column of each name", repeated[0], fix)
