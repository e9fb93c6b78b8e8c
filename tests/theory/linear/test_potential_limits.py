"""The table of what is known of the potential beforehand."""

import math

import numpy as np
import pytest

from halfseen import (
    AnyFunction,
    FiniteActions,
    LinearBandit,
    LinUCB,
    Logistic,
    MultiThreshold,
    RandomActions,
    Uniform,
)
from halfseen.theory import (
    information_path,
    linear_regret_bounds,
    potential_bounds,
    potential_control_factor,
    regret_bounds,
    worst_case_dimension,
    worst_case_potential,
)
from halfseen.theory.linear.worst_case_along import worst_case_along

STEPS = MultiThreshold([0.9, 1.2], [1.0, 0.5, 0.2], [0, 0, 1])
SMOOTH = Logistic([0, 0, 1], slope=-2.0)
ROWS = np.random.default_rng(2).normal(size=(12, 3))
ROWS /= np.linalg.norm(ROWS, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("censorship", "dimension", "actions"),
    [(STEPS, None, None), (Uniform(0.3), 4, None), (SMOOTH, None, None), (STEPS, None, ROWS)],
)
def test_every_number(censorship, dimension, actions):
    bounds = potential_bounds(
        censorship, dimension, regularization=0.5, horizon=1000, actions=actions
    )
    assert 0 <= bounds.lower <= bounds.worst_case * (1 + 1e-12)
    assert bounds.worst_case <= bounds.upper
    assert bounds.expected == potential_control_factor(0.5) * bounds.worst_case
    assert bounds.dimension == worst_case_dimension(censorship, dimension, actions=actions)
    table = linear_regret_bounds(
        dimension=dimension or 3,
        horizon=1000,
        observe_min=0.01,
        largest_gap=2.0,
        regularization=0.5,
        potential=bounds.expected,
    )
    assert bounds.regret == pytest.approx(table["measured potential"].value, rel=1e-12)
    assert "not a worst case" in str(bounds)
    assert bounds.to_dict()["worst_case"] == bounds.worst_case


def test_the_papers_dimension_is_that_of_the_information_path():
    bounds = potential_bounds(STEPS, horizon=10)
    assert bounds.information_dimension == pytest.approx(
        information_path(STEPS).effective_dimension
    )
    flat = potential_bounds([0.5, 0.2], horizon=10, actions=[[1, 0, 0], [0, 1, 0]])
    assert flat.information_dimension is None
    assert "information" not in str(flat)


@pytest.mark.parametrize("actions", [FiniteActions(ROWS), RandomActions(4, 3)])
@pytest.mark.parametrize("censorship", [STEPS, Uniform(0.4), SMOOTH])
def test_bounds_use_the_worst_case_of_the_model(actions, censorship):
    problem = LinearBandit([0.3, 0.4, 0.5], 0.5, actions)
    finite = actions if isinstance(actions, FiniteActions) else None
    worst = worst_case_potential(censorship, 3, horizon=5000, actions=finite, regions=16).upper
    assert worst_case_along(problem, censorship, 1.0, [5000])[0] == pytest.approx(worst, rel=1e-9)
    table = regret_bounds(problem, censorship, LinUCB(), 5000)
    expected = worst / math.log(2)
    ratio = table["potential"].terms["confidence widths"] / math.sqrt(expected)
    alone = table["potential from d/p_min"]
    assert table["potential"].value <= alone.value
    assert "J* the worst case" in table["potential"].reference
    again = linear_regret_bounds(
        dimension=3,
        horizon=5000,
        observe_min=1.0,
        largest_gap=1.0,
        noise=0.5,
        bound=problem.norm,
        delta=1 / 5000,
        potential=expected,
    )["measured potential"]
    assert ratio == pytest.approx(again.terms["confidence widths"] / math.sqrt(expected), rel=1e-6)


def test_where_only_the_smallest_probability_is_known():
    many = LinearBandit([0.1, 0.2], 0.5, FiniteActions(np.tile(np.eye(2), (40, 1))))
    assert worst_case_along(many, Uniform(0.5), 1.0, [10]) is None
    table = regret_bounds(many, Uniform(0.5), LinUCB(), 100)
    assert table["potential"].value == table["potential from d/p_min"].value
    some = AnyFunction(lambda action: 0.5)
    drawn = LinearBandit([0.1, 0.2], 0.5, RandomActions(3, 2))
    assert worst_case_along(drawn, some, 1.0, [10]) is None
