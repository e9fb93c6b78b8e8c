"""Results on disk: a folder per study, a folder per finished cell, arrays and JSON, no pickle.

Every file is written next to its final path, flushed to disk, and renamed: a file with its final
name is complete. Arrays carry a checksum: a file that was cut short or altered is refused.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from halfseen.errors import InvalidInput, StorageError

STUDY_FILE, CELL_FILE = "study.json", "cell.json"
CELLS, PARTS, SUMMARIES = "cells", "parts", "summaries"
_NOT_JSON = object()
LOCK_FILE, DRAFT, OLD = ".lock", ".draft", ".old"
ABANDONED_SECONDS = 3600.0  # temporary files older than this are leftovers of a killed process


def write_text(path: Path, text: str) -> None:
    """Write a whole text file or nothing."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file or nothing; a link is followed and an existing file keeps its mode."""
    with whole_file(path) as file:
        file.write(content)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces the target once it is complete, else not at all."""
    with explained(path):
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as device:  # or a pipe
                yield device
            return
        file = _new_draft(target)
        draft = Path(file.name)
        try:
            with file:
                if target.exists():
                    draft.chmod(stat.S_IMODE(target.stat().st_mode))
                yield file
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)  # from here on the name may be another thread's draft
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        sync_folder(target.parent)


def _new_draft(target: Path) -> BinaryIO:
    """Open a new file next to a path; remove what a killed process left there."""
    name = hashlib.sha256(target.name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    draft = target.with_name(f".{name}{DRAFT}")
    with contextlib.suppress(FileNotFoundError):
        if time.time() - draft.stat().st_mtime > ABANDONED_SECONDS:
            draft.unlink()
    while True:
        try:
            return draft.open("xb")
        except FileExistsError:  # another thread or process is writing there
            draft = target.with_name(f".{name}.{secrets.token_hex(8)}{DRAFT}")


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk, where the system allows it."""
    if sys.platform != "win32":
        _sync(folder)


def _sync_all(paths: list[Path]) -> None:
    """Flush files to disk concurrently: three to five times as fast as one by one."""
    with ThreadPoolExecutor(len(paths)) as pool:
        list(pool.map(_sync, paths))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_plain_file(path: Path) -> None:
    """Refuse a pipe, a device or a folder in place of a file: reading it might never end."""
    with readable(path):
        if path.exists() and not path.is_file():
            raise StorageError(
                f"Cannot read {path}: it is not a regular file. Remove it, or choose another place."
            )


def is_marked(folder: Path, mark: str) -> bool:
    """Return whether the marker file exists; raise if unrelated files do."""
    with readable(folder, "Cannot use", "Choose another folder"):
        if folder.exists() and not folder.is_dir():
            raise InvalidInput("out", "must be a folder", str(folder), "Choose another name.")
        for name in (mark, LOCK_FILE):
            check_plain_file(folder / name)
        marked = (folder / mark).exists()
        names = [] if marked or not folder.exists() else os.listdir(folder)
    if any(name != LOCK_FILE and not name.endswith(DRAFT) for name in names):
        raise InvalidInput(
            "out",
            "must be a new or empty folder, not one that holds other files",
            str(folder),
            "Choose another folder.",
        )
    return marked


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    content = _parsed(path)
    if content is _NOT_JSON:
        raise StorageError(
            f"{path} is damaged: it is not JSON. Restore it from a copy, or choose another place."
        )
    return content


def _parsed(path: Path) -> Any:
    check_plain_file(path)
    with readable(path):
        text = path.read_bytes()
    try:
        return json.loads(text.decode())
    except (ValueError, RecursionError):
        return _NOT_JSON


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content with its checksum added; content with the right one is unchanged."""
    plain = {key: value for key, value in content.items() if key != "checksum"}
    text = json.dumps(plain, sort_keys=True)
    return plain | {"checksum": hashlib.sha256(text.encode()).hexdigest()}


def write_cell(
    folder: Path, digest: str, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]
) -> None:
    """Write a finished cell; if interrupted, either the old or the new one can be read."""
    cells = folder / CELLS
    place, draft, old = cells / digest, cells / f".{digest}{DRAFT}", _old(folder, digest)
    with explained(place):
        try:
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            sums = {}
            for name, array in arrays.items():
                path = draft / f"{name}.npy"
                save_array(path, array)
                sums[name] = _checksum(path)
            text = json.dumps(sealed(facts | {"arrays": sums}), indent=1)
            (draft / CELL_FILE).write_text(text, encoding="utf-8")
            _sync_all(list(draft.iterdir()))
            sync_folder(draft)
            if place.exists():
                shutil.rmtree(old, ignore_errors=True)
                place.rename(old)  # where it is still found
            draft.rename(place)
            sync_folder(cells)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write the array as `numpy.save` does, but so that Ctrl-C raises KeyboardInterrupt.

    `numpy.save` calls `tofile`, which raises TypeError when it is interrupted.
    """
    plain = np.ascontiguousarray(array).reshape(array.shape)
    with path.open("wb") as file:
        header = np.lib.format.header_data_from_array_1_0(plain)
        np.lib.format.write_array_header_1_0(file, header)
        file.write(plain.data)


def tidy(folder: Path) -> None:
    """Remove what killed runs left among the cells, and restore the cells they had moved."""
    parts = [*(folder / PARTS).glob("*"), *(folder / SUMMARIES / PARTS).glob("*")]
    with explained(folder):
        for path in folder.glob(f".*{DRAFT}"):
            if time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
                path.unlink(missing_ok=True)
        for cells in (place / CELLS for place in (folder, folder / SUMMARIES, *parts)):
            for path in cells.glob(f".*{DRAFT}"):
                shutil.rmtree(path, ignore_errors=True)
            for path in cells.glob(f".*{OLD}"):
                place = cells / path.name.removeprefix(".").removesuffix(OLD)
                if place.exists():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.rename(place)


def read_facts(folder: Path, digest: str) -> dict[str, Any] | None:
    """Return the facts of a finished cell and its arrays' checksums; None if it is not there."""
    place = _present(folder, digest)
    if place is None:
        return None
    facts = _parsed(place / CELL_FILE)
    if not isinstance(facts, dict) or sealed(facts) != facts:
        raise _damaged(place / CELL_FILE)
    return facts


def read_cell(folder: Path, digest: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any] | None:
    """Fill `arrays` with a finished cell and return its facts, or None if it is not there."""
    place, facts = _present(folder, digest), read_facts(folder, digest)
    if place is None or facts is None:
        return None
    sums = facts.get("arrays")
    if not isinstance(sums, dict) or set(sums) != set(arrays):
        raise _damaged(place / CELL_FILE)
    for name, array in arrays.items():
        array[...] = _read_array(place / f"{name}.npy", sums[name], array)
    return {key: value for key, value in facts.items() if key not in ("arrays", "checksum")}


def _present(folder: Path, digest: str) -> Path | None:
    """Return the path of a cell: its own, or a backup left by a killed save."""
    with readable(folder):
        for place in (folder / CELLS / digest, _old(folder, digest)):
            if (place / CELL_FILE).exists():  # else it was never finished
                return place
    return None


def _old(folder: Path, digest: str) -> Path:
    return folder / CELLS / f".{digest}{OLD}"


def _read_array(path: Path, checksum: str, like: NDArray[Any]) -> NDArray[Any]:
    """Return a stored array if it is whole and of the right shape and type; never runs code."""
    check_plain_file(path)
    with readable(path):
        if _checksum(path) != checksum:
            raise _damaged(path)
    try:
        with path.open("rb") as file:
            stored: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, MemoryError) as error:
        raise StorageError(f"Cannot read {path}: {error}. Free some memory, then try again.")
    except Exception:  # numpy's reader may raise any exception on an invalid header
        raise _damaged(path) from None
    if stored.shape != like.shape or stored.dtype != like.dtype:
        raise _damaged(path)
    return stored


def _damaged(path: Path) -> StorageError:
    return StorageError(f"{path} is damaged. Delete the folder {path.parent} and run again.")


@contextlib.contextmanager
def readable(
    path: Path, what: str = "Cannot read", fix: str = "Check the path and its permissions"
) -> Iterator[None]:
    """Turn the system's read errors into a sentence."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a name no file can have
        if isinstance(error, InvalidInput):
            raise
        reason = getattr(error, "strerror", None) or error
        raise StorageError(f"{what} {path}: {reason}. {fix}.") from None


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the system's write errors into a sentence."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a name no file can have
        if isinstance(error, InvalidInput):
            raise
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        raise StorageError(
            f"Cannot write {path}: {getattr(error, 'strerror', None) or error}."
            " No partial file was left and finished results are kept."
            f" {'Free some space or choose' if full else 'Choose'} another place, then run again."
        )


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
