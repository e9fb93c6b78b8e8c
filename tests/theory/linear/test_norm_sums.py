"""Sums of norms and traces: golden values, tightness, and a search for violations."""

import math

import numpy as np
import pytest
from scipy import optimize

from halfseen import InvalidInput
from halfseen.theory import (
    sphere_norm_sum,
    tight_norm_sum,
    trace_potential,
    trace_potential_factor,
)


@pytest.mark.parametrize(
    ("alpha", "values", "limit"),
    [
        (2.0, (0.90987697, 0.84769607, 0.82172331), 0.80471896),
        (3.0, (0.60900853, 0.57262037, 0.55962094), 2 - 2 / math.sqrt(5)),
    ],
)
def test_norms_on_the_sphere_sum_to_the_root_of_the_horizon_golden(alpha, values, limit):
    for horizon, value in zip((10**3, 10**4, 10**5), values, strict=True):
        found = sphere_norm_sum(horizon, alpha)
        assert found.value / math.sqrt(horizon) == pytest.approx(value, abs=1e-8)
    limit = limit if alpha == 2.0 else limit / 2
    assert found.bound / math.sqrt(horizon) == pytest.approx(limit, abs=1e-8)


def test_sphere_norms_by_plain_matrices():
    horizon, total = 50, 0.0
    design = np.eye(2)
    for turn in range(horizon):
        action = np.array([math.sqrt(1 - 4 / 50), (-1) ** turn * math.sqrt(4 / 50)])
        inverse = np.linalg.inv(design)
        total += math.sqrt(action @ inverse @ inverse @ action)
        design += np.outer(action, action)
    assert sphere_norm_sum(horizon, 2.0).value == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 3.0])
def test_cauchy_schwarz_is_tight_in_the_ball(alpha):
    d, horizon, lam = 3, 3000, 0.7
    found = tight_norm_sum(d, horizon, alpha, regularization=lam)
    rate = (found.value / horizon) ** 2
    eigenvalues, total = np.full(d, lam), 0.0
    for turn in range(horizon):
        axis = turn % d
        square = rate * eigenvalues[axis] ** alpha
        assert square <= 1.0  # the action is in the unit ball
        total += math.sqrt(square * eigenvalues[axis] ** -alpha)
        eigenvalues[axis] += square
    assert found.value == pytest.approx(total, rel=1e-12)
    ratios = [
        1 - sum_.value / sum_.bound
        for sum_ in (found, tight_norm_sum(d, 10**9, alpha, regularization=lam))
    ]
    assert ratios[0] < 0.15
    assert ratios[1] < 3 * (10**9) ** (-(alpha - 1) / alpha)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0, 1.5, 2.0, 4.0])
def test_trace_bound_holds_for_increments_of_any_rank(alpha):
    rng = np.random.default_rng(int(10 * alpha))
    closest = 0.0
    for _ in range(60):
        d, steps = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        lam, largest = rng.uniform(0.05, 3.0), rng.uniform(0.05, 3.0)
        roots = rng.normal(size=(steps, d, int(rng.integers(1, d + 1))))
        increments = roots @ roots.transpose(0, 2, 1)
        increments *= largest / np.linalg.eigvalsh(increments).max(axis=1)[:, None, None]
        found = trace_potential(increments, alpha, lam)
        assert found.value <= found.bound * (1 + 1e-10)
        closest = max(closest, found.value / found.bound)
    assert closest > 0.3


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_no_optimiser_breaks_the_trace_bound(alpha):
    """Climb from random starts to the increments that come closest to the factor."""

    def lost(entries):
        root = entries[:4].reshape(2, 2)
        step = root @ root.T
        step = step / max(np.linalg.eigvalsh(step)[-1], 1e-9)
        first = np.diag(np.square(entries[4:]))
        first = first / max(first.max(), 1.0)
        found = trace_potential([first, step], alpha, 1.0)
        return -found.value / found.bound

    rng = np.random.default_rng(2)
    best = max(
        -optimize.minimize(
            lost, rng.normal(size=6), method="Nelder-Mead", options={"maxiter": 200}
        ).fun
        for _ in range(4)
    )
    assert 0.6 < best <= 1 + 1e-9


def test_factor_is_sharp_at_one_and_below_the_printed_one():
    for step in (1e-6, 0.1, 1.0, 10.0):
        scalar = trace_potential([[[step]]], 1.0, 1.0)
        assert scalar.value == pytest.approx(scalar.bound, rel=1e-9)
        for alpha in (0.2, 0.9, 1.0, 1.1, 2.0, 7.0):
            factor = trace_potential_factor(alpha, 1.0, largest=step)
            assert 1.0 <= factor <= (1 + step) ** alpha * (1 + 1e-12)
    assert trace_potential_factor(2.0, 1.0) == pytest.approx(2 / (1 - math.exp(-2)))


def test_what_traces_refuse():
    with pytest.raises(InvalidInput, match="increments"):
        trace_potential(np.eye(2), 1.0, 1.0)
    with pytest.raises(InvalidInput, match="semidefinite"):
        trace_potential([-np.eye(2)], 1.0, 1.0)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0, 2.0])
def test_the_factor_is_one_where_increments_vanish_beside_the_start(alpha):
    assert trace_potential_factor(alpha, 1e300, largest=1e-300) == 1.0
    assert trace_potential_factor(alpha, 1.0, largest=5e-324) == 1.0


def test_the_factor_is_finite_or_refused_where_increments_dwarf_the_start():
    assert trace_potential_factor(0.5, 1e-300, largest=1e300) == pytest.approx(1e300, rel=1e-9)
    assert trace_potential_factor(1e-3, 1e-300, largest=1e300) == pytest.approx(10**0.6, rel=1e-12)
    for alpha in (0.9, 1.0, 2.0):
        with pytest.raises(InvalidInput, match=r"regularization.*1\.8e308"):
            trace_potential_factor(alpha, 1e-300, largest=1e300)


@pytest.mark.parametrize("size", [1e-12, 1e-7, 1e-3, 1.0])
@pytest.mark.parametrize(("alpha", "lam"), [(3.12, 0.33), (0.5, 2.0), (1.0, 0.1), (1.0, 7.0)])
def test_the_bound_of_tiny_increments_does_not_round_below_their_sum(size, alpha, lam):
    rng = np.random.default_rng(3)
    for count in (1, 2, 12):
        for d in (1, 2, 4):
            roots = rng.normal(size=(count, d, d)) * np.sqrt(size)
            found = trace_potential(roots @ roots.transpose(0, 2, 1), alpha, lam)
            assert found.value <= found.bound
            if size <= 1e-7:  # there the bound is nearly reached
                assert found.value == pytest.approx(found.bound, rel=1e-3)
