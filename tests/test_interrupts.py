"""Ctrl-C is heard whatever it interrupts."""

import os
import signal

import numpy as np
import pytest

from halfseen.interrupts import heard_once
from halfseen.studies.storage import write_cell


def interrupted_compiled_code():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        raise TypeError("expected str, bytes or os.PathLike object") from None


def test_an_error_that_ctrl_c_turned_into_another_is_still_an_interrupt():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        with pytest.raises(KeyboardInterrupt), heard_once():
            interrupted_compiled_code()
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_error_without_ctrl_c_stays_what_it_is():
    with pytest.raises(TypeError), heard_once():
        raise TypeError


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
@pytest.mark.parametrize("kind", [float, np.float32, int, bool])
def test_arrays_are_written_as_numpy_writes_them(tmp_path, shape, kind, order):
    array = np.asarray(np.arange(np.prod(shape)).reshape(shape), dtype=kind, order=order)
    write_cell(tmp_path, "a", {"regret": array}, {})
    found = np.load(tmp_path / "cells" / "a" / "regret.npy", allow_pickle=False)
    assert found.dtype == array.dtype
    assert np.array_equal(found, array)
    assert found.shape == shape
