"""What kernels do only after a while is noticed in plain Python, before anything is compiled."""

import math
import re

import pytest

from halfseen.draws import uniform
from halfseen.testing import check_linear_policy, check_policy
from testing.made_policies import linear_policy, policy


def mean(state, arm):
    return math.inf if state[arm, 0] == 0.0 else state[arm, 1] / state[arm, 0]


def timed_later(state, arm, clock, stream, table):
    return mean(state, arm) + (1.0 / clock if state[arm, 0] > 8.0 else 0.0)


def drawn_later(state, arm, clock, stream, table):
    return uniform(stream, clock, arm) if clock > 30 else mean(state, arm)


def chosen_by_draw(state, plays, playable, clock, stream, table):
    first = int(uniform(stream, clock, 0) * len(plays))
    for step in range(len(plays)):
        arm = (first + step) % len(plays)
        if playable[arm] == 1:
            return arm
    return 0


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"index": timed_later, "waits": True}, "index must not depend on the clock where `waits`"),
        ({"index": drawn_later, "randomises": False}, "index must not draw from the stream"),
        ({"choose": chosen_by_draw, "randomises": False}, "choose must not draw from the stream"),
    ],
)
def test_a_policy_that_breaks_its_word_only_after_a_while_is_named(parts, sentence):
    with pytest.raises(AssertionError, match=re.escape(sentence)):
        check_policy(policy(**parts), horizon=60)


def row_drawn_later(mean, square, spread, shift, action, clock, stream, table):
    return mean + (uniform(stream, clock, action) if clock > 10 else 0.0)


def row_by_draw(rows, known, memory, clock, stream, table):
    return int(uniform(stream, clock, 0) * len(rows))


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"index": row_drawn_later}, "index must not draw from the stream"),
        ({"choose": row_by_draw}, "choose must not draw from the stream"),
    ],
)
def test_a_linear_policy_that_draws_though_it_says_it_does_not_is_named(parts, sentence):
    with pytest.raises(AssertionError, match=re.escape(sentence)):
        check_linear_policy(linear_policy(randomises=False, **parts), horizon=30)
