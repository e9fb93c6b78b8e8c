"""Text files in encodings that DuckDB does not read, such as Excel's on Windows."""

from __future__ import annotations

import codecs
import gzip
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfseen.errors import InvalidInput
from halfseen.logs.option_names import option
from halfseen.logs.packed_files import GZIP, ZSTD

if TYPE_CHECKING:
    import duckdb

NATIVE = {"utf-8": "utf-8", "utf-8-sig": "utf-8", "iso8859-1": "latin-1", "utf-16": "utf-16"}
CHUNK = 1 << 20  # characters


def checked_encoding(name: Any) -> str:
    """Return an encoding under the name that DuckDB or Python has for it.

    >>> checked_encoding("Latin1"), checked_encoding("windows-1252"), checked_encoding("UTF8")
    ('latin-1', 'cp1252', 'utf-8')
    """
    try:
        "".encode(name)  # refuses codecs that are not for text
        found = codecs.lookup(name).name
    except (LookupError, TypeError, ValueError):
        fix = "Use for example cp1252, as Excel on Windows writes it, latin-1 or utf-16."
        raise InvalidInput("encoding", "must be an encoding of text", name, fix) from None
    return NATIVE.get(found, found)


def other_encoding(name: str, encoding: str | None) -> InvalidInput:
    """Return the refusal of a file that is not in the encoding it should be in."""
    if encoding is None:
        fix = f"Say which it is: {option('encoding', 'cp1252')}, as Excel on Windows writes it,"
        return InvalidInput("log", "must be text in UTF-8", name, f"{fix} latin-1 or utf-16.")
    fix = "Excel on Windows writes cp1252 or utf-16."
    return InvalidInput("encoding", "must be the one the file is written in", encoding, fix)


def as_utf8(
    connection: duckdb.DuckDBPyConnection, pattern: str, encoding: str, folder: Path
) -> str:
    """Write the files of a pattern again, in UTF-8 and unpacked, and return the pattern of those.

    Parameters
    ----------
    connection
        What finds the files.
    pattern
        A path or a pattern of text files.
    encoding
        Their encoding.
    folder
        Where to write.
    """
    found = [row[0] for row in connection.execute("SELECT file FROM glob(?)", [pattern]).fetchall()]
    if not found:
        return pattern  # DuckDB says that nothing is there
    start, into = os.path.commonpath([str(Path(file).parent) for file in found]), folder / "utf-8"
    for file in found:
        path = Path(file)
        with path.open("rb") as opened:
            head = opened.read(4)
        if head == ZSTD:
            fix = "Unpack it first, or write it in UTF-8."
            raise InvalidInput("encoding", "cannot come with a .zst file", encoding, fix)
        new = into / path.relative_to(start)
        new = new.with_suffix("") if new.suffix.lower() == ".gz" else new
        new.parent.mkdir(parents=True, exist_ok=True)
        read = gzip.open if head.startswith(GZIP) else open
        try:
            with (
                read(path, "rt", encoding=encoding, newline="") as source,
                new.open("w", encoding="utf-8", newline="") as target,
            ):
                shutil.copyfileobj(source, target, CHUNK)
        except UnicodeError:
            raise other_encoding(str(path), encoding) from None
    ending = Path(found[0].removesuffix(".gz")).suffix
    return f"{into}/**/*{ending}" if len(found) > 1 else str(new)
