import re

import numpy as np
import pytest

from halfseen import (
    IMED,
    UCB,
    UCB1,
    ArmedBandit,
    Delayed,
    FiniteActions,
    Fixed,
    LinearBandit,
    LinUCB,
    PerAction,
    PerArm,
    StratifiedUCB,
    Study,
    WithCovariate,
    simulate,
)
from halfseen.report.study.corridor import corridor_figures, corridor_rows, lower_section
from halfseen.theory import asymptotic_lower_bound, finite_lower_bound


@pytest.fixture(scope="module")
def arms():
    study = Study(
        ArmedBandit([0.9, 0.1, 0.0], noise=0.3),
        PerArm([0.9, 0.5, 0.1]),
        {"mine": UCB(), "other": UCB1()},
        horizon=5000,
        replications=8,
    )
    return simulate(study)


def text(section):
    return re.sub(r"<[^>]+>", " ", str(section))


@pytest.mark.slow
def test_measured_regret_is_inside_the_corridor(arms):
    rows, policy = corridor_rows(arms, 0)
    assert policy == "mine"
    for name in arms.study.censorships:
        mine = [r for r in rows if r.get("censorship") == name]
        band = {r["round"]: r for r in mine if r["kind"] == "corridor"}
        curve = {r["round"]: r["mean"] for r in mine if r.get("policy") == "mine"}
        assert set(band) == set(curve)
        for time, mean in curve.items():
            assert band[time]["low"] <= mean + 1e-200
            assert mean <= band[time]["high"]
        last = max(band)
        below = finite_lower_bound(
            next(iter(arms.study.problems.values())),
            arms.study.censorships[name],
            last,
            curve[last],
        ).value
        assert below > 0
        assert band[last]["low"] == pytest.approx(below, rel=1e-3)


@pytest.mark.slow
def test_the_chart_says_what_its_edges_are(arms):
    (figure,) = corridor_figures(arms, 0)
    assert "smallest bound proved for mine" in figure.note
    assert {r["policy"] for r in figure.rows if r["kind"] == "bound"} == {
        "proved above",
        "proved below",
    }


def test_growth_stands_next_to_the_least_growth(arms):
    said = text(lower_section(arms))
    problem = next(iter(arms.study.problems.values()))
    least = asymptotic_lower_bound(problem, PerArm([0.9, 0.5, 0.1])).constant
    assert f"{least:.3g}" in said
    assert "growth" in said
    assert "C log T" in said


def linear(actions):
    bandit = LinearBandit([1, 0], noise=0.1, actions=actions)
    study = Study(bandit, PerAction([1, 0.01, 1]), LinUCB(), horizon=100, replications=2)
    return simulate(study)


@pytest.mark.slow
def test_linear_problems_have_the_worth_of_knowing_p_and_no_chart():
    result = linear(FiniteActions([[1, 0], [0, 1], [0.98, 0.04]]))
    said = text(lower_section(result))
    assert "worth of knowing p" in said
    assert "8×" in said
    assert corridor_figures(result, 0) == []


def test_without_a_lower_bound_the_section_says_why():
    study = Study(ArmedBandit([0.5, 0.5]), PerArm([0.5, 0.5]), UCB(), horizon=50, replications=2)
    result = simulate(study)
    said = text(lower_section(result))
    assert "must have one best arm" in said
    assert "growth" not in said
    assert corridor_figures(result, 0) == []
    assert np.all(result.tracks["regret"] == 0)


@pytest.mark.slow
def test_a_panel_without_a_band_says_why():
    arms = ArmedBandit([0.9, 0.1], reward="bernoulli")
    sent = Delayed(Fixed(1), window=9, sends="conversions")
    study = Study(
        arms, {"half": PerArm([0.5, 0.5]), "sent": sent}, UCB(), horizon=500, replications=4
    )
    result = simulate(study, engine="reference")
    assert "Not in these tables: “sent”. No least slope is known here" in text(
        lower_section(result)
    )
    (figure,) = corridor_figures(result, 0)
    assert "Under “sent” there is no band" in str(figure)
    assert "“half” there is no band" not in str(figure)


def test_a_policy_that_observes_a_telling_covariate_has_no_lower_bound():
    tells = WithCovariate([[[0.9, 0.1], [0.1, 0.9]]] * 2, [0.5, 0.5])
    policies = {"told": StratifiedUCB(), "blind": UCB(), "third": IMED()}
    study = Study(
        {"offers": ArmedBandit([0.9, 0.1], reward="bernoulli")},
        {"hint": tells},
        policies,
        horizon=200,
        replications=2,
    )
    said = text(lower_section(simulate(study)))
    assert "Not in these tables: “told” under “hint”. No least slope is known here" in said
    assert said.count("Not in these tables") == 1
    assert said.count("hint, covariate not observed") == 1  # a policy that looks may lose less
    rows = re.findall(r"<tr.*?</tr>", str(lower_section(simulate(study))), re.DOTALL)
    hint = [row for row in rows if "hint" in row]
    assert "again" not in hint[0]
    assert "blind" in hint[0]
    assert "again" in hint[1]
    _, policy = corridor_rows(simulate(study), 0)
    assert policy == "blind"
