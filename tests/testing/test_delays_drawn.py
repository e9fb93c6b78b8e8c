"""Laws of delays that break their contract are named with what they did."""

from dataclasses import dataclass

import numpy as np
import pytest

from halfseen import (
    DelayLaw,
    EmpiricalDelay,
    Fixed,
    GeometricDelay,
    LogNormalDelay,
    ParetoDelay,
)
from halfseen.testing import check_delay_law


@dataclass(frozen=True)
class Own(DelayLaw):
    arrive: float = 1.0
    fault: str = ""
    kind = "own delay, for tests"

    def arrived_by(self, delay):
        delay = np.asarray(delay, dtype=float)
        share = np.where(delay < 0, 0.0, np.where(delay < 5, 0.5, 1.0))
        if self.fault == "falls":
            share = np.where(delay > 20, 0.4, share)
        if self.fault == "early":
            share = np.where(delay < 0, 0.1, share)
        if self.fault == "nan":
            share = np.full_like(share, np.nan)
        if self.fault == "one" and delay > 5:
            return 1.0
        return share * (1.0 if self.fault == "exceeds" else self.arrive)

    @property
    def longest(self):
        return 3 if self.fault == "short" else 5

    def delay(self, u, *, most=10_000):
        return 9 if self.fault == "inverse" else super().delay(u, most=most)


@pytest.mark.parametrize(
    "law",
    [
        Fixed(3),
        GeometricDelay(50),
        LogNormalDelay(20, 1.0),
        ParetoDelay(0.7, 20, arrive=0.6),
        EmpiricalDelay([0, 3, 3, 10]),
        Own(),
        Own(0.7),
    ],
)
def test_laws_of_delays_keep_their_contract(law):
    check_delay_law(law)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("falls", "must not fall: it does after 20"),
        ("early", r"arrived_by\(-1\) must be 0; got 0.07"),
        ("exceeds", "must not exceed arrive = 0.7"),
        ("short", r"longest = 3\) must be arrive = 0.7; got 0.35"),
        ("nan", "must return numbers, not NaN"),
        ("one", "must take an array of delays; it raised ValueError"),
        ("inverse", "must be the first delay by which more than 0 has arrived; got 9"),
    ],
)
def test_a_broken_law_of_delays_is_named_with_what_it_did(fault, said):
    with pytest.raises(AssertionError, match=said):
        check_delay_law(Own(0.7, fault))


def test_a_law_that_does_not_say_how_much_arrives_is_told_to():
    @dataclass(frozen=True)
    class Silent(DelayLaw):
        kind = "silent"

        def arrived_by(self, delay):
            return (np.asarray(delay) >= 0) * 1.0

    with pytest.raises(AssertionError, match=r"Silent\.arrive must be the probability.* got None"):
        check_delay_law(Silent())


@dataclass(frozen=True)
class Half(DelayLaw):
    """Says that everything arrives; half of it does."""

    arrive: float = 1.0
    kind = "half delay, for tests"

    def arrived_by(self, delay):
        delay = np.asarray(delay, dtype=float)
        return np.where(delay < 0, 0.0, 0.5 - 0.5 / (2.0 + np.maximum(delay, 0.0)) ** 2)


def test_a_law_by_which_less_arrives_than_it_says_is_named():
    with pytest.raises(AssertionError, match=r"Half\.arrive must be .*: 1 is not 0\.5"):
        check_delay_law(Half())
    check_delay_law(Half(0.5))


def test_laws_with_heavy_tails_keep_their_contract():
    check_delay_law(ParetoDelay(0.05, 1))
