"""Regions worth playing, actions that stand for them, and steps around a smooth model."""

import math

import numpy as np
import pytest

from halfseen import InvalidInput, LinkModel, Logistic, MultiThreshold, PerArm, Uniform
from halfseen.theory import region_actions
from halfseen.theory.linear.regions import enclosing_steps, reduced


def test_regions_that_others_beat_are_dropped():
    model = MultiThreshold([-0.5, 0.0, 0.6, 1.0], [1.0, 0.8, 0.5, 0.5, 0.2], [0, 1])
    regions = reduced(model, 2)
    assert regions.numbers == (4, 2)
    assert regions.observe.tolist() == [0.2, 0.5]
    np.testing.assert_allclose(regions.along, [math.sin(1.0) ** 2, 0.0])
    np.testing.assert_allclose(regions.along + regions.across, 1.0)


def test_region_actions_lie_in_their_regions():
    rng = np.random.default_rng(3)
    for _ in range(50):
        d, k = int(rng.integers(1, 13)), int(rng.integers(1, 8))
        angles = np.sort(rng.uniform(-0.4, 1.5707, k))
        observe = np.sort(10 ** rng.uniform(-2.5, 0, k + 1))[::-1]
        model = MultiThreshold(angles, observe, rng.normal(size=d))
        rows = region_actions(model).actions
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-12)
        levels = reduced(model, d).observe
        if len(rows) > d:
            np.testing.assert_array_equal(model.probabilities(rows), np.repeat(levels, d))
        else:
            np.testing.assert_allclose(rows @ rows.T, np.eye(d), atol=1e-12)
            np.testing.assert_array_equal(model.probabilities(rows), levels[0])
    on_the_equator = MultiThreshold([0.0, 1.3], [1.0, 0.5, 0.2], [1, 2, 3])
    rows = region_actions(on_the_equator).actions
    assert on_the_equator.probabilities(rows).tolist() == [0.2] * 3 + [0.5] * 3


def test_the_ball_of_a_uniform_model_is_an_orthonormal_basis():
    rows = region_actions(Uniform(0.3), 4).actions
    np.testing.assert_allclose(rows @ rows.T, np.eye(4), atol=1e-12)
    assert region_actions(Uniform(0.3), 1).actions.tolist() == [[1.0]]


@pytest.mark.parametrize(
    "smooth",
    [
        Logistic([0, 1], slope=-3.0, offset=0.5),
        Logistic([0, 1], slope=3.0, offset=-2.0),
        LinkModel([1, 1], slope=-1.0, offset=0.2, link="probit"),
        LinkModel([1, 1], slope=0.5, offset=-1.0, link="cloglog"),
        Logistic([0, 1], slope=0.0, offset=0.5),
    ],
)
def test_steps_enclose_a_smooth_model(smooth):
    angles = np.linspace(0, 2 * np.pi, 1001)
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    truth = smooth.probabilities(rows)
    below, middle, above = (model.probabilities(rows) for model in enclosing_steps(smooth, 6))
    assert (below <= truth * (1 + 1e-12)).all()
    assert (truth <= above * (1 + 1e-12)).all()
    np.testing.assert_allclose(middle**2, below * above, rtol=1e-12)
    low, high = smooth.observe_range
    assert (above / below).max() <= (high / low) ** (1 / 6) * (1 + 1e-9)


def test_bad_values_are_named():
    with pytest.raises(InvalidInput) as caught:
        region_actions(PerArm([0.5]))
    assert caught.value.field == "censorship"
    with pytest.raises(InvalidInput) as caught:
        enclosing_steps(Logistic([0, 1], slope=-3.0), 0)
    assert caught.value.field == "regions"
