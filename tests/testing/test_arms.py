"""Kernels of policies that break their contract are named, with what they did and the rule."""

import math
import random
import re
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

from halfseen import (
    Agent,
    ArmedBandit,
    InvalidInput,
    Policy,
    Study,
    Uniform,
    simulate,
)
from halfseen.draws import uniform
from halfseen.testing import check_policy
from testing.made_policies import policy


def greedy(state, arm, clock, stream, table):
    return state[arm, 1] / (state[arm, 0] + 1.0)


def random_index(state, arm, clock, stream, table):
    return random.random()


def formatted(state, arm, clock, stream, table):
    return float(f"{state[arm, 0]:g}".encode().decode())


def hurried(state, arm, clock, stream, table):
    return greedy(state, arm, clock, stream, table) + math.log(clock)


def jealous(state, arm, clock, stream, table):
    return state[:, 1].sum() - state[arm, 1]


def later(state, arm, reward, table):
    state[arm, 0] += 1.0 if state[arm, 0] < 8.0 else 0.5
    state[arm, 1] += reward


def spilling(state, arm, reward, table):
    state[arm, 0] += 1.0
    if state[arm, 0] > 8.0:
        state[arm - 1, 1] += reward


def adding(state, arm, table):
    state[arm, 1] += 1.0
    return 0.0


def in_turn(state, plays, playable, clock, stream, table):
    arm = clock % len(state)
    while playable[arm] == 0:
        arm = (arm + 1) % len(state)
    return arm


def stubborn(state, plays, playable, clock, stream, table):
    return int(np.argmax(playable)) if clock < 9 else 0


def drawn(state, arm, clock, stream, table):
    return state[arm, 1] + uniform(stream, int(state[arm, 0]), arm)


def counting(state, arm, table):
    state[arm, 0] += 1.0


def noting(state, arm, table):
    table[arm, 0] += 1.0


ARMS = [
    ({"index": greedy, "pull": counting}, "pull must leave state[:, 0], the numbers of observ"),
    ({"index": greedy, "pull": noting}, "pull must not write to its arguments: it changed `table`"),
    ({"index": greedy, "pull": lambda state, arm: None}, "pull must take 3 arguments, (state, arm"),
    ({"index": greedy, "mature": 3}, "mature must be a function, mature(state, recent, clock, ta"),
    ({"index": greedy, "pull": counting, "waits": True}, "waits must be False where it has a `pul"),
    ({"index": greedy, "waits": "yes"}, "waits must be True or False, not 'yes'"),
    ({"index": greedy, "regularization": -1.0}, "regularization must be a number above 0, not -1"),
    (
        {"index": greedy, "learn": later},
        "add one to state[arm, 0], the number of observations: it"
        " went from 8 to 8.5, playing ArmedBandit(",
    ),
    ({"index": greedy, "learn": spilling}, "learn must change the row state[arm] only, playing"),
    ({"index": greedy, "fill": adding}, "fill must not write to its arguments: it changed `state`"),
    (
        {"index": greedy, "fill": lambda state, arm, table: random.random()},
        "fill must return the same for the same arguments",
    ),
    ({"choose": in_turn, "waits": True}, "choose must not depend on the clock where `waits` is"),
    pytest.param(
        {"choose": stubborn},
        "choose returned arm 0, which is not playable: playable[0] is 0",
        marks=pytest.mark.slow,
    ),
    ({"index": drawn, "waits": True}, "index must not draw from the stream where `randomises` is"),
    (
        {"index": lambda state, arm, clock, stream, table: np.complex128(0)},
        "index must return a number, not np.complex128(0j)",
    ),
    ({"index": jealous, "waits": True}, "index must depend on state[arm] alone where `waits` is"),
    (
        {"index": greedy, "width": lambda state, arm, clock, table: -1.0},
        "must be at least 0, not -1",
    ),
    (
        {"index": greedy, "table": lambda self, setting: np.random.default_rng().random((4, 1))},
        "table must return the same every time: no randomness, no state",
    ),
    ({"index": lambda state, arm, clock, stream: 0.0}, "index must take 5 arguments, (state, arm,"),
    (
        {"index": lambda state, arm, clock, stream, table: state[arm, 5]},
        "index must work on every input from the loop. It raised IndexError: index 5 is out of"
        " bounds for axis 1 with size 2, where state is an array of shape (4, 2), arm is 0",
    ),
    ({"index": lambda state, arm, clock, stream, table: None}, "must return a number, not None"),
    ({"index": lambda state, arm, clock, stream, table: "x"}, "must return a number, not 'x'"),
    ({"index": lambda state, arm, clock, stream, table: state}, "must return a number, not array"),
    ({"index": lambda state, arm, clock, stream, table: math.nan}, "a number, not NaN"),
    ({"index": random_index}, "must return the same for the same arguments"),
    ({"index": formatted}, "must be plain functions that numba can compile"),
    ({"index": hurried, "waits": True}, "must not depend on the clock where `waits` is True"),
    ({"index": "best"}, "index must be a function, index(state, arm, clock, stream, table)"),
    (
        {"choose": lambda state, plays, playable, clock, stream, table: 1.5},
        "choose must return the number of an arm, not 1.5",
    ),
    (
        {"choose": lambda state, plays, playable, clock, stream, table: 9},
        "choose returned 9: arms are numbered from 0 to 3",
    ),
    (
        {"choose": lambda state, plays, playable, clock, stream, table: 0},
        "choose returned arm 0, which is not playable",
    ),
    (
        {"index": greedy, "learn": lambda state, arm, reward, table: None},
        "learn must add one to state[arm, 0], the number of observations: it went from 0 to 0",
    ),
    (
        {"index": greedy, "width": lambda state, arm, clock, table: table[arm, 9]},
        "width must work on every input from the loop. It raised IndexError",
    ),
    (
        {"index": greedy, "fill": lambda state, arm, table: None},
        "fill must return a number, or NaN to learn nothing, not None",
    ),
    ({"index": greedy, "table": lambda *given: None}, "table must return an array of numbers"),
    ({"index": greedy, "table": lambda *given: np.ones((1, 1))}, "shape (4, n), not (1, 1)"),
    ({"index": greedy, "table": lambda self, s: s.armz}, "table raised AttributeError"),
    ({"index": greedy, "statistics": 0}, "statistics must be a whole number of at least 1"),
]


@pytest.mark.parametrize(("parts", "sentence"), ARMS)
def test_a_wrong_kernel_of_a_policy_is_named(parts, sentence):
    with pytest.raises(AssertionError, match=re.escape(sentence)):
        check_policy(policy(**parts), horizon=10)


def test_a_table_that_changes_the_fields_of_its_policy_is_told():
    @dataclass(frozen=True)
    class Sorting(Policy):
        kind: ClassVar[str] = "sorting"
        weights: list = field(default_factory=lambda: [2.0, 1.0])
        index = staticmethod(greedy)

        def table(self, setting):
            self.weights.sort()
            return np.zeros((setting.arms, 1))

    with pytest.raises(AssertionError, match=r"Sorting\.table must not change the fields of Sort"):
        check_policy(Sorting())


def test_a_kernel_with_self_is_told_to_be_a_plain_function():
    @dataclass(frozen=True)
    class Method(Policy):
        kind: ClassVar[str] = "method"

        def index(self, state, arm, clock, stream, table):
            return 0.0

        def table(self, setting):
            return np.zeros((setting.arms, 1))

    with pytest.raises(AssertionError, match=r"without self.*index = staticmethod\(...\)"):
        check_policy(Method())
    with pytest.raises(AssertionError, match="Give an object, Method"):
        check_policy(Method)


@pytest.mark.parametrize("table", [None, np.zeros(3), np.zeros((1, 1))])
def test_a_table_without_a_row_per_arm_is_refused_before_compiled_code_reads_past_its_end(table):
    short = policy(index=greedy, table=lambda *given: table)
    for refused in (
        lambda: simulate(Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), short, horizon=5)),
        lambda: Agent(short, 2),
    ):
        with pytest.raises(
            InvalidInput, match=r"`Wrong\.table` must return a row of constants per"
        ):
            refused()


def test_a_study_with_a_kernel_that_cannot_be_compiled_says_why():
    short = policy(index=lambda state, arm, clock, stream: 0.0)
    study = Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), {"ours": short}, horizon=10)
    with pytest.raises(
        InvalidInput, match=r"^`arms · uniform · ours` must have kernels that numba"
    ):
        simulate(study)


@pytest.mark.slow
def test_nan_in_a_table_is_no_writing_to_it():
    check_policy(policy(index=greedy, table=lambda self, told: np.full((told.arms, 1), np.nan)))
