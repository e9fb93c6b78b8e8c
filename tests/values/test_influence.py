"""Estimators against values computed by hand, by Open Bandit Pipeline and by DoubleML."""

import math

import numpy as np
import pytest

from halfseen.values.influence import (
    ESTIMATORS,
    Sample,
    Weighting,
    empirical_bernstein,
    influence,
)
from values import golden_log as log
from values.golden_log import EXACT, sample, weighting

PER_ARM = np.array([0.75, 0.75, 0.5])


@pytest.mark.parametrize(
    ("name", "p", "value", "error"),
    [
        ("DM", log.SEEN, 0.465, None),
        ("IPW", log.SEEN, 0.303406084656, 0.204881539996),
        ("SNIPW", log.SEEN, 0.508592017738, 0.230819061797),
        ("DR", log.SEEN, 0.493802910053, 0.086149400576),
        ("SNDR", log.SEEN, 0.513281596452, 0.131184516510),
        ("DM", PER_ARM, 0.465, None),
        ("IPW", PER_ARM, 0.278009259259, 0.165300396810),
        ("SNIPW", PER_ARM, 0.456306990881, 0.216736480583),
        ("DR", PER_ARM, 0.476342592593, 0.079864282863),
        ("SNDR", PER_ARM, 0.483617021277, 0.125293215766),
    ],
)
def test_estimates_and_standard_errors_of_twelve_decisions(name, p, value, error):
    found = influence(name, sample(), weighting(p=p))
    assert found.estimate(sample()) == pytest.approx(value, abs=EXACT)
    if error is not None:
        assert found.error(sample()) == pytest.approx(error, abs=EXACT)


@pytest.mark.parametrize(
    ("name", "threshold", "value"),
    [
        ("clipped IPW", 1.5, 0.220072751323),
        ("clipped DR", 1.5, 0.471580687831),
        ("switch-DR", 1.5, 0.459080687831),
        ("DRos", 2.0, 0.464612754557),
    ],
)
def test_thresholds_act_on_the_weight_of_action_and_observation(name, threshold, value):
    found = influence(name, sample(), weighting(), threshold)
    assert found.estimate(sample()) == pytest.approx(value, abs=EXACT)


def test_lower_bound_of_maurer_and_pontil():
    rows = sample()
    found = influence("clipped IPW", rows, weighting(), 1.5)
    bound = empirical_bernstein(found.estimate(rows), found.variance(rows), 12, 1.5, 0.05)
    assert bound == pytest.approx(-1.293340852472, abs=EXACT)


def test_difference_of_two_policies_is_paired():
    rows = sample()
    both = influence("DR", rows, weighting()) - influence("DR", rows, weighting(log.SECOND))
    assert both.estimate(rows) == pytest.approx(-0.210363756614, abs=EXACT)
    assert both.error(rows) == pytest.approx(0.150926013861, abs=EXACT)


@pytest.mark.parametrize(
    ("name", "threshold", "value"),
    [
        ("DM", math.inf, 0.465),
        ("IPW", math.inf, 0.481944444444),
        ("SNIPW", math.inf, 0.541341653666),
        ("DR", math.inf, 0.534444444444),
        ("SNDR", math.inf, 0.543003120125),
        ("switch-DR", 1.4, 0.455277777778),
        ("DRos", 2.0, 0.483947993871),
        ("clipped IPW", 1.4, 0.377777777778),
    ],
)
def test_equal_to_open_bandit_pipeline_where_nothing_is_missing(name, threshold, value):
    rows = sample(log.COMPLETE)
    found = influence(name, rows, weighting(p=np.ones(3)), threshold)
    assert found.estimate(rows) == pytest.approx(value, abs=EXACT)


def test_equal_to_the_sample_selection_model_of_doubleml():
    # DoubleMLSSM 0.11.4, missing-at-random, learners that return these nuisances; its standard
    # error divides by n.
    kept = log.ARM < 2
    x, arm, reward = log.X[kept], log.ARM[kept], log.REWARD[kept]
    rows, chance = sample(reward), np.where(x == 0, 0.375, 2 / 3)

    def always(k):
        w = (arm == k) / np.where(arm == 1, chance, 1 - chance)
        return Weighting(w / log.SEEN[x, arm], log.Q[x, arm], log.Q[x, k])

    found = influence("DR", rows, always(1)) - influence("DR", rows, always(0))
    assert found.estimate(rows) == pytest.approx(0.195138888888889, abs=1e-14)
    assert found.error(rows) * np.sqrt(7 / 8) == pytest.approx(0.327267489883144, abs=1e-14)


def test_groups_of_equal_decisions_say_what_their_rows_say():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 5, 400)
    seen = kind != 2
    reward = np.where(seen, rng.normal(size=400) + kind, 0.0)
    weight, fitted, expected = rng.uniform(0.5, 3.0, (3, 5))
    rows = Sample(np.ones(400), seen, reward, np.zeros(400))
    count = np.bincount(kind, minlength=5).astype(float)
    mean = np.bincount(kind, reward, 5) / count
    within = np.bincount(kind, reward**2, 5) / count - mean**2
    groups = Sample(count, np.arange(5) != 2, mean, within)
    for name in ESTIMATORS:
        one = influence(name, rows, Weighting(weight[kind], fitted[kind], expected[kind]), 2.0)
        other = influence(name, groups, Weighting(weight, fitted, expected), 2.0)
        assert other.estimate(groups) == pytest.approx(one.estimate(rows), rel=1e-12)
        assert other.error(groups) == pytest.approx(one.error(rows), rel=1e-10)
