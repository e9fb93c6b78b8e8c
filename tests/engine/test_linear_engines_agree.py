"""Every registered linear policy keeps the contract on every engine."""

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from halfseen import (
    FiniteActions,
    InvalidInput,
    LinearBandit,
    LinearPolicy,
    Logistic,
    MultiThreshold,
    RandomActions,
    SequenceOfActions,
    Study,
    Uniform,
    UnitBall,
)
from halfseen.engine.cells.late_vectors_cell import linear_cell
from halfseen.policies import LINEAR_POLICIES
from halfseen.testing.linear import check_linear_cell, check_linear_policy

RNG = np.random.default_rng(3)
ACTIONS = {
    "finite": FiniteActions(RNG.normal(size=(9, 5)), normalize=True),
    "sphere": RandomActions(5, 5),
    "gaussian": RandomActions(5, 5, "gaussian"),
    "sequence": SequenceOfActions(RNG.normal(size=(700, 5, 5)), normalize=True),
    "ball": UnitBall(5),
}
CENSORSHIPS = {
    "uniform": Uniform(0.4),
    "thresholds": MultiThreshold([-0.2, 0.3], [0.4, 1.0, 0.1], [0, 1, 1, 0, -1]),
    "logistic": Logistic([1, 0, 0, 1, 0], slope=-3.0, offset=1.0),
}
AT_ONCE = {
    ("lin-ucb", "finite", "thresholds"),
    ("lin-ucb", "sphere", "thresholds"),
    ("optimal-order", "sphere", "thresholds"),
}


def made(kind):
    """Return a policy; VIDS with few draws, since plain Python takes long for 60."""
    return LINEAR_POLICIES[kind](**({"draws": 6} if kind == "vids" else {}))


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(LINEAR_POLICIES))
def test_policy_keeps_the_contract(kind):
    check_linear_policy(made(kind))


def refusal_of(policy, actions, censorship):
    """Return what is said of a policy that does not play these actions, or an empty text."""
    if actions == "finite":
        return ""
    if policy.knows_observe:
        return "same finite set"
    if policy.counts_pulls and censorship != "uniform":
        return "must be Uniform or Delayed where actions change"
    return "must have an `on_ball` kernel" if policy.counts_pulls and actions == "ball" else ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "actions", "censorship"),
    [
        pytest.param(*names, marks=[] if names in AT_ONCE else [pytest.mark.slow])
        for names in itertools.product(sorted(LINEAR_POLICIES), ACTIONS, CENSORSHIPS)
    ],
)
def test_every_loop_agrees_past_the_first_fresh_inverses(kind, actions, censorship):
    problem = LinearBandit([0.5, -0.3, 0.2, 0.4, 0.1], 0.5, ACTIONS[actions])
    refusal = refusal_of(LINEAR_POLICIES[kind], actions, censorship)
    if refusal:
        with pytest.raises(InvalidInput, match=refusal):
            Study(problem, CENSORSHIPS[censorship], made(kind), horizon=10)
        return
    cell = linear_cell(
        problem,
        CENSORSHIPS[censorship],
        made(kind),
        700,
        2,
        np.array([1, 40, 700]),
        np.array([1.0]),
    )
    check_linear_cell(cell)


def optimist(mean, square, spread, shift, action, clock, stream, table):
    return mean + table[0] * square


def impatient(mean, square, spread, shift, action, clock, stream, table):
    return mean + table[0] * square + 0.1 * clock * (action == 1)


def scribbler(mean, square, spread, shift, action, clock, stream, table):
    table[0] += 1.0
    return mean


def shrinking(spread, table):
    return 1.0 - spread


@dataclass(frozen=True)
class Optimist(LinearPolicy):
    kind: ClassVar[str] = "optimist"
    waits = True
    index = staticmethod(optimist)

    def table(self, setting):
        return np.array([2.0])


class Impatient(Optimist):
    index = staticmethod(impatient)


class Scribbler(Optimist):
    index = staticmethod(scribbler)


class Shrinking(Optimist):
    radius = staticmethod(shrinking)


def halfway(known, clock, stream, table, scratch, out):
    for i in range(out.size):
        out[i] = 0.5 * known.vectors[i, 0]


def beyond(known, clock, stream, table, scratch, out):
    for i in range(out.size):
        out[i] = 2.0 * known.vectors[i, 0]


class Halfway(Optimist):
    on_ball = staticmethod(halfway)


class Beyond(Optimist):
    on_ball = staticmethod(beyond)


class Tabular(Optimist):
    def table(self, setting):
        return np.ones((setting.dimension, 2))


@pytest.mark.slow
def test_third_party_policy_passes():
    check_linear_policy(Optimist())


@pytest.mark.slow
def test_policy_that_hides_its_use_of_the_clock_is_caught():
    with pytest.raises(AssertionError, match=r"jumping .* and playing every round differ"):
        check_linear_policy(Impatient())


@pytest.mark.parametrize(
    ("policy", "complaint"),
    [
        (Scribbler, "must not write to its arguments"),
        (Shrinking, "must not decrease"),
        (Tabular, "a vector of constants"),
        (Halfway, "largest index of the ball"),
        (Beyond, "a vector of length at most 1"),
    ],
)
def test_broken_kernels_are_caught(policy, complaint):
    with pytest.raises(AssertionError, match=complaint):
        check_linear_policy(policy())
