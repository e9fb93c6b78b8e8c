import math

import pytest

from halfseen.censorship import LinkModel, MultiThreshold, Population
from halfseen.errors import InvalidInput
from halfseen.theory.linear.stepped import as_steps


def test_steps_are_kept_as_they_are():
    steps = as_steps(MultiThreshold([0.1, 0.5], [0.9, 0.5, 0.2], [0, 1]), None, regions=8)
    assert (steps.model.thresholds, steps.model.observe) == ((0.1, 0.5), (0.9, 0.5, 0.2))
    assert (steps.dimension, steps.error) == (2, 0.0)


def test_a_population_needs_no_direction():
    people = Population([0.0, math.pi / 2], weights=[1, 3])
    steps = as_steps(people, 7)
    assert (steps.model.thresholds, steps.model.observe) == ((0.0,), (1.0, 0.75))
    assert steps.dimension == len(steps.model.direction) == 7


def test_smooth_models_become_steps():
    steps = as_steps(LinkModel([0, 1], slope=-1.0, link="probit"), 2, regions=5)
    assert len(steps.model.observe) == len(steps.model.thresholds) + 1 == 5
    assert steps.error == pytest.approx((steps.model.observe[0] - steps.model.observe[1]) / 2)


def test_a_dimension_must_agree():
    with pytest.raises(InvalidInput, match="must be 2, that of the censorship"):
        as_steps(LinkModel([0, 1], slope=-1.0), 3, regions=5)
