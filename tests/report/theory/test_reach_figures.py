"""The charts of reachability: what the lines meet, and when."""

import math
from itertools import pairwise

import pytest

from halfseen import InvalidInput, MultiThreshold, theory
from halfseen.report.theory.reach_figures import (
    APART,
    ONLY,
    REACHED,
    TURNS,
    example,
    reachable_chart,
    switch_chart,
    thresholds_chart,
)
from halfseen.theory.linear.turning import base_of
from report.chart_data import rows_with

PATH = theory.information_path(example(), regularization=2.0)
BASE = base_of(PATH, 4)


def model(angles, observe, d=3):
    angles = [math.radians(angle) for angle in angles]
    return theory.information_path(MultiThreshold(angles, observe, [0.0] * (d - 1) + [1.0]))


def gain(number, x, y):
    """Return the gain per observation of a region, from its definition."""
    place = PATH.numbers.index(number)
    sine = math.sin(PATH.angles_radians[place]) ** 2
    return ((1.0 - sine) / x + sine / y) / PATH.observe[place]


def test_the_line_is_where_regions_gain_as_much_as_the_base():
    x, y = PATH.design(PATH.switch_times[0])
    assert gain(2, x, y) == pytest.approx(gain(4, x, y), rel=1e-12)
    sine = math.sin(PATH.angles_radians[2]) ** 2
    assert BASE.line(sine, y / x) == pytest.approx(PATH.observe[2] / PATH.observe[4], rel=1e-12)
    for place in range(4):
        sine, ratio = (
            math.sin(PATH.angles_radians[place]) ** 2,
            PATH.observe[place] / PATH.observe[4],
        )
        assert (gain(place, x, y) > gain(4, x, y) * (1 + 1e-9)) == (
            BASE.line(sine, y / x) > ratio * (1 + 1e-9)
        )


def test_the_example_shows_every_case():
    kinds = {row["region"]: row["kind"] for row in rows_with(reachable_chart(PATH), "kind")}
    assert kinds == {0: REACHED, 1: REACHED, 2: ONLY, 3: APART}


def test_the_first_region_met_is_the_paths_next():
    numbers = reachable_chart(PATH).to_dict()["usermeta"]["numbers"]
    assert numbers["first"] == PATH.regions[1]
    assert numbers["met at"] == pytest.approx(PATH.switch_times[0], rel=1e-12)


def test_lines_turn_from_flat_to_r_star():
    chart = reachable_chart(PATH)
    ends = [row for row in rows_with(chart, "line", "part") if row["line"]]
    flat = [row["value"] for row in ends if row["part"] == "1"]
    assert flat == pytest.approx([1.0, 1.0])
    star = theory.reachability_threshold(1.0 / math.cos(BASE.angle) ** 2, 0.0, 6)
    assert max(row["value"] for row in ends) == pytest.approx(star)
    left = [row for row in rows_with(chart, "step") if row["sine"] == 0.0]
    assert len(left) == TURNS
    steps = [b["value"] - a["value"] for a, b in pairwise(left)]
    assert steps == pytest.approx([(star - 1.0) / TURNS] * (TURNS - 1))
    middle = left[TURNS // 3]
    time = float(middle["words"].removeprefix("t = "))
    x, y = 2.0, 2.0  # the design after that time in the base
    x += BASE.observe * time * (1.0 - BASE.sine) / 5
    y += BASE.observe * time * BASE.sine
    assert BASE.line(0.0, y / x) == pytest.approx(middle["value"], rel=1e-3)


def test_thresholds_are_the_theorys():
    chart = thresholds_chart(PATH)
    curves = rows_with(chart, "curve")
    for row in curves[:: len(curves) // 23]:
        u, l = (1 - row["sine"]) / (1 - BASE.sine), row["sine"] / BASE.sine  # noqa: E741
        wanted = {
            "r*": theory.reachability_threshold(u, l, 6),
            "r†": theory.dual_reachability_threshold(u, l, 6),
            "u": u,
            "l": l,
        }[row["curve"].partition(":")[0]]
        assert row["value"] == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    numbers = chart.to_dict()["usermeta"]["numbers"]
    pair = next(p for p in PATH.reachability if (p.base, p.region) == (4, 2))
    assert numbers["region 2"]["r_dagger"] == pair.r_dagger


@pytest.mark.slow
def test_the_turning_lines_join_the_bases_and_what_follows():
    chart = switch_chart(PATH)
    seen = {row["words"]: (row["sine"], row["value"]) for row in rows_with(chart, "area")}
    lines = {}
    for row in rows_with(chart, "curve"):
        if row["curve"].startswith("turning"):
            lines.setdefault(row["curve"], []).append((row["sine"], row["value"]))
    for name, regions in zip(
        lines, (("region 4", "region 2"), ("region 2", "region 1")), strict=True
    ):
        (x0, y0), (x1, y1) = lines[name]
        for region in regions:
            x, y = seen[region]
            assert y0 + (y1 - y0) * (x - x0) / (x1 - x0) == pytest.approx(y, rel=1e-9)
    numbers = chart.to_dict()["usermeta"]["numbers"]
    assert (numbers["from"], numbers["to"], numbers["then"]) == (4, 2, [2, 1])
    assert [numbers["at"], numbers["then at"]] == list(PATH.switch_times)


def test_a_path_that_ends_after_one_switch_is_drawn():
    path = model([40, 75], [1.0, 0.5, 0.45])
    assert path.regime == "single region"
    assert "then" not in switch_chart(path).to_dict()["usermeta"]["numbers"]


@pytest.mark.slow
def test_a_base_from_which_nothing_is_reached_is_drawn():
    path = model([60], [1.0, 0.3])
    assert path.regions == (1,)
    numbers = reachable_chart(path).to_dict()["usermeta"]["numbers"]
    assert numbers == {"base": 1, "reachable": [], "first": None, "met at": None}
    assert thresholds_chart(path).to_dict()["usermeta"]["numbers"]["region 0"]["reachable"] is False


@pytest.mark.parametrize("chart", [reachable_chart, thresholds_chart])
def test_a_base_that_keeps_all_even_is_refused(chart):
    with pytest.raises(InvalidInput, match="favours the direction"):
        chart(model([20], [1.0, 0.5]))
    with pytest.raises(InvalidInput, match="favours the direction"):
        chart(model([], [0.5]))


def test_a_path_without_a_change_of_base_is_refused():
    for path in (model([70], [1.0, 0.5]), model([60], [1.0, 0.3])):
        with pytest.raises(InvalidInput, match="leave its first region"):
            switch_chart(path)
