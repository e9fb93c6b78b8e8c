"""The random actions of a round drawn together, the same numbers as one by one but faster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import BOX_END, BOX_STEP, BOXES, WORD, Stream, mantissa, normal_from, words
from halfseen.kernels.compile_hints import inline, shared
from halfseen.problems.action_sets import SECOND

LANES = 8  # numbers drawn at once by the widest vector instructions; a remainder is slow
BLOCK = 512  # pairs of coordinates whose words are held at once, so that they stay in the cache
Places = NDArray[np.int64]


@shared
def draw_round(
    stream: Stream,
    clock: int,
    places: Places,
    bits: Places,
    normals: Vector,
    columns: Vector,
    squares: Vector,
) -> None:
    """Write every action's numbers, those of `fill_normals`, into its column, and sums of squares.

    `places` comes from `round_places`; `bits` (3, n) and `normals` (2, n) are scratch, n its size.
    """
    dimension, count = columns.shape
    pairs = (dimension + 1) // 2
    rows = places.size // count
    for k in range(count):
        squares[k] = 0.0
    for first in range(0, pairs, rows):
        size = min(rows, pairs - first) * count
        draw_mantissas(stream, clock, places, first, size, bits, normals)
        stretch_mantissas(stream, clock, places, first, size, bits, normals)
        for i in range(2 * first, min(2 * (first + rows), dimension)):
            start = (i // 2 - first) * count
            row = normals[i % 2, start : start + count]
            for k in range(count):
                columns[i, k] = row[k]
                squares[k] += row[k] * row[k]


@inline
def draw_mantissas(
    stream: Stream,
    clock: int,
    places: Places,
    first: int,
    size: int,
    bits: Places,
    mantissas: Vector,
) -> None:
    """Write the mantissas of both numbers of many places and the bits that choose their boxes.

    A compiler turns this loop into vector instructions.
    """
    for j in range((size + LANES - 1) // LANES * LANES):
        high, low, second_high, second_low = words(stream, clock, places[j] + first)
        bits[0, j] = high
        bits[1, j] = second_high
        mantissas[0, j] = mantissa(high, low)
        mantissas[1, j] = mantissa(second_high, second_low)


@inline
def stretch_mantissas(
    stream: Stream,
    clock: int,
    places: Places,
    first: int,
    size: int,
    bits: Places,
    numbers: Vector,
) -> None:
    """Turn mantissas into normal numbers; the few that take more draws are left to the end."""
    for half in range(2):
        rejected = 0
        for j in range(size):
            box = bits[half, j] & BOXES
            if numbers[half, j] < BOX_END[box]:
                numbers[half, j] *= BOX_STEP[box]
            else:
                bits[2, rejected] = j
                rejected += 1
        for m in range(rejected):
            j = bits[2, m]
            low = int(numbers[half, j]) & WORD
            place = places[j] + first + half * SECOND
            numbers[half, j] = normal_from(bits[half, j], low, stream, clock, place)


@inline
def scale_columns(columns: Vector, scales: Vector) -> None:
    """Multiply every column by its scale; a column of scale 0 becomes the first unit vector."""
    for i in range(columns.shape[0]):
        for k in range(scales.size):
            columns[i, k] *= scales[k]
    for k in range(scales.size):
        if scales[k] == 0.0:
            columns[0, k] = 1.0


def round_places(count: int, dimension: int) -> Places:
    """Return the counters of a round's pairs: the first pair of every action, then the second.

    >>> round_places(3, 4)[:6].tolist()
    [0, 2, 4, 1, 3, 5]
    """
    pairs = (dimension + 1) // 2
    size = max(count, min(count * pairs, BLOCK))
    j = np.arange(-(-size // LANES) * LANES)
    return j % count * pairs + j // count
