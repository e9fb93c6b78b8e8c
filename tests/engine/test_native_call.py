"""Loops are called by their address: the same numbers, errors and threads as with a wrapper."""

from typing import NamedTuple

import numpy as np
import pytest

from halfseen.engine.native_call import NativeCall, argument_kinds
from halfseen.engine.specialise import compiled
from halfseen.kernels.compile_hints import loop


class Kernels:
    def names(self):
        return {}


class Inner(NamedTuple):
    weights: np.ndarray
    shift: float


class Given(NamedTuple):
    table: np.ndarray
    inner: Inner
    key: tuple[int, int]


@loop
def write(first, last, given, out):
    if last > out.shape[0]:
        raise ValueError("there are fewer rows")
    for row in range(first, last):
        for k in range(out.shape[1]):
            weight = given.inner.weights[k]
            out[row, k] = given.table[row, k] * weight + given.inner.shift + given.key[1]


def example():
    table = np.arange(24.0).reshape(4, 6)[:, ::2]  # its strides are not those of its shape
    given = Given(table, Inner(np.array([1, 2, 3], np.uint32), 0.5), (7, 11))
    return given, np.zeros((4, 3))


def test_a_loop_called_by_its_address_writes_what_plain_python_writes():
    given, expected = example()
    write(1, 4, given, expected)
    function = compiled(write, Kernels())
    assert isinstance(function, NativeCall)
    found = np.zeros((4, 3))
    function(1, 4, given, found)
    assert found.tobytes() == expected.tobytes()
    (result,) = function.overloads.values()
    wrapper = result.fndesc.llvm_cpython_wrapper_name
    assert not result.library.get_pointer_to_function(wrapper)


def test_what_a_loop_raises_is_raised():
    given, out = example()
    with pytest.raises(ValueError, match="there are fewer rows"):
        compiled(write, Kernels())(0, 5, given, out)


def test_arguments_that_cannot_be_taken_apart_are_given_to_the_wrapper():
    given, expected = example()
    write(0, True, given, expected)
    function = compiled(write, Kernels())
    assert argument_kinds(function._dispatcher.targetctx, (bool_kind(),)) is None
    found = np.zeros((4, 3))
    function(0, True, given, found)
    assert found.tobytes() == expected.tobytes()


def bool_kind():
    from numba import typeof

    return typeof(True)
