"""Laws of delays."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from halfseen import InvalidInput
from halfseen.problems.delay_contract import DelayLaw, law_rows
from halfseen.problems.delay_laws import (
    EmpiricalDelay,
    Fixed,
    GeometricDelay,
    LogNormalDelay,
    ParetoDelay,
)

GOLDEN = [
    (GeometricDelay(50), [0.0196078431373, 0.0761545739735, 0.195736960907, 0.981320490163]),
    (LogNormalDelay(30, 1.5), [0.0116809197337, 0.0895924948379, 0.25178981917, 0.897613823823]),
    (
        ParetoDelay(0.7, 20, arrive=0.6),
        [0.0201458883301, 0.0718900157804, 0.158511839317, 0.488365699414],
    ),
]


@pytest.mark.parametrize(("law", "expected"), GOLDEN, ids=lambda x: getattr(x, "kind", ""))
def test_probability_of_having_arrived_matches_the_golden_values(law, expected):
    assert law.arrived_by([0, 3, 10, 200]) == pytest.approx(expected, rel=1e-11)
    assert law.arrived_by(-1) == 0.0
    assert law.arrived_by(math.inf) == law.arrive


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (GOLDEN[0][0], (5, 35, 60)),
        (GOLDEN[1][0], (4, 30, 65)),
        (GOLDEN[2][0], (5, 238, math.inf)),
    ],
    ids=["geometric", "log-normal", "pareto"],
)
def test_delays_by_inversion_match_the_golden_values(law, expected):
    assert tuple(law.delay(u) for u in (0.1, 0.5, 0.7)) == expected


def test_fixed_and_empirical_delays():
    assert [Fixed(4, arrive=0.5).delay(u) for u in (0.0, 0.49, 0.5)] == [4, 4, math.inf]
    law = EmpiricalDelay([7, 0, 0, 30], arrive=0.8)
    assert law.arrived_by([-1, 0, 6, 7, 30]) == pytest.approx([0, 0.4, 0.4, 0.6, 0.8])
    assert [law.delay(u) for u in (0.39, 0.41, 0.61, 0.81)] == [0, 7, 30, math.inf]
    assert EmpiricalDelay.from_log([1, None, math.nan, 5]) == EmpiricalDelay([1, 5], arrive=0.5)


@dataclass(frozen=True)
class Halves(DelayLaw):
    kind = "halves"
    arrive: float = 1.0

    def arrived_by(self, delay):
        return 1.0 - 0.5 ** (np.floor(np.asarray(delay, float)) + 1.0)


@dataclass(frozen=True)
class Falling(Halves):
    def arrived_by(self, delay):
        return 0.5 - 0.1 * np.asarray(delay, float)


def test_a_law_of_your_own_is_drawn_from_its_distribution_function():
    assert [Halves().delay(u) for u in (0.0, 0.49, 0.5, 0.76)] == [0, 0, 1, 2]


def test_a_distribution_function_that_falls_is_refused():
    with pytest.raises(InvalidInput, match=r"arrived_by\(1\)` must not fall"):
        law_rows([Falling()], 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Fixed(-1), "`Fixed.rounds` must be a whole number of at least 0"),
        (lambda: Fixed(1.5), "`Fixed.rounds` must be a whole number"),
        (lambda: Fixed(math.nan), "`Fixed.rounds` must be a whole number"),
        (lambda: Fixed(1, arrive=1.2), "`Fixed.arrive` must be a finite number"),
        (lambda: Fixed(1, arrive=-0.1), "`Fixed.arrive` must be a finite number"),
        (lambda: GeometricDelay(-2), "`GeometricDelay.mean` must be a finite number above 0"),
        (lambda: GeometricDelay(math.nan), "`GeometricDelay.mean` must be a finite number"),
        (lambda: LogNormalDelay(30, 0), "`LogNormalDelay.scale` must be a finite number above 0"),
        (lambda: ParetoDelay(0, 1), "`ParetoDelay.exponent` must be a finite number above 0"),
        (lambda: ParetoDelay(1, 1, arrive=math.nan), "`ParetoDelay.arrive` must be a finite"),
        (lambda: EmpiricalDelay([]), "`EmpiricalDelay.delays` must not be empty"),
        (lambda: EmpiricalDelay([0, -1]), r"`EmpiricalDelay.delays\[1\]` must be a whole number"),
        (lambda: EmpiricalDelay([0.5]), r"`EmpiricalDelay.delays\[0\]` must be a whole number"),
        (lambda: EmpiricalDelay([math.nan]), r"`EmpiricalDelay.delays\[0\]` must be a finite"),
        (lambda: EmpiricalDelay.from_log([None]), "`EmpiricalDelay.delays` must hold a delay"),
    ],
)
def test_bad_delays_are_refused_with_a_sentence(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()
