"""Every ± 95% of a study is Student's, and holds for few replications too."""

import numpy as np
import pytest
from example_studies import small_study
from scipy import stats

from halfseen import Result, simulate, summarize, sweep
from halfseen.report.study.measures import final_regret
from halfseen.studies.student_intervals import mean_and_half, mean_interval


def test_tables_sweeps_comparisons_and_pages_agree_on_the_interval():
    study = small_study(replications=3, horizon=80)
    result = simulate(study, engine="reference")
    final = result.tracks["regret"][0, 0, 0][:, -1]
    expected = stats.t.interval(0.95, 2, final.mean(), stats.sem(final))
    half = (expected[1] - expected[0]) / 2
    swept = sweep(study, "horizon", [80], engine="reference").summary().records()[0]
    kept = summarize(study, engine="reference").table().records()[0]
    for row in (result.summary().records()[0], swept, kept):
        assert row["± 95%"] == pytest.approx(half)
    assert final_regret(result, (0, 0, 0)).half_width == pytest.approx(half)
    last = result.plot().to_dict()["data"]["values"][len(study.rounds_recorded) - 1]
    assert last["high"] - last["regret"] == pytest.approx(half, rel=1e-3)


def test_the_interval_of_three_replications_covers_in_95_of_100_samples():
    draws = np.random.default_rng(1).normal(size=(3, 20_000))
    mean, half = mean_and_half(draws)
    assert np.mean(np.abs(mean) <= half) == pytest.approx(0.95, abs=0.006)  # 1.96 errors: 0.81


def test_one_replication_has_no_interval():
    result = Result.empty(small_study(replications=1))
    assert result.summary().records()[0]["± 95%"] is None
    assert mean_interval(np.array([2.0])).half_width is None
