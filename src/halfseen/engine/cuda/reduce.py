"""Statistics of replications whose tracks stay on the GPU.

The result is the same as that of `halfseen.engine.reduce` for the same tracks, merged along the
same tree, except that a value on the edge of a bin may be counted in the next one, since the two
devices round logarithms differently.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from halfseen.engine.reduce import (
    BINNED,
    BINS,
    FOLDED,
    LOG_RATIO,
    MOMENTS,
    SMALLEST,
    Fold,
    Part,
    blocks,
)

ROWS = 1 << 12  # rows merged per thread
LEVELS = 13  # levels of the tree over those rows
THREADS = 128


def part_of(tracks: dict[str, Any], first: int, rows: int) -> Part:
    """Return the statistics of the first rows of tracks on the device."""
    spans = list(blocks(first, first + rows, ROWS))
    within = cuda.to_device(np.array(spans) - first)
    found = {
        name: [array.copy_to_host() for array in _moments(tracks[name], rows, within)]
        for name in FOLDED
        if name in tracks
    }
    fold = Fold()
    for place, span in enumerate(spans):
        values = {
            f"{name}_{moment}": array[place].reshape(tracks[name].shape[1:])
            for name, arrays in found.items()
            for moment, array in zip(MOMENTS, arrays, strict=True)
        }
        fold.add(Part({span: values}, {}))
    return Part(fold.moments, {name: _histogram(tracks[name], rows) for name in BINNED})


def _moments(track: Any, rows: int, spans: Any) -> tuple[Any, ...]:
    """Return mean, sum of squared deviations and extremes of every span, by column."""
    values = _table(track)
    shape = (len(spans), values.shape[1])
    results = tuple(cuda.device_array(shape, np.float64) for _ in MOMENTS)
    jobs = shape[0] * shape[1]
    if jobs:
        merge_rows[-(-jobs // THREADS), THREADS](values, spans, *results)
    return results


def _histogram(track: Any, rows: int) -> NDArray[np.int64]:
    values = _table(track)
    counts = cuda.to_device(np.zeros((values.shape[1], BINS), np.int64))
    jobs = rows * values.shape[1]
    if jobs:
        count_bins[-(-jobs // THREADS), THREADS](values, rows, counts)
    return np.asarray(counts.copy_to_host().reshape(*track.shape[1:], BINS))


def _table(track: Any) -> Any:
    return track.reshape(len(track), int(np.prod(track.shape[1:])))


@cuda.jit
def merge_rows(values, spans, means, squares, least, largest):  # type: ignore[no-untyped-def]
    """Merge the rows of a span two by two, one thread per span and column.

    Every level of the tree holds at most one node that waits for its twin.
    """
    job = cuda.grid(1)
    if job < means.size:
        span, column = job // means.shape[1], job % means.shape[1]
        waiting_mean = cuda.local.array(LEVELS, np.float64)
        waiting_square = cuda.local.array(LEVELS, np.float64)
        first, last = spans[span, 0], spans[span, 1]
        low = high = float(values[first, column])
        mean, square = 0.0, 0.0
        for row in range(first, last):
            mean, square = float(values[row, column]), 0.0
            low, high = min(low, mean), max(high, mean)
            level, size, upto = 0, 1.0, row - first
            while upto & 1:
                apart = mean - waiting_mean[level]
                mean = waiting_mean[level] + apart * 0.5
                square = (waiting_square[level] + square) + apart * apart * (0.5 * size)
                level, size, upto = level + 1, 2.0 * size, upto >> 1
            waiting_mean[level], waiting_square[level] = mean, square
        means[span, column], squares[span, column] = mean, square
        least[span, column], largest[span, column] = low, high


@cuda.jit
def count_bins(values, rows, counts):  # type: ignore[no-untyped-def]
    """Count the values of every column in the bins of `halfseen.engine.reduce.bin_of`."""
    job = cuda.grid(1)
    if job < rows * values.shape[1]:
        row, column = job // values.shape[1], job % values.shape[1]
        value = values[row, column]
        place = 0
        if value >= SMALLEST:
            place = min(math.floor(math.log(value / SMALLEST) / LOG_RATIO) + 1, BINS - 1)
        cuda.atomic.add(counts, (column, place), 1)
