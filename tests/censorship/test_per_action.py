"""Probabilities listed per action, or computed by any function."""

import math

import numpy as np
import pytest

from halfseen.censorship import AnyFunction, PerAction
from halfseen.errors import InvalidInput

ROWS = [[1.0, 0.0], [0.0, 1.0], [0.3, 0.4]]


def test_per_action():
    model = PerAction([0.9, 0.1, 1])
    assert model.probabilities(ROWS).tolist() == [0.9, 0.1, 1.0]
    assert model.observe_range == (0.1, 1.0)
    with pytest.raises(InvalidInput, match=r"must have 2 entries, one per action; got 3 entries"):
        model.probabilities(ROWS[:2])
    for bad in ([], [0.5, 0.0], [1.1], [math.nan], 0.5):
        with pytest.raises(InvalidInput, match=r"^`PerAction\.observe"):
            PerAction(bad)


def test_any_function():
    assert AnyFunction(lambda a: 1.0 - a @ a / 2).probabilities(ROWS).tolist() == [0.5, 0.5, 0.875]
    assert AnyFunction(lambda a: np.float32(0.5)).probabilities(ROWS).tolist() == [0.5] * 3
    for bad in (0.0, -0.1, 1.5, math.nan, None, "0.5"):
        with pytest.raises(InvalidInput) as caught:
            AnyFunction(lambda a, bad=bad: bad if a[1] == 1.0 else 0.5).probabilities(ROWS)
        assert caught.value.field == "AnyFunction.function(actions[1])"
    with pytest.raises(InvalidInput, match="must be a function of the action"):
        AnyFunction(0.5)


def test_a_function_cannot_change_the_actions():
    def meddle(action):
        action[:] = 9.0
        return 0.5

    rows = np.array(ROWS)
    AnyFunction(meddle).probabilities(rows)
    assert rows.tolist() == ROWS
