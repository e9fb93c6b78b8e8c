"""Exact probabilities against every outcome, one by one."""

import itertools
import math

import numpy as np
import pytest

from halfseen.claims.walks import excursion_probability, shortfall_probability


@pytest.mark.parametrize("observe", [0.1, 0.5, 0.9])
def test_shortfall_is_that_of_all_outcomes(observe):
    least = np.array([-np.inf, -np.inf, 1.0, 1.0, 2.0, 2.5, 3.0, 3.0])
    total = 0.0
    for seen in itertools.product((0, 1), repeat=len(least)):
        chance = math.prod(observe if x else 1 - observe for x in seen)
        total += chance * bool((np.cumsum(seen) < least).any())
    assert shortfall_probability(observe, least) == pytest.approx(total, rel=1e-12)


def test_excursion_is_that_of_all_outcomes():
    most = np.array([1.0, 1.5, 2.0, 2.0, 2.2, 3.0, 2.0, 3.5, 9.0])
    walks = np.cumsum(list(itertools.product((-1, 1), repeat=len(most))), axis=1)
    out = (np.abs(walks) > most).any(axis=1)
    assert excursion_probability(most) == pytest.approx(out.mean(), rel=1e-12)


def test_no_limit_no_exit():
    assert shortfall_probability(0.3, np.full(20, -np.inf)) == 0.0
    assert excursion_probability(np.full(20, 100.0)) == 0.0
