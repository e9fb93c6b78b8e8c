"""Checks of reward laws: right ones pass, wrong ones are told what is wrong."""

import math
import random
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from halfseen import ArmedBandit, RewardLaw, StudentT
from halfseen.draws import normal, uniform
from halfseen.problems import REWARD_LAWS
from halfseen.testing import check_problem, check_reward_law
from halfseen.testing.drawn_rewards import tail_index


@pytest.mark.parametrize("kind", ["bernoulli", "exponential", "student-t"])
def test_built_in_laws_pass(kind):
    check_reward_law(REWARD_LAWS[kind]())


def test_laws_without_a_variance_and_rare_rewards_pass():
    check_reward_law(StudentT(1.5))
    check_reward_law(StudentT(2.0), seed=1)
    check_reward_law(REWARD_LAWS["bernoulli"](), means=[1e-6, 0.5])
    check_reward_law(REWARD_LAWS["gaussian"](), noise=0.0)


@pytest.mark.parametrize("index", [1.5, 3.0])
def test_the_tail_index_is_that_of_a_pareto_law(index):
    away = np.random.default_rng(1).pareto(index, 20_000) + 1.0
    assert tail_index(away) == pytest.approx(index, abs=4.0 * index / math.sqrt(200))
    assert tail_index(np.ones(500)) == math.inf


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


def narrow(table, arm, count, stream):
    return table[arm, 0] + 0.5 * table[arm, 1] * normal(stream, count, arm)


def laplace(table, arm, count, stream):
    u = uniform(stream, count, arm) - 0.5
    size = -math.log1p(-2.0 * abs(u)) / math.sqrt(2.0)
    return table[arm, 0] + table[arm, 1] * math.copysign(size, u)


def every_arm_alike(table, arm, count, stream):
    return table[arm, 0] + table[arm, 1] * normal(stream, count, 0)


def every_seed_alike(table, arm, count, stream):
    return table[arm, 0] + table[arm, 1] * normal((1, stream[1], stream[2], 4), count, arm)


def every_replication_alike(table, arm, count, stream):
    return table[arm, 0] + table[arm, 1] * normal((stream[0], stream[1], 1, 4), count, arm)


def in_pairs(table, arm, count, stream):
    return table[arm, 0] + table[arm, 1] * normal(stream, count // 2, arm)


def past_the_table(table, arm, count, stream):
    return table[arm, 5]


def nothing(table, arm, count, stream):
    return None


def at_most_one(table, arm, count, stream):
    bit = 1.0 if uniform(stream, count, arm) < 0.5 else -1.0
    return min(table[arm, 0], 1.0) + table[arm, 1] * bit


def wide(table, arm, count, stream):
    sign = 1.0 if count % 2 == 0 else -1.0
    return table[arm, 0] + 3.0 * sign * table[arm, 1]


def sometimes_nan(table, arm, count, stream):
    return math.nan if count % 1000 == 999 else table[arm, 0]


def cauchy(table, arm, count, stream):
    return table[arm, 0] + table[arm, 1] * math.tan(math.pi * (uniform(stream, count, arm) - 0.5))


def pareto(table, arm, count, stream):
    """An index of 1.3: a mean, 13/3, and no variance."""
    size = (1.0 - uniform(stream, count, arm)) ** (-1.0 / 1.3)
    return table[arm, 0] + table[arm, 1] * (size - 13.0 / 3.0)


@pytest.mark.parametrize("seed", [5, pytest.param(6, marks=pytest.mark.slow)])
def test_a_law_without_a_mean_is_told_and_one_with_very_heavy_tails_passes(seed):
    def law(kernel):
        content = {"kind": "heavy", "draw": staticmethod(kernel), "__annotations__": {}}
        return dataclass(frozen=True)(type("Heavy", (RewardLaw,), content))()

    with pytest.raises(AssertionError, match=r"must have a mean.* its tail index is about"):
        check_reward_law(law(cauchy), seed=seed)
    check_reward_law(law(pareto), seed=seed)


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (always_up, "must have the arm's mean, by which regret is counted"),
        (global_state, "must return the same for the same arguments"),
        (not_compilable, "must be plain functions that numba can compile"),
        (nowhere, "must return a number, not NaN"),
        (sometimes_nan, "must return finite numbers: 60 of 60,000 draws are not, the first is nan"),
        (three, r"must take 4 arguments, \(table, arm, count, stream\); it takes 3"),
        (wide, "must not be below the standard deviation"),
        (narrow, "must have the noise as its standard deviation.* from a method `scale`"),
        (laplace, "must not set sub_gaussian = True: 61 of 20,000 draws"),
        (every_arm_alike, "must draw independently from arm to arm"),
        (every_replication_alike, "must draw independently from replication to replication"),
        (every_seed_alike, "must draw independently from seed to seed"),
        (in_pairs, "must draw independently from observation to observation"),
        (past_the_table, r"raised IndexError: index 5.* table is an array of shape \(3, 2\)"),
        (nothing, "must return a number, not None"),
        (at_most_one, "accepts a mean of 2, for which 20,000 draws have a mean of 1.0"),
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


def test_a_problem_with_a_wrong_law_is_told_what_is_wrong():
    @dataclass(frozen=True)
    class Upward(RewardLaw):
        kind: ClassVar[str] = "upward"
        draw = staticmethod(always_up)

    with pytest.raises(AssertionError, match="must have the arm's mean"):
        check_problem(ArmedBandit([0.5, 0.2], reward=Upward()))
    with pytest.raises(AssertionError, match=r"Flat\.table must return one row of constants"):
        check_reward_law(type("Flat", (Upward,), {"table": lambda *given: np.ones(3)})())
    with pytest.raises(AssertionError, match=r"scale must be called as scale\(means, noise\)"):
        check_reward_law(type("Bare", (Upward,), {"scale": lambda self: 1.0})())
    with pytest.raises(AssertionError, match="Give an object, Upward"):
        check_reward_law(Upward)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (((0.0, 0.5), (1.0, 0.4)), "must give probabilities that sum to 1"),
        (((0.0, 0.5), (2.0, 0.5)), "must list every reward; 1 was drawn"),
        (((0.0, 0.9), (1.0, 0.1)), "must give the probability of each reward: 0 makes up"),
        (((0.0, 1.2), (1.0, -0.2)), "must give probabilities"),
        ((0.0, 1.0, 2.0), "must return pairs of a reward and its probability, not"),
    ],
)
def test_values_that_are_not_those_drawn_are_told(values, sentence):
    @dataclass(frozen=True)
    class Listed(type(REWARD_LAWS["bernoulli"]())):
        kind: ClassVar[str] = "listed"

        def values(self, mean, noise):
            return values

    with pytest.raises(AssertionError, match=sentence):
        check_reward_law(Listed(), means=[0.5])


def usual(table, arm, count, stream):
    return table[arm, 0] + table[arm, 1] * normal(stream, count, arm)


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"limits": lambda self, means, noise: (means - 0.1, means + 0.1)}, "0.4 to 0.6 does not"),
        ({"limits": lambda self, means, noise: (0.0, 1.0)}, "each with one number per arm"),
        ({"limits": lambda self, means, noise: None}, "each with one number per arm"),
        ({"non_negative": True}, "non_negative must not be set: a reward of -"),
        ({"possible": staticmethod(lambda reward: reward in (0.0, 1.0))}, "possible must be True"),
        ({"kind": "gaussian"}, "must have a name of its own: .*Gaussian is called 'gaussian'"),
    ],
)
def test_what_a_law_tells_of_its_rewards_is_checked(told, sentence):
    """Policies, agents and lower bounds rely on it."""
    content = {"kind": "told", "draw": staticmethod(usual), "__annotations__": {}} | told
    law = dataclass(frozen=True)(type("Told", (RewardLaw,), content))()
    with pytest.raises(AssertionError, match=sentence):
        check_reward_law(law)
