"""What compiled code was made from is noticed when it changes in a running process."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from numba import njit

from halfseen import (
    GLMUCB,
    UCB,
    Agent,
    ArmedBandit,
    Censorship,
    FiniteActions,
    GeneralizedLinearBandit,
    LinearBandit,
    Link,
    LinUCB,
    Policy,
    RandomActions,
    Study,
    Uniform,
    simulate,
)
from halfseen.censorship import Profile
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.loops.live import select
from halfseen.engine.specialise import fitted, part_fingerprint
from halfseen.kernels.reachable import fingerprint, is_own, renewed

SIGN = 1.0


def score(arm):
    return float(arm)


def index(state, arm, clock, stream, table):
    return SIGN * score(arm)


@dataclass(frozen=True)
class Preferring(Policy):
    """Play the arm that a helper scores highest."""

    kind: ClassVar[str] = "preferring"
    waits = True
    index = staticmethod(index)

    def table(self, setting):
        return np.zeros((setting.arms, 1))


def regret():
    study = Study(ArmedBandit([1.0, 0.0]), Uniform(0.5), Preferring(), horizon=10, replications=1)
    return [
        float(simulate(study, engine=engine).data["regret"].values.max())
        for engine in ("reference", "cpu")
    ]


@pytest.mark.slow
def test_a_helper_defined_anew_is_played_at_once_and_undone_again(monkeypatch):
    assert regret() == [10.0, 10.0]
    monkeypatch.setitem(globals(), "score", lambda arm: -float(arm))
    assert regret() == [0.0, 0.0]
    monkeypatch.undo()
    assert regret() == [10.0, 10.0]


@pytest.mark.slow
def test_a_constant_given_another_value_is_played_at_once(monkeypatch):
    assert regret() == [10.0, 10.0]
    monkeypatch.setitem(globals(), "SIGN", -1.0)
    assert regret() == [0.0, 0.0]


def test_a_new_agent_takes_the_helper_of_now(monkeypatch):
    assert Agent(Preferring(), arms=2).choose().arm == 1
    monkeypatch.setitem(globals(), "score", lambda arm: -float(arm))
    assert Agent(Preferring(), arms=2).choose().arm == 0


@njit
def compiled_index(state, arm, clock, stream, table):
    return SIGN * arm


@dataclass(frozen=True)
class Compiled(Preferring):
    """The same policy, with a kernel that numba has compiled."""

    kind: ClassVar[str] = "compiled"
    index = staticmethod(compiled_index)


def test_a_kernel_that_numba_compiled_is_part_of_what_a_loop_is_known_by(monkeypatch):
    """It was left out: another process played the code of before an edit."""
    before = fitted(select, Compiled().kernels())
    monkeypatch.setitem(globals(), "SIGN", -1.0)
    after = fitted(select, Compiled().kernels())
    assert fingerprint(before) != fingerprint(after)
    monkeypatch.undo()
    assert fingerprint(before) == fingerprint(fitted(select, Compiled().kernels()))


def test_no_policies_share_code_that_calls_a_kernel_that_numba_compiled():
    kernels = Compiled().kernels()
    assert part_fingerprint(fitted(select, kernels), [kernels.index]) is None


def test_a_constant_of_a_kernel_that_numba_compiled_is_taken_as_it_is_now(monkeypatch):
    assert Agent(Compiled(), arms=2).choose().arm == 1
    monkeypatch.setitem(globals(), "SIGN", -1.0)
    assert Agent(Compiled(), arms=2).choose().arm == 0


def rate(projection, table):
    return 0.5 if SIGN > 0.0 else 0.25


@dataclass(frozen=True)
class Rated(Censorship):
    """Feedback is as likely as a constant says, along every direction."""

    kind: ClassVar[str] = "rated"

    def profile(self, dimension):
        return Profile(rate, np.eye(dimension)[0], np.zeros(1))

    def probabilities(self, actions):
        return np.full(len(actions), rate(0.0, None))


def test_a_constant_of_a_profile_is_taken_as_it_is_now(monkeypatch):
    problem = LinearBandit([0.5, 0.3], actions=RandomActions(4, 2))
    given = (problem, Rated(), LinUCB(), 10, 1, np.array([10]), np.array([1.0]))
    before = LinearCell(*given).open_names["observe_probability"]
    assert LinearCell(*given).open_names["observe_probability"] is before
    monkeypatch.setitem(globals(), "SIGN", -1.0)
    assert LinearCell(*given).open_names["observe_probability"] is not before


def test_a_function_of_python_itself_is_part_of_what_a_loop_is_known_by():
    kernels = UCB().kernels()
    loops = [fitted(select, replace(kernels, index=f)) for f in (math.exp, math.log, np.exp)]
    assert len(set(map(fingerprint, loops))) == 3


def curve(z):
    return 0.5 + 0.4 * z


def mean(z):
    return curve(z)


def slope(z):
    return 0.4


@pytest.mark.slow
def test_a_helper_of_a_link_defined_anew_is_played_at_once(monkeypatch):
    link = Link("bent", mean, slope, reward="bernoulli")
    problem = GeneralizedLinearBandit([0.5, 0.0], link=link, actions=FiniteActions(np.eye(2)))
    study = Study(problem, Uniform(0.5), GLMUCB(), horizon=200, replications=2)

    def both():
        found = [simulate(study, engine=e).data["regret"].values for e in ("reference", "cpu")]
        np.testing.assert_allclose(*found, rtol=1e-9)
        return found[0]

    before = both()
    monkeypatch.setitem(globals(), "curve", lambda z: 0.2 + 0.4 * z)
    assert (both() != before).any()
    monkeypatch.undo()
    np.testing.assert_array_equal(both(), before)


def closing_over(value):
    return lambda x: value * x


@pytest.mark.parametrize("kernel", [None, 3, closing_over(2.0), np.sum])
def test_what_does_not_change_is_the_same_object(kernel):
    assert renewed(kernel) is kernel
    assert renewed(kernel) is kernel


def test_a_package_whose_name_begins_with_ours_is_not_ours():
    ours = renewed.__code__.co_filename
    beside = str(Path(ours).parents[1].with_name("halfseen_of_mine") / "kernels.py")
    names = {}
    exec(compile("def index():\n    return 1.0", beside, "exec"), names)
    assert is_own(renewed)
    assert not is_own(names["index"])
