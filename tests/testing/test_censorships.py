"""Censorships that break their contract are told so, with what they did and the rule."""

import random
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from halfseen import (
    Censorship,
    InvalidInput,
    MultiThreshold,
    PerAction,
    PerArm,
)
from halfseen.censorship import Profile
from halfseen.testing import (
    check_censorship,
)


@pytest.mark.slow
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


@dataclass(frozen=True)
class Complete(Odds):
    sees_everything = True

    def probabilities(self, actions):
        return np.full(actions, 0.5)


@dataclass(frozen=True)
class Misspelt(Odds):
    def probabilities(self, actions):
        return np.full(actions, 0.5) if isinstance(actions, int) else probabilty  # noqa: F821


@dataclass(frozen=True)
class ByReward(Odds):
    by_reward = True

    def probabilities(self, actions):
        return np.full(actions, 0.5)


@dataclass(frozen=True)
class Steep(Odds):
    def probabilities(self, actions):
        return np.full(actions, 0.5)

    def along_direction(self, points):
        return np.linspace(-1.0, 1.0, points), np.linspace(-1.0, 2.0, points)


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
class Beyond(Odds):
    """Above 1 at the pole, though not at the vectors it is tried on."""

    slope: float = 0.6
    profile = Askew.profile

    def probabilities(self, actions):
        return 0.5 + self.slope * np.asarray(actions)[:, 0]


class Careless(Censorship):
    kind = "careless"

    def probabilities(self, actions):
        return np.full(actions, 0.5)


def half(projection, table):
    return 0.5


def told(**parts):
    """Return a censorship of probability 1/2 with other methods or attributes of its own."""
    content = {
        "probabilities": lambda self, actions: np.full(np.shape(actions)[:1] or actions, 0.5)
    }
    content |= {"kind": "told", "__annotations__": {"kind": ClassVar[str]}} | parts
    return dataclass(frozen=True)(type("Told", (Censorship,), content))()


def crowded(self, actions):
    count = actions if isinstance(actions, int) else len(actions)
    return np.full(count, 0.5 if count < 100 else 0.2)


_BUFFER = np.zeros(1000)


def reused(self, actions):
    if isinstance(actions, int):
        return np.full(actions, 0.5)
    _BUFFER[: len(actions)] = 0.5 + 0.3 * actions[:, 0]
    return _BUFFER[: len(actions)]


def never(self, actions):
    return np.full(np.shape(actions)[:1] or actions, 1e-320)


def far_steps(self, dimension, regions):
    return MultiThreshold([], [0.9], [1.0, 0.0, 0.0]), 0.1


def turning(self, dimension):
    return Profile(
        half, np.eye(dimension)[random.randrange(dimension)], np.full(1, random.random())
    )


def steady_profile(self, dimension):
    return Profile(half, np.eye(dimension)[0], np.zeros(1))


def flat(self, points):
    return np.linspace(-1.0, 1.0, points), np.full(points, 0.9)


def profiled(*parts):
    return told(profile=lambda self, dimension: Profile(*parts))


@pytest.mark.parametrize(
    ("censorship", "sentence"),
    [
        (told(observe_range=0.5), "observe_range must be the smallest and the largest probab"),
        (told(in_words=lambda self: 3), "in_words must return a sentence, not 3"),
        (told(comes_late=True), r"comes_late must be left False: delays are those of a DelayLaw"),
        (told(profile=lambda self, dimension: (half, 0, 0)), "profile must return a Profile, not"),
        (told(profile=lambda self: None), r"profile must be called as profile\(dimension\)"),
        (told(profile=None), r"profile must be a method, profile\(dimension\), not None"),
        (profiled(half, [1.0, 0.0, 0.0], np.zeros(1)), "direction must be an array of floats, not"),
        (profiled(half, np.eye(3)[0], [0.0]), "table must be an array of floats, not"),
        (profiled(half, np.zeros(4), np.zeros(1)), "direction must have 3 coordinates, not"),
        (profiled(half, np.full(3, 2.0), np.zeros(1)), "direction must have length 1, not 3.46"),
        (profiled(len, np.eye(3)[0], np.zeros(1)), r"must take 2 arguments, \(projection, table"),
        (profiled(lambda s, table: None, np.eye(3)[0], np.zeros(1)), "a number, not None"),
        (told(along_direction=lambda self, points: 3), "must return two arrays, projections and"),
        (told(observe_range=(0.9, 0.1)), r"the smallest and the largest probability, not \(0.9, 0"),
        (told(observe_range=("low", "high")), r"and the largest probability, not \('low', 'high'"),
        (told(rates=lambda self, problem: np.full(problem.arms, 0.9)), "rates must agree with pro"),
        (
            told(probabilities=crowded),
            r"how many actions there are: \[0.2, 0.2, 0.2\] among 300 is",
        ),
        (told(probabilities=reused), "probabilities must return a new array every time"),
        (told(probabilities=never), r"must not be below 1e-300; got 1e-320"),
        (
            told(in_steps=lambda self, dimension, regions: 7),
            "in_steps must return a MultiThreshold",
        ),
        (
            told(in_steps=far_steps),
            "in_steps must agree with probabilities up to its error, 0.1: it",
        ),
        (told(profile=turning), "profile must return the same every time"),
        (
            told(message_rates=lambda self, problem: np.full(problem.arms, 7.0)),
            "message_rates must be from the probabilities",
        ),
        (told(written=lambda self: {"rte": 0.5}), "written must give fields of"),
        (told(kind="uniform"), "must have a name of its own: .*Uniform is called 'uniform'"),
        (told(profile=steady_profile, along_direction=flat), "at -1 it is 0.9, not 0.5"),
    ],
)
def test_what_a_censorship_tells_of_itself_is_checked(censorship, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_censorship(censorship, horizon=10)


@pytest.mark.parametrize(
    ("censorship", "sentence"),
    [
        (Odds(), "must be above 0 and at most 1: it is 2 for action 1"),
        (Never(), "must be above 0 and at most 1: it is 0 for action 1"),
        (Short(), "must return one probability per action: 3 of them"),
        (Moody(), "must return the same for the same actions: no randomness"),
        (Relative(), "must not depend on the other actions"),
        (Optimist(), "observe_range must contain every probability"),
        (Askew(), "profile must agree with probabilities"),
        (Beyond(), "for every projection from -1 to 1"),
        (Complete(), "sees_everything must be True only where every probability is 1"),
        (Misspelt(), "probabilities must run: NameError"),
        (ByReward(), "seen_draws must return how seen rewards are drawn"),
        (Steep(), "probabilities must be above 0 and at most 1: they go from -1 to 2"),
        (Careless(), "must be a dataclass"),
        ("uniform", "must be derived from Censorship"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_wrong_censorships_are_told_what_is_wrong(censorship, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_censorship(censorship, horizon=10)


def test_a_censorship_that_refuses_everything_is_no_invalid_input():
    @dataclass(frozen=True)
    class Shy(Censorship):
        kind: ClassVar[str] = "shy"

        def probabilities(self, actions):
            return np.full(actions if isinstance(actions, int) else len(actions), 0.5)

        def along_direction(self, points):
            raise InvalidInput("points", "must be fewer", points, "Ask for fewer.")

    with pytest.raises(AssertionError, match="Shy must accept its test input: `points`"):
        check_censorship(Shy())


def test_a_censorship_that_remembers_calls_is_told_to_keep_no_state():
    """Its stored results would not be found again."""

    @dataclass(frozen=True)
    class Counting(Censorship):
        kind: ClassVar[str] = "counting"
        calls: ClassVar[list[int]] = []

        def probabilities(self, actions):
            self.calls.append(1)
            return np.full(actions if isinstance(actions, int) else len(actions), 0.5)

    with pytest.raises(AssertionError, match="Counting must keep no state: an attribute, or a"):
        check_censorship(Counting(), horizon=10)


def less_at_the_pole(projection, table):
    return 0.5 + 0.2 * projection if projection < 0.99 else 0.1


def test_a_profile_that_differs_from_the_probabilities_at_the_pole_is_told():
    @dataclass(frozen=True)
    class Poled(Censorship):
        kind: ClassVar[str] = "poled"

        def profile(self, dimension):
            return Profile(less_at_the_pole, np.eye(dimension)[0], np.zeros(1))

        def probabilities(self, actions):
            return 0.5 + 0.2 * np.asarray(actions)[:, 0]

    with pytest.raises(AssertionError, match=r"at a projection of 0\.99995 it is 0\.1, not 0\.69"):
        check_censorship(Poled(), horizon=10)
