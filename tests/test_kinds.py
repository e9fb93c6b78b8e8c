"""Registering: one decorator for every kind, which never overwrites another's name."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from halfseen import UCB, InvalidInput, LinUCB, RewardLaw, register
from halfseen.policies import POLICIES
from halfseen.problems import REWARD_LAWS


def test_a_name_that_is_taken_is_refused_and_stays():
    @dataclass(frozen=True)
    class Mine(UCB):
        kind: ClassVar[str] = "ucb"

    with pytest.raises(InvalidInput, match=r"halfseen\.policies\.arms\.ucb\.UCB has it"):
        register(Mine)
    assert POLICIES["ucb"] is UCB


def test_policies_for_arms_and_linear_ones_share_their_names():
    @dataclass(frozen=True)
    class Mine(LinUCB):
        kind: ClassVar[str] = "ucb"

    with pytest.raises(InvalidInput, match="must not be the name of another policy"):
        register(Mine)


def test_a_policy_may_have_the_name_of_a_law():
    @dataclass(frozen=True)
    class Mine(UCB):
        kind: ClassVar[str] = "gaussian"

    register(Mine)
    assert POLICIES.pop("gaussian") is Mine


def test_a_class_defined_again_takes_the_place_of_the_earlier_one():
    for _ in range(2):

        @register
        class Again(RewardLaw):
            kind = "again"

    assert REWARD_LAWS.pop("again") is Again


@pytest.mark.parametrize("kind", [None, "", "\n", 3])
def test_a_name_must_be_printable(kind):
    class Nameless(UCB):
        pass

    Nameless.kind = kind
    with pytest.raises(InvalidInput, match=r"^`Nameless\.kind` must be a printable name"):
        register(Nameless)


@pytest.mark.parametrize("thing", [UCB(), dict, 3])
def test_what_is_no_kind_is_refused(thing):
    with pytest.raises(InvalidInput, match="must be given a class of a"):
        register(thing)
