"""The search for the instance on which an inequality comes closest to failing."""

import pytest

from halfseen.claims import Comparison, Measured
from halfseen.claims.closest import Axis, closest

AXES = [Axis("x", -2.0, 2.0), Axis("y", 0.01, 100.0, log=True)]


def hill(point):
    height = 1.0 / (1.0 + (point["x"] - 0.7) ** 2 + (point["y"] / 5.0 - 1.0) ** 2)
    return Comparison(f"{point['x']:.3f}, {point['y']:.3f}", Measured(height), "at most", 1.0)


def test_finds_the_top_of_a_hill_and_says_how_many_points_it_tried():
    found = closest(hill, AXES, 400, seed=1)
    assert found.strain > 0.99
    assert found.searched == 400


def test_measures_as_often_as_it_says_and_the_same_for_the_same_seed():
    calls = []

    def counted(point):
        calls.append(point)
        return hill(point)

    first = closest(counted, AXES, 37, seed=5)
    assert len(calls) == 37
    assert all(-2.0 <= p["x"] <= 2.0 and 0.01 <= p["y"] <= 100.0 for p in calls)
    assert closest(hill, AXES, 37, seed=5) == first
    assert closest(hill, AXES, 37, seed=6) != first


def test_local_search_beats_points_at_random():
    heights = []

    def noted(point):
        heights.append(hill(point).strain)
        return hill(point)

    found = closest(noted, AXES, 80, seed=2)
    assert found.strain == max(heights)
    assert max(heights[:40]) < 0.97 < 0.99 < found.strain


def test_points_the_statement_does_not_cover_are_passed_over():
    found = closest(lambda p: hill(p) if p["x"] > 1.0 else None, AXES, 200, seed=3)
    assert found.where.startswith("1.0")
    with pytest.raises(ValueError, match="no instance"):
        closest(lambda p: None, AXES, 10, seed=3)


def test_a_noisy_measurement_is_confirmed_with_other_draws():
    found = closest(
        hill, AXES, 50, 1, confirm=lambda p: Comparison("", Measured(0.5), "at most", 1)
    )
    assert found.measured == Measured(0.5)
    assert found.searched == 50


def test_whole_numbers_are_whole():
    axis = Axis("d", 1, 4, whole=True)
    assert {axis.at(k / 20) for k in range(21)} == {1.0, 2.0, 3.0, 4.0}
