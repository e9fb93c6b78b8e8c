"""A path followed step by step: where it is known, and that small steps find it."""

import math

import numpy as np
import pytest

from halfseen.censorship import MultiThreshold
from halfseen.claims.greedy_path import follow, spots
from halfseen.claims.linear.programs import potential_of

UP = [0, 0, 1]


def test_spots_are_all_over_the_sphere_with_their_probability():
    model = MultiThreshold([-0.4, 0.9], [0.9, 0.5, 0.2], UP)
    region, along, observe = spots(model)
    assert observe.tolist() == [model.observe[j] for j in region]
    assert (along.min(), along.max()) == (0.0, 1.0)  # the equator is in the middle region
    for number, angle in enumerate(model.threshold_radians):
        at = np.isclose(along, math.sin(angle) ** 2, rtol=1e-12)
        assert set(region[at]) == {number, number + 1}


def test_one_region_is_explored_evenly():
    seen = follow(MultiThreshold([], [0.4], UP), 2.0, 300.0, step=1e-3)
    assert seen.potential == pytest.approx(3 / 0.4 * math.log1p(0.4 * 300 / 6), rel=1e-4)
    assert (seen.x, seen.y) == pytest.approx((42.0, 42.0), rel=1e-2)
    assert seen.first == {0: (0.0, 2.0, 2.0)}


def test_the_switch_of_a_model_in_fractions():
    model = MultiThreshold([math.pi / 3], [1.0, 0.75], UP)
    errors = []
    for step in (1e-2, 1e-3, 1e-4):
        time, x, y = follow(model, 1.0, 3.0, step).first[0]
        errors.append(abs(time - 32 / 27) + abs(x - 10 / 9) + abs(y - 5 / 3))
    assert errors[2] < 1e-3 < errors[0]


def test_gaining_per_round_is_another_path():
    model = MultiThreshold([math.radians(70)], [1.0, 0.5], UP)
    slow, fast = (follow(model, 1.0, 1000.0, 1e-2, per_round=way) for way in (False, True))
    assert slow.potential == pytest.approx(23.2675403892, rel=1e-3)
    assert fast.potential < 0.8 * slow.potential


def test_the_potential_of_a_plan_is_its_integral():
    plan, lam, steps = [(0.5, 0.8, 7.0), (0.9, 0.1, 4.0)], 0.7, 20_000
    x = y = lam
    total = 0.0
    for p, q, duration in plan:
        dt = duration / steps
        for _ in range(steps):
            x, y = x + 0.5 * p * (1 - q) / 3 * dt, y + 0.5 * p * q * dt
            total += ((1 - q) / x + q / y) * dt
            x, y = x + 0.5 * p * (1 - q) / 3 * dt, y + 0.5 * p * q * dt
    assert potential_of(plan, 4, lam) == pytest.approx(total, rel=1e-7)
