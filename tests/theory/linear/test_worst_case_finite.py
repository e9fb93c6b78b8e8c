"""The worst case over finite sets: arms, other solvers, bases by enumeration."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize

from halfseen import FiniteActions, InvalidInput, Logistic, MultiThreshold, PerAction, Uniform
from halfseen.theory import worst_case_dimension, worst_case_potential
from halfseen.theory.linear.worst_case_finite import ceilings, heaviest_basis

RNG = np.random.default_rng(7)


def unit(count, d, rng=RNG):
    rows = rng.normal(size=(count, d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def potential_of(rows, observe, durations, lam):
    """Return the potential of a plan played most censored first, level by level."""
    design, total = lam * np.eye(rows.shape[1]), 0.0
    for p in np.unique(observe):
        level = observe == p
        ahead = design + p * (rows[level].T * durations[level]) @ rows[level]
        total += (np.linalg.slogdet(ahead)[1] - np.linalg.slogdet(design)[1]) / p
        design = ahead
    return total


@pytest.mark.parametrize("horizon", [1e-3, 1.0, 100.0, 1e6])
def test_arms_fill_up_like_water(horizon):
    """Orthonormal actions are arms: J* = sum_a log(1 + p_a tau_a)/p_a = D log(1 + T/D)."""
    observe = np.array([0.9, 0.1, 0.5, 0.3])
    worst = worst_case_potential(observe, horizon=horizon, actions=np.eye(4))
    dimension = math.fsum(1 / observe)
    assert worst.value == pytest.approx(dimension * math.log1p(horizon / dimension), rel=1e-9)
    for arm, duration in worst.durations.items():
        assert duration == pytest.approx(horizon / (observe[arm] * dimension), rel=1e-4)
    assert list(worst.durations) == [1, 3, 2, 0]
    assert worst_case_dimension(PerAction(observe), actions=np.eye(4)) == dimension


@pytest.mark.parametrize("seed", range(8))
def test_a_general_solver_agrees(seed):
    rng = np.random.default_rng(seed)
    count, d = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    rows = unit(count, d, rng) * rng.uniform(0.2, 1, (count, 1))
    observe = rng.choice(rng.uniform(0.05, 1, 4), count)
    lam, horizon = float(10 ** rng.uniform(-1, 1)), float(10 ** rng.uniform(0, 4))
    worst = worst_case_potential(observe, None, regularization=lam, horizon=horizon, actions=rows)
    assert worst.gap <= 1e-9 * worst.value

    def value(z):
        return -potential_of(rows, observe, z / z.sum() * horizon, lam) / worst.value

    found = optimize.minimize(
        value,
        np.full(count, 1 / count),
        method="SLSQP",
        bounds=[(1e-9, 1)] * count,
        options={"maxiter": 300, "ftol": 1e-12},
    )
    assert -found.fun <= 1 + 1e-9
    assert -found.fun == pytest.approx(1.0, rel=1e-3)
    durations = np.zeros(count)
    durations[list(worst.durations)] = list(worst.durations.values())
    assert potential_of(rows, observe, durations, lam) == pytest.approx(worst.value, rel=1e-9)


@pytest.mark.parametrize(("count", "d", "levels"), [(120, 6, 4), (90, 5, 90), (60, 1, 5)])
def test_many_actions_are_brought_in_a_few_at_a_time(count, d, levels):
    rng = np.random.default_rng(count)
    rows = unit(count, d, rng)
    observe = rng.choice(rng.uniform(0.05, 1, levels), count)
    for horizon in (5.0, 1e5):
        worst = worst_case_potential(observe, horizon=horizon, actions=rows)
        assert 0 <= worst.gap <= 1e-6 * worst.value
        for _ in range(20):
            other = rng.dirichlet(np.full(count, 0.1)) * horizon
            assert potential_of(rows, observe, other, 1.0) <= worst.upper


def test_a_finite_set_is_no_worse_than_the_ball():
    rows = unit(30, 3)
    model = MultiThreshold([0.8, 1.2], [1.0, 0.5, 0.1], [0, 0, 1])
    rows[0] = [0.0, math.sin(0.2), math.cos(0.2)]
    ball = worst_case_potential(model, horizon=1e4)
    finite = worst_case_potential(model, horizon=1e4, actions=FiniteActions(rows))
    assert finite.upper < ball.lower
    smooth = Logistic([0, 0, 1], slope=-2.0)
    exact = worst_case_potential(smooth, horizon=1e4, actions=rows)
    assert exact.gap < 1e-9 * exact.value
    assert exact.upper < worst_case_potential(smooth, horizon=1e4).upper


@pytest.mark.parametrize("seed", range(10))
def test_the_heaviest_basis_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    count, d = 8, int(rng.integers(1, 5))
    rows = rng.integers(-1, 2, size=(count, d)) / (2.0 * d)
    observe = rng.choice([0.1, 0.2, 0.5, 1.0], count)
    rank = np.linalg.matrix_rank(rows)
    best = max(
        (
            sum(1 / observe[list(chosen)])
            for chosen in itertools.combinations(range(count), rank)
            if np.linalg.matrix_rank(rows[list(chosen)]) == rank
        ),
        default=0.0,
    )
    assert worst_case_dimension(observe, actions=rows) == pytest.approx(best, rel=1e-12)
    assert len(heaviest_basis(rows, observe)) == rank


def test_the_rank_counts_and_so_do_short_actions():
    flat = [[0.5, 0.5, 0.0], [0.5, -0.5, 0.0], [1.0, 0.0, 0.0]]
    assert worst_case_dimension(Uniform(0.5), actions=flat) == 4.0
    third = math.sqrt(1 / 3)
    rounded = [[third, third, third], [0.1 * third, 0.1 * third, 0.1 * third + 1e-18], [1, 0, 0]]
    assert worst_case_dimension(Uniform(0.5), actions=rounded) == 4.0
    tiny = [[1.0, 0.0], [1e-7, 1e-9]]
    assert worst_case_dimension([1.0, 0.5], actions=tiny) == 3.0
    assert worst_case_dimension(Uniform(0.5), actions=[[0.0, 0.0]]) == 0.0


def test_growth_tends_to_the_dimension_with_levels_that_do_not_span():
    rows = np.array([[1.0, 0, 0], [0.6, 0.8, 0], [0, 0.6, 0.8], [0, 0, 1.0]])
    observe = np.array([0.05, 0.05, 0.4, 1.0])
    values = [
        worst_case_potential(observe, horizon=time, actions=rows).value for time in (1e9, 1e12)
    ]
    slope = (values[1] - values[0]) / math.log(1e3)
    assert worst_case_dimension(observe, actions=rows) == pytest.approx(42.5)
    assert slope == pytest.approx(42.5, rel=1e-6)


def test_nothing_to_explore():
    worst = worst_case_potential([0.5], horizon=10, actions=[[0.0, 0.0]])
    assert worst.value == worst.upper == 0.0
    worst = worst_case_potential([0.5], horizon=0, actions=[[1.0, 0.0]])
    assert worst.value == worst.upper == 0.0


def test_ceilings_are_above_and_near():
    rows, observe = unit(20, 4), RNG.uniform(0.05, 1, 20)
    times = np.array([*np.geomspace(1, 1e5, 40), 7.0, 7.0, 0.0])
    found = ceilings(rows, observe, 0.5, times)
    exact = np.array(
        [
            worst_case_potential(observe, None, regularization=0.5, horizon=t, actions=rows).value
            for t in times
        ]
    )
    assert (found >= exact * (1 - 1e-12)).all()
    np.testing.assert_allclose(found, exact, rtol=0.03)


@pytest.mark.parametrize(
    ("observe", "actions", "field"),
    [
        ([0.5], np.eye(2), "observe"),
        (PerAction([0.5]), np.eye(2), "PerAction.observe"),
        ([0.5, 0.0], np.eye(2), "observe[1]"),
        ([0.5, 0.5], 2 * np.eye(2), "FiniteActions.actions[0]"),
        ([0.5, 0.5], [1.0, 2.0], "actions"),
    ],
)
def test_bad_values_are_named(observe, actions, field):
    with pytest.raises(InvalidInput) as caught:
        worst_case_potential(observe, horizon=10, actions=actions)
    assert caught.value.field == field
    with pytest.raises(InvalidInput):
        worst_case_dimension(observe, actions=actions)
