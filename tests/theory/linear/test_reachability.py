"""Thresholds between regions against the path itself and plain minimisation."""

import math

import numpy as np
import pytest
from scipy import optimize

from halfseen.errors import InvalidInput
from halfseen.theory.linear.optimal_design import optimal_design_dimension
from halfseen.theory.linear.reachability import (
    bi_region_dimension,
    dual_reachability_threshold,
    reachability_threshold,
    smallest_bi_region_dimension,
    two_region_dimension,
)
from theory.random_thresholds import rings

PAIRS = [(0.0, 0.9, 3), (0.75, 0.9, 3), (0.3, 0.6, 5), (0.05, 0.3, 8), (0.5, 0.99, 2)]


def place(low, high):
    return (1 - low) / (1 - high), low / high


@pytest.mark.parametrize(("low", "high", "d"), PAIRS)
def test_curve_is_that_of_the_optimal_design(low, high, d):
    u, l = place(low, high)  # noqa: E741
    actions = rings([math.asin(math.sqrt(q)) for q in (low, high)], d)
    ratios = np.linspace(1.001, 1.2 * reachability_threshold(u, l, d), 25)
    curve = bi_region_dimension(u, l, ratios, d)
    for ratio, value in zip(ratios, curve, strict=True):
        observe = np.repeat([0.8, 0.8 / ratio], len(actions) // 2)
        design = optimal_design_dimension(observe, actions=actions)
        assert value == pytest.approx(design.dimension * 0.8 / ratio, rel=1e-8)


@pytest.mark.parametrize(("low", "high", "d"), PAIRS)
def test_continuous_at_both_ends(low, high, d):
    u, l = place(low, high)  # noqa: E741
    for edge in (reachability_threshold(u, l, d), dual_reachability_threshold(u, l, d)):
        if edge > 1.0:
            around = bi_region_dimension(u, l, edge * np.array([1 - 1e-9, 1, 1 + 1e-9]), d)
            assert around == pytest.approx(around[1], rel=1e-7)


@pytest.mark.parametrize(("low", "high", "d"), [*PAIRS, (0.0, 0.2, 4)])
def test_smallest(low, high, d):
    u, l = place(low, high)  # noqa: E741
    found = smallest_bi_region_dimension(u, l, d)
    assert bi_region_dimension(u, l, found.ratio, d) == pytest.approx(found.dimension, rel=1e-12)
    top = max(reachability_threshold(u, l, d), 1.0)
    other = optimize.minimize_scalar(
        lambda r: bi_region_dimension(u, l, r, d), bounds=(1.0, top + 1e-9), method="bounded"
    )
    assert found.dimension <= other.fun + 1e-12
    assert found.dimension == pytest.approx(other.fun, rel=1e-5)


def test_smallest_may_lie_where_the_region_is_left_alone():
    u, l = place(0.75, 0.9)  # noqa: E741
    found = smallest_bi_region_dimension(u, l, 3)
    assert found == pytest.approx((1.5, 2.0), rel=1e-13)
    unreached = (math.sqrt(2 * (1 - l)) + math.sqrt(u - 1)) ** 2 / (u - l)
    assert unreached == pytest.approx(1.9485, abs=1e-4)


def test_numbers_and_arrays():
    assert isinstance(bi_region_dimension(4.0, 0.0, 1.5, 3), float)
    grid = bi_region_dimension(np.array([[2.0], [4.0]]), 0.1, [1.0, 1.5, 2.0], 3)
    assert grid.shape == (2, 3)
    assert grid[1, 2] == bi_region_dimension(4.0, 0.1, 2.0, 3)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((0.9, 0.5, 2.0, 3), "u and l"),
        ((2.0, 1.1, 2.0, 3), "u and l"),
        ((-0.1, 1.5, 2.0, 3), "u"),
        ((2.0, -0.5, 2.0, 3), "l"),
        ((2.0, 0.5, [2.0, 0.5], 3), "r"),
        ((2.0, 0.5, math.nan, 3), "r"),
        ((2.0, 0.5, 2.0, 0), "d"),
    ],
)
def test_what_is_refused(arguments, field):
    with pytest.raises(InvalidInput, match=f"`{field}`"):
        bi_region_dimension(*arguments)


def test_upper_ends_keep_the_form_of_the_thresholds():
    """A region nearer the pole than its base: u < 1 < l, the same dimension by optimal design."""
    rng = np.random.default_rng(5)
    met = set()
    for _ in range(200):
        d = int(rng.integers(2, 8))
        base, region = np.sort(rng.uniform(0.01, 0.99, 2))
        u, l = place(region, base)  # noqa: E741
        r = float(rng.uniform(1.0, 1.3 * max(reachability_threshold(u, l, d), 1.0)))
        points = np.array([[(1 - base) / (d - 1), base], [(1 - region) / (d - 1) / r, region / r]])
        share = optimize.minimize_scalar(
            lambda s, w, points: -(w @ np.log((1 - s) * points[0] + s * points[1])),
            args=(np.array([d - 1, 1]), points),
            bounds=(0.0, 1.0),
            method="bounded",
            options={"xatol": 1e-12},
        ).x
        growth = d * ((1 - share) + share / r)
        assert bi_region_dimension(u, l, r, d) == pytest.approx(growth, rel=1e-6)
        least = smallest_bi_region_dimension(u, l, d)
        assert least.dimension <= growth * (1 + 1e-6)
        assert bi_region_dimension(u, l, least.ratio, d) == pytest.approx(least.dimension)
        met.add((share < 1e-6, share > 1 - 1e-6))
    assert len(met) == 3


def test_limits_of_the_bi_region_formula():
    """At r* it is d / p_j, at r-dagger d / p_i; the ends are means of u and l."""
    for d, low, high, dagger, star, value_dagger, value_one in (
        (3, 0.75, 0.9, 1.5, 1.94444444, 2.0, 3.0),
        (4, 0.5, 0.8, 1.42857143, 2.03125, 2.8, 4.0),
        (5, 0.2, 0.6, 1.0, 1.66666667, 5.0, 5.0),
    ):
        u, l = place(low, high)  # noqa: E741
        found = dual_reachability_threshold(u, l, d), reachability_threshold(u, l, d)
        assert found == pytest.approx((dagger, star), abs=1e-8)
        assert found[1] - l == pytest.approx((d - 1) * (u - l) / d)
        assert u - found[1] == pytest.approx((u - l) / d)
        assert found[0] - l == pytest.approx((d - 1) * l * (u - l) / (u + (d - 1) * l))
        assert u - found[0] == pytest.approx(u * (u - l) / (u + (d - 1) * l))
        assert two_region_dimension(u, l, found[1], d) == pytest.approx(d)
        assert two_region_dimension(u, l, found[0], d) == pytest.approx(d / found[0])
        assert two_region_dimension(u, l, found[0], d) == pytest.approx(value_dagger)
        assert two_region_dimension(u, l, 1.0, d) == pytest.approx(value_one) == d
        ratios = np.linspace(found[0], found[1], 101)
        assert (np.diff(two_region_dimension(u, l, ratios, d), 2) > 0).all()


def test_order_of_the_thresholds():
    """l <= r-dagger < r* < u, with equality exactly on the equator; r-dagger and 1 by d q_i."""
    rng = np.random.default_rng(6)
    for _ in range(300):
        d = int(rng.integers(2, 12))
        low, high = np.sort(rng.uniform(0.0, 1.0, 2))
        low = 0.0 if rng.uniform() < 0.2 else low
        u, l = place(low, high)  # noqa: E741
        dagger, star = dual_reachability_threshold(u, l, d), reachability_threshold(u, l, d)
        assert l <= dagger < star < u
        assert (l == dagger) == (low == 0.0)
        assert (dagger < 1) == (d * low < 1)
        assert (star > 1) == (d * high > 1)
        lower_end = max(1.0, dagger)
        if star > lower_end:
            reached = two_region_dimension(u, l, lower_end, d) == pytest.approx(d, rel=1e-9)
            assert reached == (d * low <= 1)
