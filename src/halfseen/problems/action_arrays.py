"""Arrays of actions: reading them from disk and checking them block by block."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.errors import InvalidInput, StorageError

NORMALIZE = "Give normalize=True to divide every action by its length, or scale them all."
SLACK = 1e-9  # by how much the length of an action may exceed 1 through rounding
_ROWS = 1 << 16  # actions of a long sequence that are checked at once


def row_blocks(array: Vector) -> Iterator[Vector]:
    """Yield an array in pieces along its first axis, each of a size that fits in memory."""
    step = max(1, _ROWS * array.shape[0] // max(1, math.prod(array.shape[:-1])))
    for start in range(0, len(array), step):
        yield array[start : start + step]


def action_rows(actions: Any) -> Vector:
    """Return actions on offer as an array of numbers, or refuse them."""
    try:
        rows = np.ascontiguousarray(actions)
    except ValueError:
        rows = np.empty(0, dtype=object)
    if rows.dtype.kind not in "fiu":
        raise InvalidInput(
            "actions", "must be an array of numbers, one action per row", actions, "Use [[1, 0]]."
        )
    return rows.astype(np.float64)


def mapped(field: str, path: str | Path) -> Vector:
    """Open a .npy file as a memory map."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror or error}. Check the path.")
    except (ValueError, EOFError):
        array = None
    if not isinstance(array, np.ndarray) or array.dtype != np.float64:
        raise InvalidInput(
            field,
            "must be a .npy file of float64 numbers",
            str(path),
            "Write it with numpy.save(path, array.astype(float)).",
        )
    return np.asarray(array)


def checked_actions(
    field: str, value: Any, axes: int, normalize: bool, fix: str = NORMALIZE
) -> Vector:
    """Return actions as a checked, read-only float array of 2 or 3 axes.

    An array that is one already, such as a memory-mapped file, is not copied.
    """
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "fiu" or array.ndim != axes:
        if np.size(array) == 0 and np.shape(array) == (0,) and array.dtype.kind == "f":
            raise InvalidInput(field, "must not be empty", value, "Give at least one action.")
        shape = "(K, d), one action per row" if axes == 2 else "(T, K, d), one set per round"
        raise InvalidInput(
            field, f"must be an array of numbers {shape}", value, "Give lists of equal length."
        )
    if array.size == 0:
        raise InvalidInput(field, "must not be empty", array.shape, "Give at least one action.")
    if array.flags.writeable or array.dtype != np.float64:
        array = array.astype(np.float64)
    if normalize:
        array = array.copy()
    done = 0
    for block in row_blocks(array):
        check_block(field, block, done, normalize, fix)
        done += len(block)
    array.flags.writeable = False
    return array


def check_block(
    field: str, block: Vector, start: int, normalize: bool, fix: str = NORMALIZE
) -> None:
    """Normalize actions if asked to, then refuse any that is not finite or is too long."""
    finite = np.isfinite(block).all(axis=-1)
    if not finite.all():
        place = np.argwhere(~finite)[0]
        raise InvalidInput(
            _place(field, place, start),
            "must be finite",
            block[tuple(place)].tolist(),
            "Leave the action out.",
        )
    if normalize:
        largest = np.abs(block).max(axis=-1, keepdims=True)
        block /= np.where(largest > 0.0, largest, 1.0)
        lengths = np.sqrt(np.square(block).sum(axis=-1, keepdims=True))
        block /= np.where(lengths > 0.0, lengths, 1.0)
    with np.errstate(over="ignore"):
        lengths = np.sqrt(np.einsum("...i,...i->...", block, block))
    if (lengths > 1.0 + SLACK).any():
        place = np.argwhere(lengths > 1.0 + SLACK)[0]
        raise InvalidInput(
            _place(field, place, start),
            "must have a length of at most 1",
            float(lengths[tuple(place)]),
            fix,
        )


def _place(field: str, place: Any, start: int) -> str:
    first, *rest = (int(index) for index in place)
    return field + "".join(f"[{index}]" for index in (first + start, *rest))
