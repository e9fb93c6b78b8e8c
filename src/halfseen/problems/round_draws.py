"""The random actions of a round drawn together, the same numbers as one by one but faster."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import Stream, normal_from, normal_inside, words
from halfseen.problems.contexts import SECOND

LANES = 8  # numbers drawn at once by the widest vector instructions; a remainder is slow
BLOCK = 512  # pairs of coordinates whose words are held at once, so that they stay in the cache
Places = NDArray[np.int64]


def draw_round(
    stream: Stream,
    clock: int,
    places: Places,
    bits: Places,
    normals: Vector,
    columns: Vector,
    squares: Vector,
) -> None:
    """Write the numbers `fill_normals` gives every action into its column, and their squares' sums.

    Many places are drawn at once, step by step, in loops a compiler turns into vector instructions.
    `places` comes from `round_places`; `bits` (4, n) and `normals` (2, n) are scratch, n its size.
    """
    dimension, count = columns.shape
    pairs = (dimension + 1) // 2
    rows = places.size // count
    for k in range(count):
        squares[k] = 0.0
    for first in range(0, pairs, rows):
        size = min(rows, pairs - first) * count
        for j in range((size + LANES - 1) // LANES * LANES):
            high, low, second_high, second_low = words(stream, clock, places[j] + first)
            bits[0, j] = high
            bits[1, j] = low
            bits[2, j] = second_high
            bits[3, j] = second_low
        for half in range(2):
            for j in range(size):
                normals[half, j] = normal_inside(bits[2 * half, j], bits[2 * half + 1, j])
            for j in range(size):
                if math.isnan(normals[half, j]):
                    place = places[j] + first + half * SECOND
                    normals[half, j] = normal_from(
                        bits[2 * half, j], bits[2 * half + 1, j], stream, clock, place
                    )
        for i in range(2 * first, min(2 * (first + rows), dimension)):
            start = (i // 2 - first) * count
            row = normals[i % 2, start : start + count]
            for k in range(count):
                columns[i, k] = row[k]
                squares[k] += row[k] * row[k]


def scale_columns(columns: Vector, scales: Vector) -> None:
    """Multiply every column by its scale; one of scale 0, without direction, is the first axis."""
    for i in range(columns.shape[0]):
        for k in range(scales.size):
            columns[i, k] *= scales[k]
    for k in range(scales.size):
        if scales[k] == 0.0:
            columns[0, k] = 1.0


def round_places(count: int, dimension: int) -> Places:
    """Return the places of a block of a round's pairs: the first pair of all actions, the next.

    >>> round_places(3, 4)[:6].tolist()
    [0, 2, 4, 1, 3, 5]
    """
    pairs = (dimension + 1) // 2
    size = max(count, min(count * pairs, BLOCK))
    j = np.arange(-(-size // LANES) * LANES)
    return j % count * pairs + j // count
