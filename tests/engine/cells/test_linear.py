"""Worlds that differ in their sizes alone are played by the same compiled code."""

import numpy as np
import pytest
from numba import typeof

from halfseen import FiniteActions, LinearBandit, LinUCB, Study, Uniform


def types_of(actions):
    study = Study(LinearBandit([0.5, 0.2], 0.5, actions), Uniform(0.5), LinUCB(), horizon=9)
    _, cell = next(study.cells())
    return [typeof(part) for part in (cell.world(), cell.workspace())]


@pytest.mark.parametrize("count", [1, 2])
def test_one_action_has_the_types_of_many(count):
    several = FiniteActions(np.eye(2)[[0, 1, 0]])
    assert types_of(FiniteActions(np.eye(2)[:count])) == types_of(several)
