"""A population of types induces the multi-threshold model of its aggregate response."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from halfseen.censorship.population import Population
from halfseen.errors import InvalidInput

ALWAYS = math.pi / 2


def test_the_model_it_induces():
    people = Population([0.3, ALWAYS, -0.2, 0.3], weights=[1, 4, 2, 3])
    model = people.censorship([0.0, 5.0])
    assert model.threshold_radians == (-0.2, 0.3)
    assert model.observe == (1.0, 0.8, 0.4)
    assert model.direction == (0.0, 1.0)


def test_people_who_never_answer():
    model = Population([-ALWAYS, 0.0, ALWAYS], weights=[1, 2, 1]).censorship([1.0])
    assert model.threshold_radians == (0.0,)
    assert model.observe == (0.75, 0.25)
    assert Population([-ALWAYS, ALWAYS], [1, 3]).censorship([1.0]).observe == (0.75,)
    assert Population([ALWAYS], [7]).censorship([1.0]).observe == (1.0,)


@given(
    some.lists(
        some.tuples(some.floats(-ALWAYS, ALWAYS), some.floats(0.01, 10.0)), min_size=0, max_size=6
    ),
    some.lists(some.floats(-1.0, 1.0), min_size=1, max_size=20),
)
def test_it_is_the_share_that_answers(types, along):
    types = [*types, (ALWAYS, 1.0)]
    thresholds, weights = zip(*types, strict=True)
    model = Population(thresholds, weights).censorship([1.0])
    reach = np.array([2.0 if angle == ALWAYS else math.sin(angle) for angle in thresholds])
    reach[np.array(thresholds) == -ALWAYS] = -2.0
    share = [np.sum(np.array(weights)[s < reach]) / np.sum(weights) for s in along]
    np.testing.assert_allclose(model.probabilities([[s] for s in along]), share, rtol=1e-12)


@pytest.mark.parametrize(
    ("thresholds", "weights", "field"),
    [
        ([], [], "threshold_radians"),
        ([90.0], [1.0], "threshold_radians[0]"),
        ([0.1, math.nan], [1.0, 1.0], "threshold_radians[1]"),
        ([0.1, ALWAYS], [1.0], "weights"),
        ([0.1, ALWAYS], [1.0, 0.0], "weights[1]"),
        ([0.1, ALWAYS], [1.0, -1.0], "weights[1]"),
    ],
)
def test_bad_populations(thresholds, weights, field):
    with pytest.raises(InvalidInput) as caught:
        Population(thresholds, weights)
    assert caught.value.field == f"Population.{field}"


def test_somebody_must_always_answer():
    with pytest.raises(InvalidInput, match="must include pi/2, people who always answer"):
        Population([0.1, 0.2], [1.0, 1.0]).censorship([1.0])
