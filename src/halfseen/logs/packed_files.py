"""Whether compressed files are whole: DuckDB reads one that was cut off up to the cut, silently."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import BinaryIO

from halfseen.errors import StorageError, shorten

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
CHUNK = 1 << 20
DICTIONARY_BYTES, SIZE_BYTES = (0, 1, 2, 4), (0, 2, 4, 8)


def check_whole(path: Path) -> None:
    """Refuse a gzip or zstd file that was cut off or damaged; other files pass.

    Raises
    ------
    StorageError
        If something is missing at its end.
    """
    try:
        with path.open("rb") as file:
            mark = file.read(4)
            if mark == ZSTD:
                file.seek(0)
                whole = _whole_zstd(file, path.stat().st_size)
            else:
                whole = not mark.startswith(GZIP) or _whole_gzip(path)
    except OSError as error:
        whole, reason = False, error.strerror or str(error)
    else:
        reason = "it is cut off or damaged"
    if not whole:
        name = shorten(str(path))
        raise StorageError(f"Cannot read {name}: {reason}. Copy or download the file again.")


def _whole_gzip(path: Path) -> bool:
    try:
        with gzip.open(path) as file:
            while file.read(CHUNK):
                pass
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return False
    return True


def _whole_zstd(file: BinaryIO, size: int) -> bool:
    """Walk from block to block (RFC 8878) without unpacking: the last must end with the file."""
    while file.tell() < size:
        mark = file.read(4)
        if len(mark) == 4 and mark[1:] == b"\x2a\x4d\x18" and mark[0] >> 4 == 5:  # skippable
            file.seek(int.from_bytes(file.read(4), "little"), 1)
            continue
        if mark != ZSTD:
            return False
        described = int.from_bytes(file.read(1), "little")
        single, checksum = described >> 5 & 1, described >> 2 & 1
        header = SIZE_BYTES[described >> 6] or single
        file.seek(header + (1 - single) + DICTIONARY_BYTES[described & 3], 1)
        last = False
        while not last:
            block = file.read(3)
            if len(block) < 3:
                return False
            told = int.from_bytes(block, "little")
            last, repeated = bool(told & 1), told >> 1 & 3 == 1
            file.seek(1 if repeated else told >> 3, 1)
        file.seek(4 * checksum, 1)
    return file.tell() == size
