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

from halfseen.errors import StorageError

STUDY_FILE, CELL_FILE, CELLS = "study.json", "cell.json", "cells"


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


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}. Check the path.")
    except (ValueError, RecursionError):
        raise StorageError(f"{path} is damaged: it is not JSON. Delete it and run again.")


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
            text = json.dumps(facts | {"checksums": sums}, indent=1)
            (draft / CELL_FILE).write_text(text, encoding="utf-8")
            if place.exists():
                shutil.rmtree(place)
            draft.rename(place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def read_cell(folder: Path, digest: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any] | None:
    """Fill `arrays` with a finished cell and return its facts, or None if it is not there."""
    place = folder / CELLS / digest
    if not place.exists():
        return None
    facts = read_json(place / CELL_FILE)
    for name, array in arrays.items():
        path = place / f"{name}.npy"
        damaged = StorageError(f"{path} is damaged. Delete the folder {place} and run again.")
        try:
            if _checksum(path) != facts["checksums"][name]:
                raise damaged
            stored = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, KeyError, TypeError):
            raise damaged
        if stored.shape != array.shape or stored.dtype != array.dtype:
            raise damaged
        array[...] = stored
    return dict(facts)


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the system's write errors into a sentence."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"Cannot write {path}: {error.strerror}. Nothing half-written was left;"
            " finished cells are kept. Free some space or choose another folder and run again."
        )


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
