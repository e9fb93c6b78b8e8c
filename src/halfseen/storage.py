"""Results on disk: a folder per study, a folder per finished cell, arrays and JSON, no pickle.

Every file is written beside its place and renamed into it, so that what has its final name is
whole. Arrays carry a checksum: a file that was cut short or altered is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.errors import InvalidInput, StorageError

STUDY_FILE, CELL_FILE = "study.json", "cell.json"
CELLS, PARTS, SUMMARIES = "cells", "parts", "summaries"


def write_text(path: Path, text: str) -> None:
    """Write a whole text file or nothing."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file or nothing."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with explained(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(content)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


def is_marked(folder: Path, mark: str) -> bool:
    """Say whether a folder holds its mark; refuse one that has none and holds other things."""
    try:
        if folder.exists() and not folder.is_dir():
            raise InvalidInput("out", "must be a folder", str(folder), "Choose another name.")
        marked = (folder / mark).exists()
        foreign = not marked and folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise StorageError(f"Cannot use {folder}: {error.strerror}. Choose another folder.")
    if foreign:
        raise InvalidInput(
            "out",
            "must be a new or empty folder, not one that holds other files",
            str(folder),
            "Choose another folder.",
        )
    return marked


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}. Check the path.")
    except (ValueError, RecursionError):
        raise StorageError(f"{path} is damaged: it is not JSON. Delete it and run again.")


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content with a checksum of itself; what is sealed right comes back the same."""
    plain = {key: value for key, value in content.items() if key != "checksum"}
    text = json.dumps(plain, sort_keys=True)
    return plain | {"checksum": hashlib.sha256(text.encode()).hexdigest()}


def write_cell(
    folder: Path, digest: str, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]
) -> None:
    """Write a finished cell, whole or not at all."""
    place = folder / CELLS / digest
    draft = folder / CELLS / f".{digest}.{os.getpid()}"
    with explained(place):
        try:
            draft.mkdir(parents=True, exist_ok=True)
            sums = {}
            for name, array in arrays.items():
                np.save(draft / f"{name}.npy", array, allow_pickle=False)
                sums[name] = _checksum(draft / f"{name}.npy")
            text = json.dumps(sealed(facts | {"arrays": sums}), indent=1)
            (draft / CELL_FILE).write_text(text, encoding="utf-8")
            if place.exists():
                shutil.rmtree(place)
            draft.rename(place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def read_facts(folder: Path, digest: str) -> dict[str, Any] | None:
    """Return the facts of a finished cell and its arrays' checksums; None if it is not there."""
    place = folder / CELLS / digest
    if not place.exists():
        return None
    facts = read_json(place / CELL_FILE)
    if not isinstance(facts, dict) or sealed(facts) != facts:
        raise _damaged(place / CELL_FILE)
    return facts


def read_cell(folder: Path, digest: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any] | None:
    """Fill `arrays` with a finished cell and return its facts, or None if it is not there."""
    place = folder / CELLS / digest
    facts = read_facts(folder, digest)
    if facts is None:
        return None
    sums = facts.get("arrays")
    if not isinstance(sums, dict) or set(sums) != set(arrays):
        raise _damaged(place / CELL_FILE)
    for name, array in arrays.items():
        array[...] = _read_array(place / f"{name}.npy", sums[name], array)
    return {key: value for key, value in facts.items() if key not in ("arrays", "checksum")}


def _read_array(path: Path, checksum: str, like: NDArray[Any]) -> NDArray[Any]:
    """Return a stored array if it is whole and of the right shape and type; never runs code."""
    try:
        if _checksum(path) != checksum:
            raise _damaged(path)
        with path.open("rb") as file:
            stored: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except Exception:  # numpy's reader raises nearly anything on a header that is not one
        raise _damaged(path) from None
    if stored.shape != like.shape or stored.dtype != like.dtype:
        raise _damaged(path)
    return stored


def _damaged(path: Path) -> StorageError:
    return StorageError(f"{path} is damaged. Delete the folder {path.parent} and run again.")


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the system's write errors into a sentence."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a name no file can have
        raise StorageError(
            f"Cannot write {path}: {getattr(error, 'strerror', None) or error}."
            " Nothing half-written was left and what was finished is kept."
            " Free some space or choose another place, then run again."
        )


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
