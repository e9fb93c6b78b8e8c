"""Dynamic programs for arms against golden values and every outcome, one by one."""

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy import stats

from halfseen.claims.arms.programs import (
    best_adaptive,
    best_offline,
    best_with_looks,
    exact_with_looks,
    expected_costs,
    play_greedily,
)

HALF = Fraction(1, 2)
THREE = (HALF, Fraction(1, 4), Fraction(4, 5))


def by_hand(observe, horizon, alpha, lam):
    """Return the largest expected potential by recursion over histories."""

    @cache
    def value(left, counts):
        if left == 0:
            return 0.0
        options = []
        for arm, p in enumerate(observe):
            more = tuple(n + (k == arm) for k, n in enumerate(counts))
            ahead = p * value(left - 1, more) + (1 - p) * value(left - 1, counts)
            options.append((counts[arm] + lam) ** -alpha + ahead)
        return max(options)

    return value(horizon, (0,) * len(observe))


@pytest.mark.parametrize("observe", [(0.4,), (0.3, 0.7), (0.2, 0.5, 0.9)])
@pytest.mark.parametrize(("alpha", "lam"), [(0.5, 1.0), (2.0, 0.3)])
def test_backward_induction_is_the_recursion_over_histories(observe, alpha, lam):
    right = by_hand(observe, 7, alpha, lam)
    assert best_adaptive(observe, 7, alpha, lam) == pytest.approx(right, rel=1e-13)


def test_golden_values_of_adaptive_and_offline_play():
    assert best_adaptive((0.3, 0.7), 12, 0.5, 1.0) == pytest.approx(9.3600321546, rel=1e-10)
    assert best_adaptive((0.3, 0.7), 12, 1.0, 1.0) == pytest.approx(7.71858389355, rel=1e-10)
    rows = [expected_costs(p, 12, [0.5, 1.0], 1.0) for p in (0.3, 0.7)]
    assert best_offline([r[0] for r in rows], 12) == pytest.approx(9.2376696085752, rel=1e-12)
    assert best_offline([r[1] for r in rows], 12) == pytest.approx(7.5564437286905, rel=1e-12)


def test_weights_multiply_costs():
    assert best_adaptive((1.0, 1.0), 4, 0.5, 1.0, (1000.0, 1000.0)) == pytest.approx(
        3414.2, rel=1e-4
    )


def test_expected_costs_are_binomial_moments():
    costs = expected_costs(0.3, 20, [0.5, 2.0], 0.7)
    counts = np.arange(20)
    for row, alpha in zip(costs, (0.5, 2.0), strict=True):
        law = stats.binom.pmf(counts, 13, 0.3)
        assert row[13] == pytest.approx((law * (counts + 0.7) ** -alpha).sum(), rel=1e-12)


def test_the_best_of_three_arms_is_the_best_of_all_allocations():
    rows = [np.sort(np.random.default_rng(k).random(9))[::-1] for k in range(3)]
    best = max(
        sum(row[:m].sum() for row, m in zip(rows, split, strict=True))
        for split in itertools.product(range(9), repeat=3)
        if sum(split) == 8
    )
    assert best_offline(rows, 8) == pytest.approx(best, rel=1e-14)


def test_golden_gains_of_looks_in_fractions():
    none = exact_with_looks((HALF, HALF), 4, 1)
    gains = [exact_with_looks((HALF, HALF), 4, 1, [t]) - none for t in range(5)]
    assert none == Fraction(7, 2)
    assert gains == [0, Fraction(1, 24), Fraction(1, 8), Fraction(1, 16), 0]
    assert exact_with_looks((HALF, HALF), 4, 1, [1, 3]) - none == Fraction(1, 8)
    none = exact_with_looks(THREE, 5, 1)
    gains = [exact_with_looks(THREE, 5, 1, [t]) - none for t in range(1, 5)]
    assert none == Fraction(223, 48)
    assert gains == [Fraction(11, 96), Fraction(157, 960), Fraction(109, 600), Fraction(17, 120)]


@pytest.mark.parametrize(
    ("horizon", "looks", "value"),
    [
        (10, (), 7.316083054315),
        (10, (7,), 7.521536509196),
        (10, (5, 8), 7.575080617269),
        (10, (4, 6, 8), 7.592918141683),
        (160, (64,), 23.215060753151),
        (160, (128,), 23.226055562344),
        (160, (64, 128), 23.226431953646),
    ],
)
def test_golden_values_of_looks(horizon, looks, value):
    found = best_with_looks((0.5, 0.25), horizon, 1.0, 1.0, looks)
    assert found == pytest.approx(value, rel=1e-12)


def test_looking_all_the_time_is_full_adaptivity():
    found = best_with_looks((0.5, 0.25), 10, 1.0, 1.0, range(1, 10))
    assert found == pytest.approx(best_adaptive((0.5, 0.25), 10, 1.0, 1.0), rel=1e-13)


def test_playing_the_least_observed_arm_is_best():
    found = play_greedily((0.3, 0.7), [12], [0.5], 1.0, 200_000, 1)[0, 0]
    error = found.std() / len(found) ** 0.5
    assert abs(found.mean() - 9.3600321546) < 5 * error
