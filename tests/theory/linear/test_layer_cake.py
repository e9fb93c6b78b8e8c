"""The layer-cake bound against paths in any order and the worst case of finite sets."""

import numpy as np
import pytest

from halfseen.theory import layered_potential, worst_case_dimension, worst_case_potential


def potential(pieces, lam):
    """Return J of actions played one after the other, by its exact log-determinants."""
    design, total = lam * np.eye(len(pieces[0][0])), 0.0
    for action, p, time in pieces:
        after = design + p * time * np.outer(action, action)
        total += (np.linalg.slogdet(after)[1] - np.linalg.slogdet(design)[1]) / p
        design = after
    return total


def test_no_order_beats_the_layers_and_sorting_reaches_them():
    rng = np.random.default_rng(1)
    for _ in range(100):
        n, d = int(rng.integers(1, 8)), int(rng.integers(1, 5))
        rows = rng.normal(size=(n, d))
        p, times = rng.choice([0.1, 0.2, 0.5, 0.9], n), rng.exponential(20.0, n)
        lam = float(rng.uniform(0.2, 3.0))
        bound = layered_potential(rows, p, times, regularization=lam)
        pieces = list(zip(rows, p, times, strict=True))
        for _ in range(5):
            shuffled = [pieces[k] for k in rng.permutation(n)]
            assert potential(shuffled, lam) <= bound * (1 + 1e-10)
        halves = [(a, q, t / 2) for a, q, t in pieces]
        assert potential(halves + halves[::-1], lam) <= bound * (1 + 1e-10)
        ordered = sorted(pieces, key=lambda piece: piece[1])
        assert potential(ordered, lam) == pytest.approx(bound, rel=1e-9)


def test_layers_are_concave_in_the_times():
    rng = np.random.default_rng(2)
    rows, p = rng.normal(size=(6, 3)), rng.uniform(0.1, 1.0, 6)
    for _ in range(50):
        one, other = rng.exponential(30.0, (2, 6))
        middle = layered_potential(rows, p, (one + other) / 2)
        ends = layered_potential(rows, p, one) + layered_potential(rows, p, other)
        assert middle >= ends / 2 - 1e-9


def test_the_plan_of_the_worst_case_has_its_layers():
    rng = np.random.default_rng(3)
    rows, p = 0.2 * rng.normal(size=(7, 3)), rng.uniform(0.1, 1.0, 7)
    worst = worst_case_potential(p, horizon=500.0, actions=rows)
    times = np.zeros(7)
    times[list(worst.durations)] = list(worst.durations.values())
    assert layered_potential(rows, p, times) == pytest.approx(worst.value, rel=1e-9)


def test_growth_of_any_probabilities_is_the_heaviest_basis():
    """sum of 1/p over the best basis, also where the rarest actions do not span."""
    rows = np.array([[1, 0, 0], [0.3, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [0, 0, 1.0]])
    p = np.array([0.5, 0.05, 0.3, 0.1, 1.0])
    assert worst_case_dimension(p, actions=rows) == pytest.approx(20 + 10 + 1)
    values = [worst_case_potential(p, horizon=t, actions=rows).value for t in (1e9, 1e12)]
    assert (values[1] - values[0]) / np.log(1e3) == pytest.approx(31.0, rel=1e-3)
