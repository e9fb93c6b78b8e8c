"""Compiled code calls an overload instead of a function: an edit of it is one of the function."""

import math
import threading

import numpy as np
import pytest
from numba.extending import overload, register_jitable

from halfseen.engine.specialise import compiled
from halfseen.fingerprint import fingerprint
from halfseen.fingerprint.numba_overloads import overloads
from halfseen.testing.contract import OpenName


def stub_of(factor):
    """Return a new function, of the same code every time, that calls an overloaded one."""

    def stub(arm):
        return 2.0 * arm

    @overload(stub)
    def given(arm):
        def run(arm):
            return factor * arm

        return run

    def index(arm):
        return stub(arm)

    return index


def test_an_edit_of_an_overload_changes_the_fingerprint_of_what_calls_it():
    """The code compiled before the edit was taken from disk."""
    first, same, other = (fingerprint(stub_of(factor)) for factor in (2.0, 2.0, 3.0))
    assert first == same
    assert first != other


def flipped(arm):
    return np.fliplr(arm)


def test_an_overload_of_a_function_of_numpy_counts_where_it_is_called_by_its_module():
    before = fingerprint(flipped)

    @overload(np.fliplr)
    def given(arm):
        return lambda arm: 2.0 * arm

    assert fingerprint(flipped) != before


def helper_with(**options):
    def helper(arm):
        return arm / 3.0

    return register_jitable(nogil=True, **options)(helper)


def test_options_of_a_registered_helper_change_its_fingerprint():
    plain, fast = helper_with(), helper_with(fastmath=True)
    assert fingerprint(plain) != fingerprint(fast)
    assert fingerprint(plain) == fingerprint(helper_with())


@pytest.mark.parametrize("thing", [np.sum, math.exp, len, 3, None])
def test_overloads_of_numbas_own_do_not_count(thing):
    assert overloads(thing) == []


def apply(arm, out):
    out[0] = kernel(arm)  # noqa: F821


def test_compiling_a_function_does_not_change_its_fingerprint():
    def kernel(arm):
        return 0.5 * arm

    before, out = fingerprint(kernel), np.zeros(1)
    compiled(apply, OpenName("kernel", kernel))(3.0, out)
    assert out[0] == 1.5
    assert fingerprint(kernel) == before


def test_threads_read_each_overload_once():
    index = stub_of(4.0)
    found = []
    threads = [threading.Thread(target=lambda: found.append(fingerprint(index))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
