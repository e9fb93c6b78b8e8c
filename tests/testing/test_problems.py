"""Problems and sets of actions that break their contract are told so."""

import random
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

from halfseen import (
    ArmActions,
    ArmedBandit,
    FiniteActions,
    GeneralizedLinearBandit,
    InvalidInput,
    LinearActions,
    LinearBandit,
    Link,
    Problem,
)
from halfseen.problems import PROBLEMS
from halfseen.problems.links import draw_gaussian
from halfseen.testing import (
    check_problem,
)


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


def arms_offered(subsets):
    """Return the arms that a function of their number offers, as a class nobody registered."""
    content = {"subsets": subsets, "kind": "own", "__annotations__": {"kind": ClassVar[str]}}
    return dataclass(frozen=True)(type("Own", (ArmActions,), content))()


@pytest.mark.parametrize(
    ("subsets", "sentence"),
    [
        (lambda self, arms: None, "subsets` must return a list of arms per round; got None"),
        (lambda self, arms: ([k] for k in range(arms)), "a list of arms per round; got <generator"),
        (lambda self, arms: [0, 1], r"subsets\[0\]` must name different arms from 0 to 2; got 0"),
        (lambda self, arms: [[7]], r"subsets\[0\]` must name different arms from 0 to 2; got \[7"),
        (lambda self, arms: [[0.0, 1.0]], r"different arms from 0 to 2; got \[0\.0, 1\.0\]"),
        (lambda self, arms: [[True, False]], r"different arms from 0 to 2; got \[True, False\]"),
    ],
)
def test_arms_that_are_not_listed_by_round_are_refused(subsets, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        ArmedBandit([0.2, 0.5, 0.8], actions=arms_offered(subsets))


def test_a_set_of_arms_need_not_be_registered_to_be_checked():
    actions = arms_offered(lambda self, arms: [[0, 1], [1, 2]])
    check_problem(ArmedBandit([0.2, 0.5, 0.8], actions=actions), horizon=10)
    moody = arms_offered(lambda self, arms: [[random.randrange(arms)]])
    with pytest.raises(AssertionError, match=r"Own\.subsets must return the same every time"):
        check_problem(ArmedBandit([0.2, 0.5] * 20, actions=moody), horizon=10)


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (Restless(), "must return the same bandit every time"),
        (Recursive(), "must return an ArmedBandit, LinearBandit or Generalized"),
        (LinearBandit([0.5, 0.2], actions=Long()), "must be of length at most 1, not 2"),
        (LinearBandit([0.5, 0.2], actions=Forgetful()), "must set same_every_round to True"),
        (LinearBandit([0.5, 0.2], actions=Shaky()), "must depend only on the generator"),
        (3, "must be derived from Problem"),
    ],
    ids=["restless", "recursive", "long", "forgetful", "shaky", "number"],
)
def test_wrong_problems_are_told_what_is_wrong(problem, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_problem(problem, horizon=10)


@dataclass(frozen=True)
class Refuses(Problem):
    kind: ClassVar[str] = "refuses"

    def bandit(self):
        return ArmedBandit([])


@dataclass(frozen=True)
class Unpicklable(Problem):
    kind: ClassVar[str] = "unpicklable"

    def bandit(self):
        return ArmedBandit([0.5, 0.4])

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError("no")


@dataclass(frozen=True)
class Grows(Problem):
    """Doubles its gap whenever it is made."""

    kind: ClassVar[str] = "grows"
    gap: float

    def __post_init__(self):
        object.__setattr__(self, "gap", 2.0 * self.gap)

    def bandit(self):
        return ArmedBandit([0.5 + self.gap, 0.5])


@dataclass(frozen=True)
class Sorts(Problem):
    kind: ClassVar[str] = "sorts"
    means: list = field(default_factory=lambda: [0.5, 0.4])

    def bandit(self):
        self.means.sort()
        return ArmedBandit(self.means)


def half_of_it(mean, noise, stream, count, arm):
    return 0.5 * draw_gaussian(mean, noise, stream, count, arm)


def straight(z):
    return 1.0 + z


def steady(z):
    return 1.0


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (Refuses(), "Refuses must accept its test input: .*`ArmedBandit.means`"),
        (Unpicklable(), r"Unpicklable must be pickled \(TypeError: no\)"),
        (Sorts(), r"Sorts\.bandit must not change the fields of Sorts"),
        (Grows(0.1), "must survive a round trip to a spec; read again it is"),
        (
            GeneralizedLinearBandit(
                [0.6, 0.8],
                1.0,
                link=Link("halved", straight, steady, half_of_it),
                actions=FiniteActions(np.eye(2)),
            ),
            "link: rewards drawn with mean",
        ),
    ],
    ids=["refuses", "unpicklable", "sorts", "grows", "halved"],
)
def test_problems_that_break_their_contract_are_told_so(problem, said, monkeypatch):
    monkeypatch.setitem(PROBLEMS, "grows", Grows)
    with pytest.raises(AssertionError, match=said):
        check_problem(problem, horizon=5)
