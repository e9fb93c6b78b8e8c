"""The interval of the effective dimension is as sure as it says, where rows are few."""

import math

import numpy as np
import pytest

from halfseen.logs import dimension as effective
from halfseen.logs.dimension import estimate_dimension
from halfseen.theory.events import clopper_pearson

GRID = {
    "all rare": lambda d: np.full(d, 0.05),
    "all some": lambda d: np.full(d, 0.2),
    "all half": lambda d: np.full(d, 0.5),
    "all often": lambda d: np.full(d, 0.9),
    "one rare": lambda d: np.r_[0.05, np.full(d - 1, 0.9)],
    "spread": lambda d: np.linspace(0.1, 0.95, d),
}


def coverage(observe, rows, repeats, seed):
    rng = np.random.default_rng(seed)
    truth = (1 / observe).sum()
    known = {}
    held = 0
    for seen in rng.binomial(rows, observe, (repeats, len(observe))):
        key = tuple(sorted(seen))
        if key not in known:
            known[key] = estimate_dimension(seen, np.full(len(seen), rows), seed=len(known))
        held += known[key].low - 1e-9 <= truth <= known[key].high + 1e-9
    return held / repeats


def test_one_arm_has_the_exact_interval():
    found = estimate_dimension(np.array([7]), np.array([20]))
    low, high = clopper_pearson(7, 20)
    assert found.value == pytest.approx(20 / 7)
    assert (found.low, found.high) == pytest.approx((1 / high, 1 / low), rel=1e-12)


def test_ends():
    never = estimate_dimension(np.array([5, 0]), np.array([10, 4]))
    assert math.isinf(never.value)
    assert math.isinf(never.high)
    assert 2 < never.low < 20
    every = estimate_dimension(np.array([10, 4]), np.array([10, 4]))
    assert (every.value, every.low) == (2.0, 2.0)
    assert 2.0 < every.high < 6.0
    assert every.factor == 1.0


def test_the_normal_part_agrees_with_the_draws(monkeypatch):
    rng = np.random.default_rng(2)
    rows = np.full(400, 300)
    seen = rng.binomial(rows, 0.4)
    fast = estimate_dimension(seen, rows)
    monkeypatch.setattr(effective, "SMOOTH", ())
    monkeypatch.setattr(effective, "DRAWS", 4_000)
    slow = estimate_dimension(seen, rows)
    assert fast.low == pytest.approx(slow.low, rel=2e-3)
    assert fast.high == pytest.approx(slow.high, rel=2e-3)


@pytest.mark.parametrize(("a", "b"), [(1.0, 4.0), (3.0, 2.0)])
def test_the_sum_over_arms_with_the_same_counts_has_the_law_of_its_draws(a, b):
    from scipy.stats import ks_2samp

    rng = np.random.default_rng(4)
    each = (1.0 / rng.beta(a, b, (1000, 5000))).sum(axis=1)
    together = effective._sum_alike(a, b, 5000, 4000, rng)
    assert ks_2samp(each, together).pvalue > 1e-3


@pytest.mark.slow
def test_very_many_arms_are_drawn_by_their_counts_as_they_are_one_by_one(monkeypatch):
    rng = np.random.default_rng(5)
    rows = rng.poisson(6, 25_000) + 3.0
    seen = np.maximum(rng.binomial(rows.astype(int), 0.6), 3.0)
    fast = [effective._quantile(seen, rows - seen + 1.0, q, rng) for q in (0.025, 0.975)]
    monkeypatch.setattr(effective, "WORK", 5_000_000)
    monkeypatch.setattr(effective, "MANY", 10**9)
    monkeypatch.setattr(effective, "ALIKE", 10**9)
    slow = [effective._quantile(seen, rows - seen + 1.0, q, rng) for q in (0.025, 0.975)]
    assert fast == pytest.approx(slow, rel=3e-3)  # 200 draws: 0.1% each


def test_a_million_arms():
    rng = np.random.default_rng(2)
    rows = rng.poisson(60, 1_000_000) + 1
    found = estimate_dimension(rng.binomial(rows, 0.5), rows)
    assert found.low == pytest.approx(2e6, rel=0.02)


@pytest.mark.parametrize(
    ("arms", "rows", "kind"), [(2, 5, "one rare"), (5, 10, "all half"), (20, 10, "all some")]
)
def test_coverage_of_some(monkeypatch, arms, rows, kind):
    monkeypatch.setattr(effective, "DRAWS", 800)
    assert coverage(GRID[kind](arms), rows, 400, seed=arms) >= 0.93 - 0.02  # less three errors


@pytest.mark.slow
@pytest.mark.parametrize("arms", [1, 2, 5, 20, 60])
def test_coverage_on_the_grid(monkeypatch, arms):
    monkeypatch.setattr(effective, "DRAWS", 1500)
    for rows in (3, 10, 30, 100):
        for name, observe in GRID.items():
            share = coverage(observe(arms), rows, 1000, seed=rows)
            assert share >= 0.93 - 0.007, (arms, rows, name, share)
