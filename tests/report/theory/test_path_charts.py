"""The chart of an information path."""

import math

import numpy as np
import pytest

from halfseen import Logistic, MultiThreshold, Uniform, theory
from halfseen.report.theory.path_charts import path_chart
from halfseen.report.theory.reach_figures import example
from report.chart_data import rows_with


@pytest.mark.slow
def test_curves_are_the_design_and_bands_the_phases():
    path = theory.information_path(example())
    chart = path_chart(path)
    rows = rows_with(chart, "which")
    half = len(rows) // 2
    times = [row["time"] for row in rows[:half]]
    assert set(path.switch_times) <= set(times)
    x, y = path.design(np.array(times))
    assert [row["value"] for row in rows] == pytest.approx([*x, *y])
    bands = rows_with(chart, "until")
    edges = sorted({band["until"] for band in bands})[:-1]
    assert edges == pytest.approx(path.switch_times)
    words = [row["words"] for row in rows_with(chart, "words")]
    assert words[:3] == ["4", "2", "2 and 1"]


MODELS = {
    "one coordinate": (MultiThreshold([0.5], [0.9, 0.2], [1.0]), None),
    "one region": (MultiThreshold([], [0.3], [0, 1]), None),
    "below the equator": (MultiThreshold([-0.9, -0.2], [0.9, 0.4, 0.2], [0, 1]), None),
    "no direction": (Uniform(0.4), 5),
    "smooth": (Logistic([0, 1, 0], 4.0, -1.0), None),
    "hardly ever seen": (MultiThreshold([1.2], [1e-200, 0.9e-200], [0, 0, 1]), None),
    "a switch far off": (
        MultiThreshold([math.pi / 3], [1.0, 0.375 * (1 + 1e-11)], [0, 0, 1]),
        None,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_chart(name):
    path = theory.information_path(*MODELS[name], regularization=3.0)
    chart = path_chart(path)
    values = [row["value"] for row in rows_with(chart, "which")]
    assert np.isfinite(values).all()
    assert min(values) >= 3.0 * (1 - 1e-12)
    numbers = chart.to_dict()["usermeta"]["numbers"]
    assert numbers["effective dimension"] == path.effective_dimension
    assert numbers["d / p_min"] == path.dimension / path.observe[-1]
