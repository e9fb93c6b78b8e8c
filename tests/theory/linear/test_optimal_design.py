"""D-optimal designs against closed forms, each other and their own certificate."""

import itertools
import math

import numpy as np
import pytest

from halfseen.censorship import Logistic, MultiThreshold, PerAction, Uniform
from halfseen.errors import InvalidInput
from halfseen.theory.linear import optimal_design
from halfseen.theory.linear.optimal_design import optimal_design_dimension
from halfseen.theory.linear.potential_limits import potential_bounds
from theory.random_thresholds import random_models, rings


def certificate(actions, observe, weights):
    """Return the largest a'M^-1 a / (p d), less 1, by explicit inversion."""
    scaled = np.asarray(actions) / np.sqrt(observe)[:, None]
    inverse = np.linalg.inv(scaled.T @ (scaled * weights[:, None]))
    return np.einsum("ni,ij,nj->n", scaled, inverse, scaled).max() / scaled.shape[1] - 1


def on_sphere(rng, n, d):
    actions = rng.normal(size=(n, d))
    return actions / np.linalg.norm(actions, axis=1)[:, None]


def test_a_basis_is_the_arms():
    observe = np.array([0.9, 0.1, 0.5, 0.3, 0.05])
    found = optimal_design_dimension(observe, actions=np.eye(5))
    assert found.dimension == pytest.approx(36.444444444444, rel=1e-12)
    assert found.weights == pytest.approx(np.full(5, 0.2), rel=1e-10)


@pytest.mark.parametrize(("n", "d"), [(4, 3), (40, 4), (300, 5), (3000, 8)])
def test_certified(n, d):
    rng = np.random.default_rng(n)
    actions, observe = on_sphere(rng, n, d), rng.uniform(0.05, 1.0, n)
    found = optimal_design_dimension(observe, actions=actions)
    assert found.weights.sum() == pytest.approx(1.0, rel=1e-12)
    assert found.weights.min() >= 0.0
    assert certificate(actions, observe, found.weights) < 1e-10
    assert found.gap < 1e-10
    trace = found.weights @ (1.0 / observe)
    assert found.dimension == pytest.approx(d * trace, rel=1e-12)


SHORT = [
    ([[0.5, 0], [0, 1]], [1, 1], 2.0),
    ([[1, 0], [0, 0.6], [0.7, 0.7]], [0.5, 0.2, 0.9], 7.0),
    (
        [[0.5, 0, 0], [0, 1, 0], [0, 0, 0.8], [0.4, 0.4, 0.4]],
        [0.9, 0.5, 0.7, 0.1],
        13.428571428571,
    ),
]


@pytest.mark.parametrize(("actions", "observe", "growth"), SHORT)
def test_growth_with_actions_shorter_than_one(actions, observe, growth):
    found = optimal_design_dimension(observe, actions=actions)
    assert found.dimension == pytest.approx(growth, rel=1e-12)
    bounds = potential_bounds(observe, horizon=1000, actions=actions)
    assert bounds.information_dimension == pytest.approx(growth, rel=1e-12)


@pytest.mark.parametrize(("actions", "observe", "growth"), SHORT)
def test_growth_is_the_slope_of_a_simulated_path(actions, observe, growth):
    """Play the largest a'W^-1 a / p for a short time each, and measure J against log T."""
    rows, p = np.array(actions, dtype=float), np.array(observe, dtype=float)
    design, time, potential, marks = np.eye(rows.shape[1]), 0.0, 0.0, []
    information = 0.01
    for _ in range(3000):
        worth = np.einsum("ni,ij,nj->n", rows, np.linalg.inv(design), rows)
        k = int(np.argmax(worth / p))
        information *= 1.004
        potential += np.log1p(information * worth[k]) / p[k]
        design += information * np.outer(rows[k], rows[k])
        time += information / p[k]
        marks.append((np.log(time), potential))
    (t0, j0), (t1, j1) = marks[1500], marks[-1]
    assert (j1 - j0) / (t1 - t0) == pytest.approx(growth, rel=0.01)


def test_three_points_in_the_plane_by_hand():
    """Weights of (1, 0), (0, 1) and a third of length s at 45 degrees, from stationarity."""
    s2 = 3.0
    found = optimal_design_dimension(
        [1.0, 1.0, 1.0], actions=[[1, 0], [0, 1], [math.sqrt(s2 / 2), math.sqrt(s2 / 2)]]
    )
    grid = np.linspace(0.0, 1.0, 2_000_001)  # weight of the third, the others alike
    a, b = (1 - grid) / 2 + grid * s2 / 2, grid * s2 / 2
    best = grid[np.argmax(a * a - b * b)]
    assert found.weights[2] == pytest.approx(best, abs=1e-6)


def test_weights_that_are_not_unique_have_one_dimension():
    corners = np.array(list(itertools.product([-1.0, 0.0, 1.0], repeat=4)))
    found = optimal_design_dimension(Uniform(0.5), actions=corners)
    assert found.dimension == pytest.approx(4 / 0.5, rel=1e-12)
    repeated = optimal_design_dimension(np.full(15, 0.5), actions=np.repeat(np.eye(3), 5, axis=0))
    assert repeated.dimension == pytest.approx(6.0, rel=1e-12)


def corners(censorship):
    """Return the ends of each region from inside, and the equator."""
    ends = [(angle + 1e-12, angle - 1e-12) for angle in censorship.threshold_radians]
    return [-math.pi / 2, 0.0, math.pi / 2, *itertools.chain(*ends)]


def test_ball_and_finite_set_agree():
    models = [m for m in random_models(120, seed=3) if 2 <= len(m.direction) <= 6]
    assert len(models) > 30
    for m in models:
        ball = optimal_design_dimension(m)
        finite = optimal_design_dimension(m, actions=rings(corners(m), len(m.direction)))
        assert ball.dimension == pytest.approx(finite.dimension, rel=1e-8)


def test_at_a_threshold_the_accuracy_is_kept():
    turns = 2 * np.pi * np.arange(6) / 6
    ring = np.column_stack([np.cos(turns), np.sin(turns), np.zeros(6)])
    upper = 0.5 * ring + np.array([0.0, 0.0, math.sqrt(0.75)])
    found = optimal_design_dimension([1.0] * 6 + [0.375] * 6, actions=np.concatenate([ring, upper]))
    assert found.dimension == pytest.approx(8.0, rel=1e-10)


def test_probabilities_of_any_size():
    rng = np.random.default_rng(2)
    actions, observe = rng.normal(size=(300, 4)), 10.0 ** -rng.uniform(0, 100, 300)
    assert optimal_design_dimension(observe, actions=actions).gap < 1e-12


def test_censorships():
    rng = np.random.default_rng(5)
    actions = on_sphere(rng, 30, 3)
    smooth = Logistic([0, 0, 1], slope=-1.0)
    plain = optimal_design_dimension(smooth.probabilities(actions), actions=actions)
    assert optimal_design_dimension(smooth, actions=actions).dimension == plain.dimension
    each = PerAction(smooth.probabilities(actions))
    assert optimal_design_dimension(each, actions=actions).dimension == plain.dimension
    assert optimal_design_dimension(Uniform(0.5), 3).dimension == pytest.approx(6.0, rel=1e-14)
    weights = optimal_design_dimension(MultiThreshold([0.5], [1, 0.5], [1.0])).weights
    assert weights.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("censorship", "actions", "words"),
    [
        ([0.5, 0.5], [[1, 1], [2, 2]], "must span all 2 coordinates"),
        ([0.5], [[1, 0], [0, 1]], "must have 2 entries"),
        ([0.5, 0.0], [[1, 0], [0, 1]], "above 0"),
        (Uniform(0.5), None, "has no direction"),
        ("half", None, "must be a model along a direction"),
    ],
)
def test_what_is_refused(censorship, actions, words):
    with pytest.raises(InvalidInput, match=words):
        optimal_design_dimension(censorship, actions=actions)


def test_a_design_that_is_not_optimal_is_not_given_out(monkeypatch):
    monkeypatch.setattr(optimal_design, "MOST_NEWTON_STEPS", 3)
    rng = np.random.default_rng(5)
    with pytest.raises(InvalidInput, match="floating point precision"):
        optimal_design_dimension(rng.uniform(0.1, 1, 30), actions=on_sphere(rng, 30, 3))
