"""General optimisers for path integrals and designs against golden values."""

import math

import numpy as np
import pytest

from halfseen.censorship import MultiThreshold
from halfseen.claims.linear.programs import (
    best_plan,
    best_rings,
    design_growth,
    potential_of,
    regions_of,
    ring_growth,
)


def model(degrees, observe, d=3):
    return MultiThreshold([math.radians(a) for a in degrees], observe, [0.0] * (d - 1) + [1.0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("degrees", "observe", "lam", "horizon", "value"),
    [
        ([70], [1.0, 0.5], 1.0, 1e3, 27.8959076007),
        ([70], [1.0, 0.5], 1.0, 1e6, 69.2296399861),
        ([40, 75], [0.55, 0.5, 0.45], 1.0, 1e3, 32.1906016358),
        ([40, 75], [1.0, 0.5, 0.45], 2.0, 1e3, 27.4477859719),
        ([30, 70], [1.0, 0.3, 0.6], 1.0, 1e3, 46.151205168413),
        ([-50, -15, 15, 50], [1.0, 0.4, 0.25, 0.4, 1.0], 1.0, 1e3, 51.536996761939),
    ],
)
def test_golden_largest_path_integrals(degrees, observe, lam, horizon, value):
    rng = np.random.default_rng(1)
    found = best_rings(model(degrees, observe), lam, horizon, 3, rng)
    assert found == pytest.approx(value, rel=1e-5)
    assert found <= value * (1 + 1e-9)


@pytest.mark.parametrize(
    ("degrees", "observe", "d", "growth"),
    [
        ([70], [1.0, 0.5], 3, 4.30540728933),
        ([60], [1.0, 0.75], 3, 3.5),
        ([40, 75], [0.55, 0.5, 0.45], 3, 5.96744112301),
        ([-50, -15, 15, 50], [1.0, 0.4, 0.25, 0.4, 1.0], 3, 10.5963251613386),
        ([-65, -20, 35, 50, 80], [0.2, 0.7, 0.9, 0.5, 0.8, 0.3], 4, 15.2499710942323),
    ],
)
def test_golden_growth_of_designs_on_circles(degrees, observe, d, growth):
    points = [
        (p, q) for p, low, high in regions_of(model(degrees, observe, d)) for q in (low, high)
    ]
    points += [
        (p, 1 / d) for p, low, high in regions_of(model(degrees, observe, d)) if low < 1 / d < high
    ]
    p, q = zip(*points, strict=True)
    assert ring_growth(p, q, d) == pytest.approx(growth, rel=1e-9)


@pytest.mark.parametrize(
    ("actions", "observe", "growth"),
    [
        ([[0.5, 0], [0, 1]], [1.0, 1.0], 2.0),
        ([[1, 0], [0, 0.6], [0.7, 0.7]], [0.5, 0.2, 0.9], 7.0),
        (
            [[0.5, 0, 0], [0, 1, 0], [0, 0, 0.8], [0.4, 0.4, 0.4]],
            [0.9, 0.5, 0.7, 0.1],
            13.428571428571,
        ),
    ],
)
def test_golden_growth_of_designs_on_finite_sets(actions, observe, growth):
    found = design_growth(np.array(actions, dtype=float), np.array(observe))
    assert found == pytest.approx(growth, rel=1e-7)


def test_regions_of_the_sphere():
    found = regions_of(model([-30, 0, 60], [0.9, 0.8, 0.5, 0.1]))
    assert [one[0] for one in found] == [0.9, 0.8, 0.5, 0.1]
    right = [(0.25, 1.0), (0.0, 0.25), (0.0, 0.75), (0.75, 1.0)]
    assert [one[1:] for one in found] == [pytest.approx(pair) for pair in right]


def test_a_plan_on_rings_is_a_plan_on_actions():
    turn = np.arange(3) * 2 * math.pi / 3
    low, high = math.sin(0.3), math.sin(1.2)
    rings = [
        np.stack(
            [math.sqrt(1 - s * s) * np.cos(turn), math.sqrt(1 - s * s) * np.sin(turn), [s] * 3], 1
        )
        for s in (low, high)
    ]
    value = potential_of([(0.5, low**2, 60.0)], 3, 1.0)
    design = np.eye(3) + 0.5 * 20.0 * rings[0].T @ rings[0]
    assert value == pytest.approx(np.linalg.slogdet(design)[1] / 0.5, rel=1e-12)


def test_the_best_plan_on_coordinates_fills_water():
    rng = np.random.default_rng(2)
    found = best_plan(np.eye(2), np.array([0.9, 0.3]), 1.0, 100.0, 2, rng)
    shares = np.linspace(0.001, 0.999, 9999)
    best = np.max(np.log1p(90 * shares) / 0.9 + np.log1p(30 * (1 - shares)) / 0.3)
    assert found == pytest.approx(best, rel=1e-6)
