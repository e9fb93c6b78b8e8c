"""What a shared function is given arrives as it is: strides, element types, tuples and numbers."""

from typing import NamedTuple

import numpy as np

from halfseen.engine.specialise import compiled
from halfseen.kernels.compile_hints import loop, shared


class Kernels:
    def names(self):
        return {}


class Given(NamedTuple):
    table: np.ndarray
    counts: np.ndarray
    key: tuple[int, float]


@shared
def weighed(given, column, cube, negative):
    total = given.key[1] if negative else 0.0
    for i in range(column.size):
        total += column[i] * given.counts[i] * given.table[i, given.key[0]]
        for j in range(cube.shape[1]):
            total += cube[i, j, 1]
    return total


@loop
def add_up(given, cube, out):
    for k in range(out.size):
        out[k] = weighed(given, given.table[:, k], cube, k == 1)


def test_a_shared_function_computes_what_plain_python_does():
    rng = np.random.default_rng(1)
    given = Given(rng.normal(size=(4, 6))[:, ::2], np.array([3, 1, 4, 1], np.uint8), (2, -7.5))
    cube = np.asfortranarray(rng.normal(size=(4, 5, 2)))
    expected, found = np.zeros(3), np.zeros(3)
    add_up(given, cube, expected)
    compiled(add_up, Kernels())(given, cube, found)
    assert found.tobytes() == expected.tobytes()
    assert np.unique(found).size == 3
