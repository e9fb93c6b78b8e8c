import json
import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from halfseen import (
    Censorship,
    FiniteActions,
    LinearBandit,
    LinUCB,
    PerAction,
    RandomActions,
    Study,
    Uniform,
    simulate,
    theory,
)
from halfseen.censorship import Profile
from halfseen.report.study.bounds import PAPER, SMALLEST, bounds_along, bounds_at_horizon
from halfseen.report.study.charts import arm_rows, figures, regret_rows
from halfseen.report.study.linear_charts import direction_rows, eigenvalue_rows, potential_rows
from halfseen.report.study.linear_measures import fitted_slope
from halfseen.report.study.measures import places, shown
from halfseen.theory import worst_case_potential
from halfseen.theory.along_a_run import optimism_failure
from halfseen.theory.linear.slope import slope_law

pytestmark = pytest.mark.slow  # six loops to compile
HORIZON, FINITE, RANDOM = 1000, 0, 1
ONE = 1  # place of alpha = 1 among the alphas


def where(rows, **wanted):
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def place_at(study, position):
    return next(place for place in places(study) if place.position == position)


@pytest.mark.parametrize("problem", [FINITE, RANDOM])
def test_the_slope_is_least_squares_on_the_last_factor_of_ten(linear_result, problem):
    rounds = linear_result.study.rounds_recorded
    late = rounds >= HORIZON / 10
    assert 2 < late.sum() < len(rounds)
    for j in range(3):
        for k in range(3):
            mean = linear_result.tracks["potential"][problem, j, k, :, :, ONE].mean(axis=0)
            wanted = np.polyfit(np.log(rounds[late]), mean[late], 1)[0]
            found = fitted_slope(linear_result, (problem, j, k))
            assert found.mean == pytest.approx(wanted, rel=1e-9)
            assert 0 < found.half_width < found.mean


def test_the_law_of_a_fixed_set_is_that_of_its_best_action(linear_result):
    study = linear_result.study
    bandit = study.problems["same offers"]
    best = bandit.actions.actions[[bandit.means(bandit.actions.actions).argmax()]]
    for j, censorship in enumerate(study.censorships.values()):
        p = 1.0 if j == 2 else censorship.probabilities(best)[0]
        assert slope_law(*place_at(study, (FINITE, j, 0)).triple) == pytest.approx(1 / p)
        assert slope_law(*place_at(study, (FINITE, j, 1)).triple) is None


def test_the_law_of_random_actions_is_over_the_best_of_each_round(linear_result):
    study = linear_result.study
    rows = np.random.default_rng(7).normal(size=(40_000, 10, 4))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    best = rows[np.arange(len(rows)), (rows @ [0.6, 0.3, -0.2, 0.1]).argmax(axis=1)]
    for j, censorship in enumerate(study.censorships.values()):
        p = np.ones(len(best)) if j == 2 else censorship.probabilities(best)
        wanted = np.trace(np.linalg.solve((best.T * p) @ best, best.T @ best))
        assert slope_law(*place_at(study, (RANDOM, j, 0)).triple) == pytest.approx(wanted, rel=0.04)


def test_a_slope_far_above_the_chart_is_left_out():
    actions = FiniteActions([[1, 0], [0, 1], [0.7, 0.7]])
    problem = LinearBandit([1.0, 0.2], 0.5, actions)
    rare = PerAction((1e-300, 0.3, 0.5))
    study = Study(problem, rare, LinUCB(), horizon=1000, replications=5, baseline=False)
    rows, top = potential_rows(simulate(study), 0)
    assert max(row["mean"] for row in rows) <= top  # it was drawn 1e300 high
    assert where(rows, kind="law") == []


@pytest.mark.parametrize("problem", [FINITE, RANDOM])
def test_the_potential_stands_under_its_bound(linear_result, problem):
    study = linear_result.study
    rows, top = potential_rows(linear_result, problem)
    for j, censorship in enumerate(study.censorships):
        for k, policy in enumerate(study.policies):
            curve = where(rows, kind="policy", censorship=censorship, policy=policy)
            mean = linear_result.tracks["potential"][problem, j, k, :, :, ONE].mean(axis=0)
            assert [row["mean"] for row in curve] == pytest.approx(mean, rel=1e-4)
            assert max(row["mean"] for row in curve) < top
        bound = where(rows, kind="bound", censorship=censorship)
        place = place_at(study, (problem, j, 0))
        least = 4 / place.dimension
        finite = place.problem.actions if problem == FINITE else None
        for row in bound:
            t = row["round"]
            alone = 4 / least * math.log1p(least * t / 4) / math.log(2)
            assert row["mean"] <= alone * (1 + 1e-4)
            worst = worst_case_potential(place.censorship, 4, horizon=t, actions=finite, regions=16)
            wanted = worst.upper / math.log(2)
            assert wanted * (1 - 1e-4) <= row["mean"] <= wanted * 1.03
            assert row["mean"] < top
        assert sum(row["mark"] for row in bound) == 1
        law = where(rows, kind="law", censorship=censorship)
        assert {row["policy"] for row in law} == {"LinUCB"}
        steps = np.diff(np.log([row["round"] for row in law]))
        rise = np.diff([row["mean"] for row in law])
        assert rise / steps == pytest.approx(slope_law(*place.triple), rel=1e-3)


def test_eigenvalues_are_the_extreme_ones_of_what_was_seen(linear_result):
    rows = eigenvalue_rows(linear_result, RANDOM)
    assert {row["policy"] for row in rows} == {"LinUCB", "Thompson"}
    values = linear_result.tracks["eigenvalues"][RANDOM, 1, 0, :, :, 0, :]
    for end, wanted in (("largest", values.max(axis=-1)), ("smallest", values.min(axis=-1))):
        curve = where(rows, censorship="logistic", policy="LinUCB", end=end)
        assert [row["mean"] for row in curve] == pytest.approx(wanted.mean(axis=0), rel=1e-4)


def test_censorship_along_its_direction(linear_result):
    rows = direction_rows(linear_result, FINITE)
    assert {row["censorship"] for row in rows} == {"thinning out", "logistic"}
    steps = where(rows, censorship="thinning out", kind="curve")
    assert [row["chance"] for row in steps] == [0.9, 0.9, 0.5, 0.5, 0.1, 0.1]
    cuts = [-1, math.sin(0.2), math.sin(0.2), math.sin(0.7), math.sin(0.7), 1]
    assert [row["along"] for row in steps] == pytest.approx(cuts, rel=1e-4)
    for row in where(rows, censorship="logistic", kind="curve"):
        assert row["chance"] == pytest.approx(1 / (1 + math.exp(3 * row["along"])), rel=1e-3)
    assert len(where(rows, censorship="logistic", kind="action")) == 11
    assert len(where(rows, censorship="logistic", kind="best")) == 1
    band = where(direction_rows(linear_result, RANDOM), kind="band")
    assert len(band) == 2
    assert all(-1 < row["along"] < row["until"] < 1 for row in band)


@dataclass(frozen=True)
class Ramp(Censorship):
    """Draws its own curve, along a direction that only its profile names."""

    kind: ClassVar[str] = "ramp"

    def profile(self, dimension):
        return Profile(lambda projection, table: 0.5 + 0.2 * projection, np.eye(2)[0], np.zeros(1))

    def probabilities(self, actions):
        return 0.5 + 0.2 * np.asarray(actions)[:, 0]

    def along_direction(self, points):
        along = np.linspace(-1.0, 1.0, points)
        return along, 0.5 + 0.2 * along


def test_actions_lie_along_the_direction_of_an_own_censorship():
    problem = LinearBandit([0.5, 0.2], 0.3, FiniteActions([[1.0, 0.0], [0.6, 0.8]]))
    study = Study(problem, Ramp(), LinUCB(), horizon=10, replications=2)
    rows = direction_rows(SimpleNamespace(study=study), 0)
    actions = [row for row in rows if row["kind"] in ("action", "best")]
    assert [(row["along"], row["chance"]) for row in actions] == [(1.0, 0.7), (0.6, 0.62)]


def test_shares_are_by_action_or_by_region(linear_result):
    rows = where(arm_rows(linear_result, FINITE), kind="seen", censorship="thinning out")
    assert len(rows) == 12
    region = where(arm_rows(linear_result, RANDOM), kind="seen")
    assert [row["arm"] for row in region] == ["−1 to 0.2", "0.2 to 0.64", "0.64 to 1"]
    assert {row["censorship"] for row in region} == {"thinning out"}
    assert [row["observe"] for row in region] == [0.9, 0.5, 0.1]
    pulls, seen = (
        linear_result.tracks[name][RANDOM, 0, :, :, -1, :3].sum(axis=(0, 1), dtype=float)
        for name in ("pulls", "observations")
    )
    assert [row["share"] for row in region] == pytest.approx(seen / pulls, rel=1e-4)
    assert pulls.sum() == 3 * 30 * HORIZON


@pytest.mark.parametrize("problem", [FINITE, RANDOM])
def test_bounds_along_the_way_end_in_the_table(linear_result, problem):
    study = linear_result.study
    rounds = study.rounds_recorded
    for j in range(3):
        place = place_at(study, (problem, j, 0))
        curves = bounds_along(place, HORIZON, rounds)
        table = bounds_at_horizon(place, HORIZON)
        assert curves[SMALLEST][-1] == pytest.approx(table.smallest.value, rel=1e-12)
        assert curves[PAPER][-1] == pytest.approx(table["paper's theorem"].value, rel=1e-12)
        told_less = theory.regret_bounds(place.problem, place.censorship, LinUCB(), int(rounds[-6]))
        assert curves[PAPER][-6] > told_less["paper's theorem"].value
        mean = linear_result.tracks["regret"][problem, j, 0].mean(axis=0)
        assert all(curves[SMALLEST] >= mean)
    assert regret_rows(linear_result, problem)[1] == "LinUCB"


def test_what_is_not_proved_is_not_drawn(linear_result):
    problem = linear_result.study.problems["same offers"]
    study = Study(
        problem, {"l": linear_result.study.censorships["logistic"]}, LinUCB(noise=0.1), horizon=9
    )
    place = next(places(study))
    assert optimism_failure(*place.triple, 9) is None
    assert bounds_along(place, 9, study.rounds_recorded) == {}
    assert "LinUCB.noise" in bounds_at_horizon(place, 9)
    other = place_at(linear_result.study, (0, 0, 1))
    assert "proved for the policy LinUCB" in bounds_at_horizon(other, 9)


def test_every_linear_chart_is_plain_json_with_its_problem_in_the_title(linear_result):
    for problem, name in enumerate(linear_result.study.problems):
        drawn = figures(linear_result, problem)
        assert len(drawn) == 7
        for figure in drawn:
            assert name in figure.spec["title"]["text"]
            json.dumps(figure.still, allow_nan=False)


def test_a_page_keeps_order_one_of_many():
    problem = LinearBandit([0.6, 0.3], 0.5, RandomActions(3, 2))
    study = Study(
        problem, Uniform(0.5), LinUCB(), horizon=20, replications=2, alphas=[0.5, 2.0, 1.0]
    )
    whole = simulate(study)
    part = shown(whole)
    assert np.array_equal(part.tracks["potential"][..., 1], whole.tracks["potential"][..., 2])
    assert part.study.alphas == (0.5, 1.0)
    assert part.tracks["potential"].shape[-1] == 2
