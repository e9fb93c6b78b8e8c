"""The report of a study with late feedback."""

import math

import pytest

from halfseen import (
    UCB,
    ArmedBandit,
    Delayed,
    FiniteActions,
    Fixed,
    GeometricDelay,
    LinearBandit,
    LinUCB,
    Study,
    simulate,
)
from halfseen.report.study.charts import potential_rows
from halfseen.report.study.page import write_report

pytestmark = pytest.mark.usefixtures("blank_pictures")


@pytest.fixture(scope="module")
def result():
    biased = Delayed([[Fixed(0), GeometricDelay(30)], Fixed(1)], window=10)
    late = Delayed(GeometricDelay(20), window=50)
    arms = ArmedBandit([0.6, 0.5], reward="bernoulli")
    sent = Delayed(GeometricDelay(20), window=50, sends="conversions")
    censorships = {"late": late, "biased": biased, "sent": sent}
    study = Study(arms, censorships, UCB(), horizon=200, replications=4)
    return simulate(study, engine="reference")


@pytest.mark.slow
def test_the_page_shows_what_is_pending_and_lost_and_says_what_is_biased(result, tmp_path):
    write_report(result, tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ">pending</th>" in text
    assert ">lost</th>" in text
    assert "Under “biased” and “sent” whether a reward is seen depends on the reward" in text
    assert "no effective dimension describes it" in text
    assert "Rewards that take over 50 rounds are lost." in text


def test_no_bound_on_the_potential_is_drawn_with_late_feedback(result):
    drawn = [row["censorship"] for row in potential_rows(result, 0, 0) if row["kind"] == "bound"]
    assert set(drawn) == {"everything seen"}


def test_the_summary_counts_what_is_open_and_given_up(result):
    rows = {row["censorship"]: row for row in result.summary().records()}
    shares = [rows["late"][f"share {name}"] for name in ("seen", "pending", "lost")]
    assert math.isclose(sum(shares), 1.0)
    assert rows["everything seen"]["share lost"] == 0.0
    for name in ("biased", "sent"):
        assert math.isnan(rows[name]["effective dimension"])


@pytest.mark.slow
def test_the_page_of_vectors_shows_late_feedback_and_claims_no_bound(tmp_path):
    actions = FiniteActions([[1.0, 0.0], [0.0, 1.0]])
    biased = Delayed([[Fixed(0), GeometricDelay(30)], Fixed(1)], window=10)
    late = Delayed(GeometricDelay(20), window=50)
    problem = LinearBandit([0.6, 0.5], 0.2, actions)
    study = Study(problem, {"late": late, "biased": biased}, LinUCB(), horizon=60, replications=2)
    write_report(simulate(study, engine="reference"), tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ">pending</th>" in text
    assert "not proved for delayed feedback" in text
    assert "Under “biased” whether a reward is seen depends on the reward" in text
    assert "no effective dimension describes it" in text
    assert "nan" not in text.lower().split("<script")[0]
