"""Kernels of linear policies that break their contract are named, with what they did."""

import math
import random
import re

import numpy as np
import pytest

from halfseen import LinUCB
from halfseen.agents.linear import LinearAgent
from halfseen.draws import uniform
from halfseen.testing import check_linear_policy, linear
from testing.made_policies import linear_policy


def noisy(mean, square, spread, shift, action, clock, stream, table):
    return mean + random.random()


def mean_only(mean, square, spread, shift, action, clock, stream, table):
    return mean


def nowhere(known, clock, stream, table, scratch, out):
    pass


def nan_far_out(mean, square, spread, shift, action, clock, stream, table):
    return math.nan if clock > 8 else mean


def random_far_out(mean, square, spread, shift, action, clock, stream, table):
    return mean + (random.random() if clock > 8 else 0.0)


def writing_far_out(mean, square, spread, shift, action, clock, stream, table):
    table[0] += clock > 8
    return mean


def raising_far_out(mean, square, spread, shift, action, clock, stream, table):
    if clock > 8:
        raise ValueError("far out")
    return mean


def most_observed(rows, known, memory, clock, stream, table):
    return int(np.argmax(known.observe))


def overwriting(rows, known, memory, clock, stream, table):
    known.estimate[0] = 9.0
    return 0


def drawing(mean, square, spread, shift, action, clock, stream, table):
    return mean + uniform(stream, clock, action)


LINEAR = [
    ({"index": drawing, "randomises": False}, "index must not draw from the stream where `random"),
    ({"index": drawing, "samples": "x"}, "samples must be True or False, not 'x'"),
    ({"index": noisy}, "must return the same for the same arguments"),
    ({"index": lambda mean, square, table: mean}, "index must take 8 arguments, (mean, square,"),
    ({"index": mean_only, "radius": lambda spread, table: -1.0}, "then -1"),
    ({"index": mean_only, "radius": lambda spread, table: table[7]}, "radius must work on"),
    ({"index": mean_only, "on_ball": nowhere}, "on_ball must write its action into `out`"),
    ({"index": mean_only, "table": lambda *given: np.ones((2, 2))}, "a vector of constants"),
    (
        {"choose": lambda rows, known, memory, clock, stream, table: rows[0, 0]},
        "choose must return the number of one of 5 rows, from 0 to 4",
    ),
    ({"index": nan_far_out}, "index must return a number, not NaN, playing LinearBandit("),
    ({"index": random_far_out}, "must return the same for the same arguments"),
    ({"index": writing_far_out}, "must not write to its arguments: it changed `table`, playing"),
    (
        {"index": raising_far_out},
        "a kernel raised ValueError: far out (test_linear.py, line",
    ),
    ({"choose": most_observed}, "choose must not read known.observe, which no learner knows"),
    ({"choose": overwriting}, "choose must not write to its arguments: it changed `estimate`"),
    (
        {"choose": lambda rows, known, memory, clock, stream, table: -(clock > 20)},
        "choose returned -1: actions are numbered from 0 to 6",
    ),
    (
        {"index": mean_only, "radius": lambda spread, table: -spread % 9.0},
        "must not decrease with more",
    ),
    (
        {"index": mean_only, "counts_pulls": True},
        "must have a kernel `choose` if it `counts_pulls`",
    ),
    (
        {"index": mean_only, "regularization": "x"},
        "regularization must be a number above 0, not 'x'",
    ),
]


@pytest.mark.parametrize(("parts", "sentence"), LINEAR, ids=[sentence for _, sentence in LINEAR])
def test_a_wrong_kernel_of_a_linear_policy_is_named(parts, sentence):
    with pytest.raises(AssertionError, match=re.escape(sentence)):
        check_linear_policy(linear_policy(**parts), horizon=30)


def test_a_live_agent_that_plays_otherwise_is_caught(monkeypatch):
    choose = LinearAgent.choose

    cells = linear.linear_cells(LinUCB(), 20, 5)
    cell = next(cell for cell in cells if cell.problem.actions.given is not None)
    linear.check_live_agent(cell)
    monkeypatch.setattr(LinearAgent, "choose", lambda self, rows: choose(self, rows[::-1]))
    with pytest.raises(AssertionError, match="The live agent and the engine choose differently"):
        linear.check_live_agent(cell)
