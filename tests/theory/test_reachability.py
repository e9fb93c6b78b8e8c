"""Thresholds between regions against the path itself and plain minimisation."""

import math

import numpy as np
import pytest
from scipy import optimize

from halfseen.errors import InvalidInput
from halfseen.theory.optimal_design import optimal_design_dimension
from halfseen.theory.reachability import (
    bi_region_dimension,
    dual_reachability_threshold,
    reachability_threshold,
    smallest_bi_region_dimension,
)

from .random_thresholds import rings

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
        ((0.9, 0.0, 2.0, 3), "u"),
        ((2.0, 1.1, 2.0, 3), "l"),
        ((2.0, 0.5, [2.0, 0.5], 3), "r"),
        ((2.0, 0.5, math.nan, 3), "r"),
        ((2.0, 0.5, 2.0, 0), "d"),
    ],
)
def test_what_is_refused(arguments, field):
    with pytest.raises(InvalidInput, match=f"`{field}`"):
        bi_region_dimension(*arguments)
