"""The paper's dimension next to the worst case: potentials against other ways to compute them."""

import math

import numpy as np
import pytest

from halfseen import InvalidInput, Logistic, MultiThreshold, theory
from halfseen.report.theory.reach_figures import example
from halfseen.report.theory.worst_figures import (
    OPTIMUM,
    PATH,
    PURE,
    WIDEST,
    potential_chart,
    potentials,
    regime_chart,
    regime_rows,
    widest_dimension,
)
from report.chart_data import rows_with


def of(censorship, horizons, regularization=1.0):
    path = theory.information_path(censorship, regularization=regularization)
    return path, potentials(path, censorship, np.asarray(horizons, dtype=float))


def played(rates, horizon, lam, steps, choose):
    """Return J by small steps: rates holds what an observed unit of each action adds, and p."""
    x, y, total, dt = lam, lam, 0.0, horizon / steps
    d = rates["d"]
    for _ in range(steps):
        across, along, p = choose(x, y)
        total += dt * (across / x + along / y)
        x, y = x + dt * p * across / (d - 1), y + dt * p * along
    return total


def test_potentials_are_what_small_steps_add_up_to():
    censorship = MultiThreshold([math.radians(70)], [1.0, 0.5], [0, 0, 1])
    _, found = of(censorship, [40.0], regularization=0.7)
    sine = math.sin(math.radians(70)) ** 2
    pure = played({"d": 3}, 40.0, 0.7, 40_000, lambda x, y: (1.0 - sine, sine, 0.5))
    widest = played(
        {"d": 3}, 40.0, 0.7, 40_000, lambda x, y: (0.0, 1.0, 0.5) if y <= x else (1.0, 0.0, 1.0)
    )
    assert found[PURE][0] == pytest.approx(pure, rel=1e-3)
    assert found[WIDEST][0] == pytest.approx(widest, rel=1e-3)


def test_golden_values_of_a_single_threshold():
    _, found = of(MultiThreshold([math.radians(70)], [1.0, 0.5], [0, 0, 1]), [1e3, 1e6])
    assert found[OPTIMUM] == pytest.approx([27.8959076007, 69.2296399861], rel=1e-9)
    assert found[PATH] == pytest.approx([23.2675403892, 52.9905027886], rel=1e-9)


@pytest.mark.parametrize("observe", [[0.2, 0.9, 0.5], [1.0, 0.3, 0.6], [0.9, 0.2, 1.0, 0.4]])
def test_nothing_is_above_the_optimum_whatever_the_order_of_p(observe):
    angles = [-0.3, 0.25, 1.2][: len(observe) - 1]
    found = of(MultiThreshold(angles, observe, [0, 0, 0, 1]), np.geomspace(1.0, 1e9, 20))[1]
    for name in (PURE, PATH, WIDEST):
        assert (found[name] <= found[OPTIMUM] * (1 + 1e-12)).all()


def test_nothing_is_above_the_optimum_and_slopes_are_as_said():
    path, found = of(example(), np.geomspace(1.0, 1e9, 40))
    for name in (PURE, PATH, WIDEST):
        assert (found[name] <= found[OPTIMUM] * (1 + 1e-12)).all()
    worst = 6 / 0.35
    slopes = (worst, worst, path.effective_dimension, widest_dimension(example()))
    late = math.log(1e9) / 39
    for name, slope in zip((OPTIMUM, PURE, PATH, WIDEST), slopes, strict=True):
        assert found[name][-1] - found[name][-2] == pytest.approx(slope * late, rel=1e-4)
    assert path.effective_dimension < 0.75 * worst


def test_the_chart_holds_them():
    chart = potential_chart(example(), horizon=1e4)
    path, found = of(example(), [1e4])
    ends = [row for row in rows_with(chart, "way") if row["horizon"] == pytest.approx(1e4)]
    assert [row["value"] for row in ends] == pytest.approx([float(v[0]) for v in found.values()])
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


def test_the_maps_numbers():
    chart = regime_chart(2, largest_ratio=4.0).to_dict()
    numbers = chart["usermeta"]["numbers"]
    assert numbers["evenly up to degrees"] == pytest.approx(45.0)
    assert 0.5 < numbers["smallest share"] < 0.8
    with pytest.raises(InvalidInput, match="dimension"):
        regime_chart(1)
