"""Action sets refuse what names no arm."""

import math

import numpy as np
import pytest

from halfseen import AllArms, ArmedBandit, FixedArms, InvalidInput, RandomArms, SequenceOfArms


@pytest.mark.parametrize(
    "arms", [None, 3, "01", [], [-1], [0.5], ["0"], [True], [0, 0], [0, [1]], [math.nan]]
)
def test_fixed_arms_refuse(arms):
    with pytest.raises(InvalidInput, match=r"^`FixedArms\.arms"):
        FixedArms(arms)


def test_fixed_arms_are_sorted():
    assert FixedArms(np.array([2, 0])).arms == FixedArms(iter([0, 2])).arms == (0, 2)


@pytest.mark.parametrize(
    "available", [None, 1, "1", [], [1.1], [-0.1], [math.nan], [True], [0.0, 0.0], {0.5}]
)
def test_random_arms_refuse(available):
    with pytest.raises(InvalidInput, match=r"^`RandomArms\.available"):
        RandomArms(available)


@pytest.mark.parametrize(
    "rounds", [None, 5, "01", [], iter([]), {}, {0: [1]}, [[]], [0], [[0], None], [[0, 0]], ["a"]]
)
def test_sequences_refuse(rounds):
    with pytest.raises(InvalidInput, match=r"^`SequenceOfArms\.rounds"):
        SequenceOfArms(rounds)


def test_sequences_take_any_iterable():
    expected = ((0, 1), (2,))
    assert SequenceOfArms([[1, 0], [2]]).rounds == expected
    assert SequenceOfArms(row for row in ((0, 1), (2,))).rounds == expected
    assert SequenceOfArms(np.array([[0], [1]])).rounds == ((0,), (1,))


def test_messages_name_the_round_and_the_arm():
    with pytest.raises(InvalidInput, match=r"`SequenceOfArms\.rounds\[1\]\[0\]` must be a whole"):
        SequenceOfArms([[0], [-1]])
    with pytest.raises(InvalidInput, match=r"must name arms below 2; got 5\..* arms 0 to 1"):
        ArmedBandit([0.1, 0.2], actions=FixedArms([0, 5]))


def test_all_arms_fit_any_problem():
    assert AllArms() == AllArms()
    AllArms().check(10)
