import math
from dataclasses import dataclass

import numpy as np
import pytest

from halfseen import theory
from halfseen.censorship import Censorship, LinkModel, MultiThreshold, PerArm, Population
from halfseen.errors import InvalidInput
from halfseen.theory.linear.stepped import as_steps


def test_steps_are_kept_as_they_are():
    steps = as_steps(MultiThreshold([0.1, 0.5], [0.9, 0.5, 0.2], [0, 1]), None, regions=8)
    assert (steps.model.threshold_radians, steps.model.observe) == ((0.1, 0.5), (0.9, 0.5, 0.2))
    assert (steps.dimension, steps.error) == (2, 0.0)


def test_a_population_needs_no_direction():
    people = Population([0.0, math.pi / 2], weights=[1, 3])
    steps = as_steps(people, 7)
    assert (steps.model.threshold_radians, steps.model.observe) == ((0.0,), (1.0, 0.75))
    assert steps.dimension == len(steps.model.direction) == 7


def test_smooth_models_become_steps():
    steps = as_steps(LinkModel([0, 1], slope=-1.0, link="probit"), 2, regions=5)
    assert len(steps.model.observe) == len(steps.model.threshold_radians) + 1 == 5
    assert steps.error == pytest.approx((steps.model.observe[0] - steps.model.observe[1]) / 2)


def test_a_dimension_must_agree():
    with pytest.raises(InvalidInput, match="must be 2, that of the censorship"):
        as_steps(LinkModel([0, 1], slope=-1.0), 3, regions=5)


def test_a_censorship_of_your_own_gives_the_theory_its_steps():
    @dataclass(frozen=True)
    class Halved(Censorship):
        kind = "halved"

        def probabilities(self, actions):
            return np.where(np.asarray(actions)[:, 0] < 0.5, 1.0, 0.5)

        def in_steps(self, dimension, regions):
            return MultiThreshold([math.asin(0.5)], [1.0, 0.5], np.eye(dimension)[0]), 0.0

    told = MultiThreshold([math.asin(0.5)], [1.0, 0.5], [1, 0, 0])
    assert theory.worst_case_dimension(Halved(), 3) == theory.worst_case_dimension(told)
    found = theory.worst_case_potential(Halved(), 3, horizon=100)
    assert found == theory.worst_case_potential(told, horizon=100)
    with pytest.raises(InvalidInput, match="must be given, because Halved has no direction"):
        as_steps(Halved(), None)
    with pytest.raises(InvalidInput, match="must be a model along a direction"):
        as_steps(PerArm([0.5]), None)
