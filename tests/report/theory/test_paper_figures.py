"""The charts of the model hold the numbers of the theory."""

import math

import numpy as np
import pytest

from halfseen import InvalidInput, LinkModel, Logistic, MultiThreshold, theory
from halfseen.report.theory.paper_figures import censorship_chart, dimension_chart
from report.chart_data import rows, rows_with


def two_regions(angle=35, base=61, observe=(1.0, 0.7, 0.35), d=6):
    thresholds = [math.radians(angle), math.radians(base)]
    return theory.information_path(MultiThreshold(thresholds, observe, [0.0] * (d - 1) + [1.0]))


def test_censorship_is_drawn_as_the_models_say():
    smooth = Logistic([0, 1], slope=-4.0, offset=1.0)
    steps = MultiThreshold([0.2, 0.9], [0.8, 0.5, 0.1], [0, 1])
    drawn = [row for row in rows(censorship_chart(steps, smooth, regions=5)) if "chance" in row]
    for row in drawn:
        if row["model"] == "smooth":
            assert row["chance"] == pytest.approx(smooth.along([row["along"]])[0], rel=1e-12)
    stepped = [(r["along"], r["chance"]) for r in drawn if r["model"] == "multi-threshold"]
    assert stepped[0] == (-1.0, 0.8)
    assert stepped[2:4] == [(math.sin(0.2), 0.5), (math.sin(0.9), 0.5)]


def test_the_staircase_stays_within_its_error_whichever_way_feedback_thins_out():
    for slope in (-3.0, 3.0):
        smooth = LinkModel([0, 1], slope, link="probit")
        chart = censorship_chart(smooth=smooth, regions=4)
        error = chart.to_dict()["usermeta"]["numbers"]["staircase error"]
        stairs = [row for row in rows(chart) if row.get("model") == "staircase"]
        low, high = stairs[2:4]  # the second step
        inner = np.linspace(low["along"], high["along"], 9)[1:-1]
        gaps = np.abs(smooth.along(inner) - low["chance"])
        assert 0.5 * error < gaps.max() <= error * (1 + 1e-9)


@pytest.mark.slow
def test_dimension_is_the_theorys_and_its_minimum_the_lowest_point():
    path = two_regions()
    pair = next(p for p in path.reachability if (p.base, p.region) == (2, 1))
    chart = dimension_chart(path)
    curve = rows_with(chart, "part")
    values = theory.bi_region_dimension(pair.u, pair.l, [row["ratio"] for row in curve], 6)
    assert [row["value"] for row in curve] == pytest.approx(values.tolist(), rel=1e-12)
    numbers = chart.to_dict()["usermeta"]["numbers"]
    assert numbers["smallest"] == pytest.approx(min(row["value"] for row in curve), rel=1e-4)
    assert numbers["smallest"] <= min(row["value"] for row in curve)
    assert numbers["value"] == pytest.approx(path.effective_dimension * path.observe[-1])
    (bar,) = rows_with(chart, "until")
    assert (bar["ratio"], bar["until"]) == pytest.approx((pair.r_dagger, pair.r_star))
    assert {row["part"].split()[0] for row in curve} == {"only", "both"}


@pytest.mark.slow
@pytest.mark.parametrize("region", [0, 1])
def test_dimension_of_a_chosen_region(region):
    chart = dimension_chart(two_regions(), region)
    numbers = chart.to_dict()["usermeta"]["numbers"]
    assert (numbers["l"] == 0.0) == (region == 0)
    marked = [row for row in rows_with(chart, "words") if row["words"].startswith("this model")]
    assert numbers["the path ends there"] == bool(marked) == (region == 1)


def test_dimension_refuses_what_is_not_there():
    for thresholds, observe in (([], [0.5]), ([0.3], [0.9, 0.5])):
        path = theory.information_path(MultiThreshold(thresholds, observe, [0, 1]))
        with pytest.raises(InvalidInput, match="favours the direction"):
            dimension_chart(path)
    with pytest.raises(InvalidInput, match="must be one of 0, 1"):
        dimension_chart(two_regions(), 2)
