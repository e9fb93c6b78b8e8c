"""Elements and rows of arrays in compiled code are those of numpy, and take few instructions."""

import secrets

import numpy as np
import pytest
from numba.core.errors import TypingError

from halfseen.engine.one_module import whole

KINDS = (np.float64, np.float32, np.int64, np.int8, np.uint8, np.bool_)


def made(function):
    """Return a function compiled as our kernels are, without counts of references."""
    return whole(function, secrets.token_hex(), cached=False, counts=False)


def line(a, i):
    return a[i]


def plane(a, i, j):
    return a[i, j]


def cube(a, i, j, k):
    return a[i, j, k]


def element_of_row(a, i, j):
    row = a[i]
    return row[j]


def element_of_plane(a, i, j, k):
    rows = a[i]
    return rows[j][k] + rows[j, k]


def sizes_of_row(a, i):
    rows = a[i]
    row = rows[-1]
    return rows.size * 10_000 + rows.shape[0] * 1_000 + rows.shape[1] * 100 + row.size + len(row)


def put(a, i, j, value):
    a[i, j] = value


def put_in_row(a, i, j, value):
    row = a[i]
    row[j] = value


def constant_places(a):
    return a[0, 1] * 100 + a[-1, -2] * 10 + a[1, 0]


def stretch(a, i):
    part = a[i, 1:3]
    return part[0] * 10 + part[-1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index", [int, np.int8, np.uint64])
def test_elements_are_those_of_numpy_from_both_ends(kind, index):
    array = (np.arange(24) % 5 * 3 % 7).astype(kind)
    from_end = (-1, -2) if index is not np.uint64 else ()
    for function, shape in ((line, (24,)), (plane, (4, 6)), (cube, (2, 3, 4))):
        shaped = array.reshape(shape)
        compiled = made(function)
        for first in (0, 1, *from_end):
            places = [index(first), *(index(k) for k in range(1, len(shape)))]
            found = compiled(shaped, *places)
            assert found == shaped[tuple(places)], (function, places)
            assert isinstance(found, bool) == (kind is np.bool_)


def test_rows_are_views_with_the_right_sizes():
    array = np.arange(60.0).reshape(3, 4, 5)
    assert made(element_of_row)(array[0], -2, -1) == array[0, -2, -1]
    assert made(element_of_plane)(array, -1, 2, -3) == 2 * array[-1, 2, -3]
    assert made(sizes_of_row)(array, 1) == sizes_of_row(array, 1)
    assert made(constant_places)(array[1]) == constant_places(array[1])
    assert made(stretch)(array[1], -1) == stretch(array[1], -1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", [put, put_in_row])
@pytest.mark.parametrize("value", [1, 0.5, True])
def test_elements_are_set_as_numpy_sets_them(kind, function, value):
    expected = np.zeros((3, 4), kind)
    found = expected.copy()
    function(expected, -1, 2, value)
    made(function)(found, -1, 2, value)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("order", ["F", "strided"])
def test_arrays_that_are_not_contiguous_are_read_as_before(order):
    base = np.arange(48.0).reshape(6, 8)
    array = np.asfortranarray(base) if order == "F" else base[::2, ::3]
    assert made(plane)(array, -1, 1) == array[-1, 1]
    assert made(element_of_row)(array, 1, -1) == array[1, -1]


def test_an_array_that_may_only_be_read_is_not_written():
    array = np.zeros((2, 2))
    array.flags.writeable = False
    assert made(plane)(array, 0, 1) == 0.0
    with pytest.raises(TypingError, match="Cannot modify readonly array"):
        made(put)(array, 0, 1, 1.0)


def test_an_element_takes_few_instructions(monkeypatch):
    from halfseen.engine import one_module

    written = []
    add = one_module._Whole.add_ir_module
    monkeypatch.setattr(
        one_module._Whole,
        "add_ir_module",
        lambda library, module: (written.append(str(module)), add(library, module)),
    )
    compiled = made(plane)
    assert compiled(np.eye(3), 1, -2) == 1.0
    (text,) = (text for text in written if "define" in text and "arg.i" in text)
    assert "alloca" not in text  # numba copies the array's description to the stack
    assert text.count("extractvalue") < 10
