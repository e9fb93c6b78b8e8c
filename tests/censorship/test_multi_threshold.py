"""Multi-threshold models: which action is in which region, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from numba import njit

from halfseen import FiniteActions, LinearBandit, LinUCB, PerAction, Study, simulate
from halfseen.censorship.multi_threshold import MultiThreshold, observe_probability
from halfseen.errors import InvalidInput

DEGREES = math.pi / 180


def test_regions_are_closed_on_the_left_and_at_the_pole():
    angles = [-30 * DEGREES, 0.0, 70 * DEGREES]
    model = MultiThreshold(angles, [1.0, 0.7, 0.7, 0.1], [0.0, 1.0])
    edges = [math.sin(angle) for angle in angles]
    along = [-1.0, *np.nextafter(edges, -2.0), *edges, *np.nextafter(edges, 2.0), 1.0]
    rows = [[0.0, s] for s in along]
    assert model.region(rows).tolist() == [0, 0, 1, 2, 1, 2, 3, 1, 2, 3, 3]
    expected = [[1.0, 0.7, 0.7, 0.1][region] for region in model.region(rows)]
    assert model.probabilities(rows).tolist() == expected
    assert model.region([[0.0, 1.0 + 1e-9]]).tolist() == [3]
    assert model.observe_range == (0.1, 1.0)


def test_the_direction_is_normalised_and_the_rest_ignored():
    model = MultiThreshold([math.pi / 6], [0.9, 0.2], [0.0, 3.0, 4.0])
    assert model.direction == (0.0, 0.6, 0.8)
    assert model == MultiThreshold([math.pi / 6], [0.9, 0.2], model.direction)
    assert model.region([[0.9, 0.3, 0.3], [0.0, 0.6, 0.8], [-0.9, 0.0, 0.0]]).tolist() == [0, 1, 0]
    for scale in (1e-300, 1e300):
        tiny = MultiThreshold([0.1], [0.9, 0.2], [0.0, 3.0 * scale, 4.0 * scale])
        np.testing.assert_allclose(tiny.direction, [0.0, 0.6, 0.8], rtol=1e-15)


def test_no_threshold_is_uniform():
    model = MultiThreshold([], [0.4], [1.0, 0.0])
    assert model.probabilities([[1.0, 0.0], [-1.0, 0.0]]).tolist() == [0.4, 0.4]
    assert model.table().tolist() == [0.4]


ANGLES = some.lists(some.floats(-1.57, 1.57), max_size=6, unique=True).map(sorted)


@given(
    ANGLES,
    some.lists(some.floats(0.01, 1.0), min_size=7, max_size=7),
    some.lists(some.floats(-1.0, 1.0), min_size=1, max_size=20),
)
def test_kernel_and_arrays_agree(angles, chances, along):
    observe = sorted(chances, reverse=True)[: len(angles) + 1]
    model = MultiThreshold(angles, observe, [1.0])
    table = model.table()
    by_array = model.probabilities([[s] for s in along])
    assert [observe_probability(s, table) for s in along] == by_array.tolist()
    assert [model.profile(2).kernel(s, table) for s in along] == by_array.tolist()


def test_kernel_compiles():
    model = MultiThreshold([-0.5, 0.2, 1.0], [0.9, 0.5, 0.4, 0.1], [1.0])
    table, fast = model.table(), njit(observe_probability)
    for s in np.linspace(-1, 1, 501):
        assert fast(s, table) == observe_probability(s, table)


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"threshold_radians": [0.5, 0.2]}, "threshold_radians", "must be strictly increasing"),
        ({"threshold_radians": [0.5, 0.5]}, "threshold_radians", "must be strictly increasing"),
        ({"threshold_radians": [-math.pi / 2, 0.0]}, "threshold_radians[0]", "above -1.57"),
        ({"threshold_radians": [0.0, math.pi / 2]}, "threshold_radians", "must be below pi/2"),
        ({"threshold_radians": [30, 60]}, "threshold_radians[0]", "degrees times pi / 180"),
        ({"threshold_radians": [math.nan, 0.0]}, "threshold_radians[0]", "finite"),
        ({"threshold_radians": None}, "threshold_radians", "list of numbers"),
        (
            {"threshold_radians": [0.5]},
            "observe",
            "must have 2 entries, one more than the thresholds",
        ),
        ({"observe": [0.9, 0.5]}, "observe", "must have 3 entries"),
        ({"observe": [0.9, 0.5, 0.0]}, "observe[2]", "above 0"),
        ({"observe": [1.1, 0.5, 0.1]}, "observe[0]", "at most 1"),
        ({"direction": [0.0, 0.0]}, "direction", "must not be zero"),
        ({"direction": []}, "direction", "must not be empty"),
        ({"direction": [math.inf, 0.0]}, "direction[0]", "finite"),
    ],
)
def test_bad_models(change, field, message):
    right = {"threshold_radians": [0.0, 0.5], "observe": [0.9, 0.5, 0.1], "direction": [1.0, 0.0]}
    with pytest.raises(InvalidInput) as caught:
        MultiThreshold(**(right | change))
    assert caught.value.field == f"MultiThreshold.{field}"
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([[1.0]], "`actions` must have 2 coordinates each"),
        ([1.0, 0.0], r"`actions` must be an array \(n, d\)"),
        ([], r"`actions` must be an array \(n, d\)"),
        ([[1.0], [1.0, 0.0]], r"`actions` must be an array \(n, d\)"),
        ([["a", "b"]], r"`actions` must be an array \(n, d\)"),
        ([[0.0, 0.0], [math.nan, 0.0]], r"`actions\[1\]` must be finite"),
    ],
)
def test_bad_actions(actions, message):
    with pytest.raises(InvalidInput, match=message):
        MultiThreshold([0.1], [0.9, 0.5], [1.0, 0.0]).probabilities(actions)


@pytest.mark.slow
def test_any_order_of_probabilities_simulates_like_one_probability_per_action():
    rng = np.random.default_rng(8)
    actions = FiniteActions(rng.normal(size=(12, 3)), normalize=True)
    steps = MultiThreshold([-0.6, -0.1, 0.3], [0.5, 0.05, 1.0, 0.2], [0, 1, 1])
    seen = steps.probabilities(actions.actions)
    assert len(set(seen.tolist())) == 4
    problem = LinearBandit([0.6, -0.3, 0.2], 0.5, actions)
    named = {"steps": steps, "listed": PerAction(seen.tolist())}
    study = Study(problem, named, LinUCB(), horizon=400, replications=8, seed=5)
    for engine in ("cpu", "reference"):
        regret = simulate(study, engine=engine).data["regret"]
        by_steps, listed = (regret.sel(censorship=name).to_numpy() for name in named)
        np.testing.assert_array_equal(by_steps, listed)
