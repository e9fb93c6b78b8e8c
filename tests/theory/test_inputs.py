import re

import numpy as np
import pytest

from halfseen import theory
from halfseen.errors import InvalidInput

OBSERVING = [
    lambda p: theory.effective_dimension(p),
    lambda p: theory.feedback_value(p),
    lambda p: theory.water_filling(p, 10, 0.5, 1.0),
    lambda p: theory.fluid_potential(p, 10, 0.5, 1.0),
    lambda p: theory.joint_potential(p, 10, 1.0, 1.0, 1.0, 1.0),
    lambda p: theory.papers_potential(p, 10, 0.5, 1.0),
    lambda p: theory.offline_potential(p, 10, 0.5, 1.0),
    lambda p: theory.adaptive_potential(p, 10, 0.5, 1.0),
    lambda p: theory.single_monitoring_potential(p, 10, 0.5, 1.0, at=0.5),
    lambda p: theory.adaptivity_constant(p, 0.5),
    lambda p: theory.monitoring_constant(p, 0.5, at=0.5),
    lambda p: theory.second_order_potential(p, 10, 0.5, 1.0),
    lambda p: theory.censoring_failure_probability(p, 10),
]
P = [0.5, 0.25]


@pytest.mark.parametrize("function", OBSERVING)
@pytest.mark.parametrize(
    ("observe", "message"),
    [
        ([2, 0.5], "`observe[0]` must be a finite number above 0 and at most 1; got 2."),
        ([0.5, 0.0], "`observe[1]` must be a finite number above 0 and at most 1; got 0.0."),
        (np.array([0.5, np.nan]), "`observe[1]` must be a finite number above 0 and at most 1"),
        ([], "`observe` must not be empty"),
        (0.5, "`observe` must be a list of numbers"),
        ([True, 0.5], "`observe[0]` must be a number"),
        (["0.5"], "`observe[0]` must be a number"),
        (np.ones((2, 2)), "`observe[0]` must be a number"),
    ],
)
def test_bad_probabilities(function, observe, message):
    with pytest.raises(InvalidInput, match=re.escape(message)) as caught:
        function(observe)
    assert caught.value.field.startswith("observe")
    assert caught.value.fix


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: theory.effective_dimension(P, noise=-1), "noise"),
        (lambda: theory.effective_dimension(P, noise=[1, -1]), "noise[1]"),
        (lambda: theory.effective_dimension(P, noise=[1, 1, 1]), "noise"),
        (lambda: theory.water_filling(P, 10, 1.0, 0.0), "regularization"),
        (lambda: theory.water_filling(P, 10, 1.0, [1, 0]), "regularization[1]"),
        (lambda: theory.water_filling(P, -1, 0.5, 1.0), "budget"),
        (lambda: theory.water_filling(P, 10, 0, 1.0), "alpha"),
        (lambda: theory.fluid_potential(P, -1, 0.5, 1.0), "horizon"),
        (lambda: theory.fluid_potential(P, np.inf, 0.5, 1.0), "horizon"),
        (lambda: theory.fluid_potential(P, 10, 100, 1.0), "alpha"),
        (lambda: theory.fluid_potential(P, 10, 0.5, [1.0]), "regularization"),
        (lambda: theory.fluid_potential(P, 10, 0.5, 1.0, weights=[1, -1]), "weights[1]"),
        (lambda: theory.joint_potential(P, 0.5, 1.0, 1.0, 1.0, 1.0), "horizon"),
        (lambda: theory.joint_potential(P, 10, 1.0, 1.0, -1.0, 1.0), "bound"),
        (lambda: theory.joint_potential(P, 10, 1.0, 1.0, 1.0, -1.0), "gap"),
        (lambda: theory.papers_potential(P, 10, 0.5, 1.0, delta=1.0), "delta"),
        (lambda: theory.offline_potential(P, 0, 0.5, 1.0), "horizon"),
        (lambda: theory.offline_potential(P, 1.5, 0.5, 1.0), "horizon"),
        (lambda: theory.adaptive_potential(P, 10**7, 0.5, 1.0), "horizon"),
        (lambda: theory.single_monitoring_potential(P, 10, 0.5, 1.0, at=1.5), "at"),
        (lambda: theory.monitoring_constant(P, 0.5, at=-0.1), "at"),
        (lambda: theory.second_order_potential(P, 0, 0.5, 1.0), "horizon"),
        (lambda: theory.second_order_potential(P, 10, 0.5, [1.0, 2.0]), "regularization"),
        (lambda: theory.optimism_failure_probability(0, 10), "arms"),
        (lambda: theory.optimism_failure_probability(2, 0), "horizon"),
        (lambda: theory.censoring_failure_probability(P, 10, delta=0), "delta"),
    ],
)
def test_bad_values_are_named(call, field):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.field == field
    assert str(caught.value).startswith(f"`{field}` must")


def test_the_longest_chain_points_to_the_closed_form():
    with pytest.raises(InvalidInput, match="second_order_potential"):
        theory.adaptive_potential(P, 10**7, 0.5, 1.0)


def test_callers_arrays_are_left_alone():
    observe = np.array([0.5, 0.25])
    theory.offline_potential(observe, 10, 0.5, 1.0)
    theory.water_filling(observe, 10, 0.5, 1.0)
    assert observe.flags.writeable
    assert observe.tolist() == [0.5, 0.25]
