"""Observation probabilities lie in ]0, 1], one per arm or one for all."""

import math

import numpy as np
import pytest

from halfseen import InvalidInput, PerArm, Uniform
from halfseen.censorship import CENSORSHIPS

BAD = [0.0, -0.1, 1.0000001, math.nan, math.inf, -math.inf, 5e-324, "0.5", True, None, 10**400]


@pytest.mark.parametrize("value", BAD)
def test_probabilities_outside_are_refused_with_a_fix(value):
    for make, field in ((Uniform, "Uniform.observe"), (lambda p: PerArm([0.5, p]), "PerArm.obs")):
        with pytest.raises(InvalidInput) as caught:
            make(value)
        assert caught.value.field.startswith(field)
        assert "leave it out" in str(caught.value)
    with pytest.raises(InvalidInput, match=r"`PerArm\.observe\[1\]`"):
        PerArm([0.5, value])


@pytest.mark.parametrize("value", [[], None, 0.5, "0.5", {0.5, 0.6}, {"a": 0.5}, [[0.5]]])
def test_per_arm_wants_a_list(value):
    with pytest.raises(InvalidInput, match=r"^`PerArm\.observe"):
        PerArm(value)


@pytest.mark.parametrize("value", [[0.5], np.array([0.5])])
def test_uniform_wants_a_number(value):
    with pytest.raises(InvalidInput, match=r"^`Uniform\.observe` must be a number above 0 and at"):
        Uniform(value)


def test_one_probability_per_arm():
    assert PerArm(np.array([0.25, 1])).observe == (0.25, 1.0)
    assert PerArm([0.25, 1]).probabilities(2).tolist() == [0.25, 1.0]
    for arms in (1, 3):
        with pytest.raises(InvalidInput, match=f"must have {arms} entries, one per arm; got 2 en"):
            PerArm([0.25, 1]).probabilities(arms)
    assert Uniform(0.25).probabilities(3).tolist() == [0.25] * 3


def test_results_are_fresh_arrays():
    censorship = PerArm([0.25, 1])
    censorship.probabilities(2)[:] = 9.0
    assert censorship.probabilities(2).tolist() == [0.25, 1.0]


def test_kinds():
    assert {("per-arm", PerArm), ("uniform", Uniform)} <= set(CENSORSHIPS.items())
    assert all(kind == censorship.kind for kind, censorship in CENSORSHIPS.items())
