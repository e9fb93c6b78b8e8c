"""The paper's dimension next to the worst case: what the charts hold."""

import math

import numpy as np
import pytest

from halfseen import InvalidInput, Logistic, MultiThreshold, theory
from halfseen.report.theory.reach_figures import example
from halfseen.report.theory.worst_figures import PATH, potential_chart, regime_chart, regime_rows
from halfseen.theory.linear.ways_to_play import potentials
from report.chart_data import rows_with


def test_the_chart_holds_them():
    chart = potential_chart(example(), horizon=1e4)
    path = theory.information_path(example())
    found = potentials(path, example(), np.array([1e4]))
    ends = [row for row in rows_with(chart, "way") if row["horizon"] == pytest.approx(1e4)]
    assert [row["value"] for row in ends] == pytest.approx([float(v[0]) for v in found])
    numbers = chart.to_dict()["usermeta"]["numbers"]
    assert numbers["slopes"][PATH] == path.effective_dimension
    assert numbers["lead over the most censored region"] > 1.0
    assert "not the worst case" in chart.to_dict()["title"]["text"]


@pytest.mark.parametrize(
    "censorship",
    [
        MultiThreshold([math.radians(30)], [1.0, 0.5], [0, 0, 1]),  # keeps all even
        MultiThreshold([], [0.3], [0, 1]),
        Logistic([0, 0, 1], -3.0, 1.0),
    ],
)
def test_a_path_as_bad_as_the_worst_case_is_said_to_be(censorship):
    chart = potential_chart(censorship, horizon=100.0).to_dict()
    assert "grows like the worst case" in chart["title"]["text"]


def test_a_short_horizon_is_refused():
    with pytest.raises(InvalidInput, match="horizon"):
        potential_chart(example(), horizon=5.0)


def test_the_map_is_the_certified_design_over_the_worst_case():
    cells, border = regime_rows(4, 8.0)
    assert {cell["regime"] for cell in cells} == {"bi-region"}
    for cell in cells[:: len(cells) // 40]:
        censorship = MultiThreshold(
            [math.radians(cell["centre"])], [1.0, 1.0 / cell["middle"]], [0, 0, 0, 1]
        )
        design = theory.optimal_design_dimension(censorship)
        assert cell["share"] == pytest.approx(design.dimension / (4 * cell["middle"]), rel=1e-4)
    for row in border[1:-1:7]:
        for factor, regime in ((0.999, "bi-region"), (1.001, "single region")):
            censorship = MultiThreshold(
                [math.radians(row["angle"])], [1.0, 1.0 / (row["ratio"] * factor)], [0, 0, 0, 1]
            )
            path = theory.information_path(censorship)
            assert path.regime == regime
            if regime == "single region":
                assert path.effective_dimension == pytest.approx(4 * row["ratio"] * factor)


@pytest.mark.slow
def test_the_maps_numbers():
    chart = regime_chart(2, largest_ratio=4.0).to_dict()
    numbers = chart["usermeta"]["numbers"]
    assert numbers["evenly up to degrees"] == pytest.approx(45.0)
    assert 0.5 < numbers["smallest share"] < 0.8
    with pytest.raises(InvalidInput, match="dimension"):
        regime_chart(1)
