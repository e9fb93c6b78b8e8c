"""Checks of kinds of your own: each fails with a sentence on a kind that breaks its contract."""

import math
import random
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from halfseen import (
    ArmedBandit,
    Censorship,
    LinearActions,
    LinearBandit,
    LinearPolicy,
    LinUCB,
    MultiThreshold,
    PerAction,
    PerArm,
    Policy,
    Problem,
    RewardLaw,
)
from halfseen.agents.linear import LinearAgent
from halfseen.censorship import Profile
from halfseen.problems import REWARD_LAWS
from halfseen.testing import (
    check_censorship,
    check_linear_policy,
    check_policy,
    check_problem,
    check_reward_law,
    linear,
)


@pytest.mark.parametrize(
    "censorship",
    [
        PerArm([0.9, 0.4, 0.1]),
        PerAction([0.9, 0.4, 0.1]),
        MultiThreshold([0.1], [0.9, 0.3], [1, 0, 1]),
    ],
    ids=lambda censorship: censorship.kind,
)
def test_built_in_censorships_pass(censorship):
    check_censorship(censorship, horizon=15)


@pytest.mark.parametrize("kind", ["bernoulli", "exponential", "student-t"])
def test_built_in_laws_pass(kind):
    check_reward_law(REWARD_LAWS[kind]())


@dataclass(frozen=True)
class Odds(Censorship):
    """Weights that were not divided by their sum."""

    kind: ClassVar[str] = "odds"

    def probabilities(self, actions):
        return np.arange(1.0, 4.0)


@dataclass(frozen=True)
class Never(Odds):
    def probabilities(self, actions):
        return np.array([0.5, 0.0, 0.5])


@dataclass(frozen=True)
class Short(Odds):
    def probabilities(self, actions):
        return np.array([0.5])


@dataclass(frozen=True)
class Moody(Odds):
    def probabilities(self, actions):
        return np.full(3, random.random())


@dataclass(frozen=True)
class Relative(Odds):
    """Depends on what else is on offer."""

    def probabilities(self, actions):
        size = np.abs(actions).sum(axis=1)
        return size / size.sum()


@dataclass(frozen=True)
class Optimist(Odds):
    observe_range = (0.9, 1.0)

    def probabilities(self, actions):
        return np.full(actions, 0.5)


def steep(projection, table):
    return 0.5 + table[0] * projection


@dataclass(frozen=True)
class Askew(Odds):
    """Its profile and its probabilities disagree."""

    slope: float = 0.2

    def profile(self, dimension):
        return Profile(steep, np.eye(dimension)[0], np.array([self.slope]))

    def probabilities(self, actions):
        return 0.4 + 0.1 * np.asarray(actions)[:, 0]


@dataclass(frozen=True)
class Beyond(Askew):
    """Above 1 at the pole, though not at the vectors it is tried on."""

    slope: float = 0.6

    def probabilities(self, actions):
        return 0.5 + self.slope * np.asarray(actions)[:, 0]


class Careless(Censorship):
    kind = "careless"

    def probabilities(self, actions):
        return np.full(actions, 0.5)


@pytest.mark.parametrize(
    ("censorship", "sentence"),
    [
        (Odds(), "must be above 0 and at most 1: it is 2 for action 1"),
        (Never(), "must be above 0 and at most 1: it is 0 for action 1"),
        (Short(), "must return one probability per action: 3 of them"),
        (Moody(), "must return the same for the same actions: no randomness"),
        (Relative(), "must not depend on the other actions"),
        (Optimist(), "observe_range must hold every probability"),
        (Askew(), "profile must agree with probabilities"),
        (Beyond(), "for every projection from -1 to 1"),
        (Careless(), "must be a dataclass"),
        ("uniform", "must be derived from Censorship"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_wrong_censorships_are_told_what_is_wrong(censorship, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_censorship(censorship, horizon=10)


def always_up(table, arm, count, stream):
    return table[arm, 0] + table[arm, 1]


def global_state(table, arm, count, stream):
    return random.gauss(table[arm, 0], table[arm, 1])


def not_compilable(table, arm, count, stream):
    return float(f"{table[arm, 0]:g}".encode().decode())


def nowhere(table, arm, count, stream):
    return math.nan


def three(table, arm, count):
    return 0.0


def wide(table, arm, count, stream):
    sign = 1.0 if count % 2 == 0 else -1.0
    return table[arm, 0] + 3.0 * sign * table[arm, 1]


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (always_up, "must have the arm's mean, by which regret is counted"),
        (global_state, "must return the same for the same arguments"),
        (not_compilable, "must be plain functions that numba can compile"),
        (nowhere, "must return a finite number"),
        (three, r"must take \(table, arm, count, stream\)"),
        (wide, "must not be below the standard deviation"),
    ],
)
def test_wrong_laws_are_told_what_is_wrong(kernel, sentence):
    @dataclass(frozen=True)
    class Wrong(RewardLaw):
        kind: ClassVar[str] = "wrong"
        draw = staticmethod(kernel)
        sub_gaussian = True

    with pytest.raises(AssertionError, match=sentence):
        check_reward_law(Wrong())
    with pytest.raises(AssertionError, match=sentence):
        check_problem(ArmedBandit([0.5, 0.2], reward=Wrong()))


@dataclass(frozen=True)
class Restless(Problem):
    kind: ClassVar[str] = "restless"

    def bandit(self):
        return ArmedBandit([random.random(), 0.5])


@dataclass(frozen=True)
class Recursive(Problem):
    kind: ClassVar[str] = "recursive"

    def bandit(self):
        return Restless()


@dataclass(frozen=True)
class Long(LinearActions):
    kind: ClassVar[str] = "long"
    same_every_round: ClassVar[bool] = True
    dimension: int = 2
    count: int = 2

    @property
    def fixed(self):
        return 2.0 * np.eye(2)


@dataclass(frozen=True)
class Forgetful(Long):
    same_every_round: ClassVar[bool] = False

    @property
    def fixed(self):
        return np.eye(2)


@dataclass(frozen=True)
class Shaky(LinearActions):
    kind: ClassVar[str] = "shaky"
    dimension: int = 2
    count: int = 2

    def offer(self, rng, clock):
        return 0.5 * np.random.default_rng().random((2, 2))


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (Restless(), "must return the same bandit every time"),
        (Recursive(), "must return an ArmedBandit, LinearBandit or Generalized"),
        (LinearBandit([0.5, 0.2], actions=Long()), "must be of length at most 1, not 2"),
        (LinearBandit([0.5, 0.2], actions=Forgetful()), "must set same_every_round to True"),
        (LinearBandit([0.5, 0.2], actions=Shaky()), "must be decided by the generator"),
        (3, "must be derived from Problem"),
    ],
    ids=["restless", "recursive", "long", "forgetful", "shaky", "number"],
)
def test_wrong_problems_are_told_what_is_wrong(problem, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_problem(problem, horizon=10)


def random_index(state, arm, clock, stream, table):
    return random.random()


def formatted(state, arm, clock, stream, table):
    return float(f"{state[arm, 0]:g}".encode().decode())


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (random_index, "must return the same for the same arguments"),
        (formatted, "must be plain functions that numba can compile"),
    ],
)
def test_wrong_policies_are_told_what_is_wrong(kernel, sentence):
    @dataclass(frozen=True)
    class Wrong(Policy):
        kind: ClassVar[str] = "wrong"
        index = staticmethod(kernel)

        def table(self, setting):
            return np.zeros((setting.arms, 1))

    with pytest.raises(AssertionError, match=sentence):
        check_policy(Wrong(), horizon=10)


def noisy(mean, square, spread, shift, action, clock, stream, table):
    return mean + random.random()


@dataclass(frozen=True)
class Noisy(LinearPolicy):
    kind: ClassVar[str] = "noisy"
    index = staticmethod(noisy)

    def table(self, setting):
        return np.zeros(1)


def test_a_linear_policy_with_randomness_of_its_own_is_told_so():
    with pytest.raises(AssertionError, match="must return the same for the same arguments"):
        check_linear_policy(Noisy(), horizon=10)


def test_a_live_agent_that_plays_otherwise_is_caught(monkeypatch):
    choose = LinearAgent.choose

    cells = linear.linear_cells(LinUCB(), 20, 5)
    cell = next(cell for cell in cells if cell.problem.actions.given is not None)
    linear.check_live_agent(cell)
    monkeypatch.setattr(LinearAgent, "choose", lambda self, rows: choose(self, rows[::-1]))
    with pytest.raises(AssertionError, match="the live agent and the engine choose differently"):
        linear.check_live_agent(cell)
