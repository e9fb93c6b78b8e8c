"""Delays by inversion."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from halfseen.kernels.delay_times import delay_time, normal_quantile
from halfseen.problems.delay_contract import law_rows
from halfseen.problems.delay_laws import (
    EmpiricalDelay,
    Fixed,
    GeometricDelay,
    LogNormalDelay,
    ParetoDelay,
)

LAWS = [
    Fixed(3, arrive=0.9),
    GeometricDelay(50),
    GeometricDelay(0.3, arrive=0.5),
    LogNormalDelay(30, 1.5),
    ParetoDelay(0.7, 20, arrive=0.6),
    EmpiricalDelay([0, 0, 7, 7, 30], arrive=0.8),
]


@pytest.mark.parametrize("p", [1e-300, 1e-20, 1e-6, 0.01, 0.075, 0.3, 0.5, 0.7, 0.925, 0.999999])
def test_normal_quantile_agrees_with_the_standard_library(p):
    assert normal_quantile(p) == pytest.approx(NormalDist().inv_cdf(p), rel=1e-15, abs=1e-300)


def test_normal_quantile_of_the_ends_is_infinite():
    assert normal_quantile(0.0) == -math.inf
    assert normal_quantile(1.0) == math.inf


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_delay_is_the_first_by_which_more_than_u_has_arrived(law):
    rows, lists = law_rows([law], 10_000)
    for u in np.random.default_rng(1).random(300):
        delay = delay_time(rows, 0, u, lists)
        if delay == math.inf:
            assert u >= law.arrive
        else:
            assert law.arrived_by(delay - 1) <= u * (1 + 1e-12)
            assert u < law.arrived_by(delay) * (1 + 1e-12)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_no_uniform_number_gives_a_delay_that_is_no_number(law):
    rows, lists = law_rows([law], 100)
    for u in (0.0, 2.0**-53, law.arrive * (1 - 2.0**-53), 1 - 2.0**-53):
        assert delay_time(rows, 0, u, lists) >= 0
