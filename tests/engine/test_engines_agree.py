"""Every registered policy keeps the contract on every engine."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from halfseen import Policy
from halfseen.policies import POLICIES
from halfseen.testing import check_policy

# An index, ties, samples and imputed rewards; tests/policies play the others in plain Python.
AT_ONCE = ("ucb", "imed", "gaussian-thompson", "impute-zero")


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[] if kind in AT_ONCE else [pytest.mark.slow])
        for kind in sorted(POLICIES)
    ],
)
def test_policy_keeps_the_contract(kind):
    check_policy(POLICIES[kind]())


def greedy(state, arm, clock, stream, table):
    return state[arm, 1] / state[arm, 0] if state[arm, 0] > 0 else table[arm, 0]


def impatient(state, arm, clock, stream, table):
    return greedy(state, arm, clock, stream, table) - clock * (arm == 0)


def spill(state, arm, reward, table):
    state[arm, 0] += 1.0
    state[:, 1] += reward


@dataclass(frozen=True)
class Greedy(Policy):
    kind: ClassVar[str] = "greedy"
    waits = True
    index = staticmethod(greedy)

    def table(self, setting):
        return np.full((setting.arms, 1), 9.0)


class Impatient(Greedy):
    index = staticmethod(impatient)


class Spilling(Greedy):
    learn = staticmethod(spill)


def test_third_party_policy_passes():
    check_policy(Greedy())


def test_policy_that_hides_its_use_of_the_clock_is_caught():
    with pytest.raises(AssertionError, match="must not depend on the clock"):
        check_policy(Impatient())


def test_policy_that_touches_other_arms_is_caught():
    with pytest.raises(AssertionError, match=r"must change the row state\[arm\] only"):
        check_policy(Spilling())
