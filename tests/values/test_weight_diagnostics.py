"""Diagnostics of weights."""

import numpy as np
import pytest

from halfseen.values.influence import Sample
from halfseen.values.weight_diagnostics import diagnose, effective, pareto_k
from values import golden_log as log
from values.golden_log import EXACT, sample, weighting


def test_diagnostics_of_twelve_decisions():
    rows, w = sample(), log.TARGET[log.X, log.ARM] / log.LOGGING[log.X, log.ARM]
    found = diagnose(rows, weighting().weight, w, log.LOGGING[log.X, log.ARM])
    assert found.mean_weight == pytest.approx(0.596560846561, abs=EXACT)
    assert found.z == pytest.approx(-1.78838448542, abs=1e-11)
    assert found.effective_rows == pytest.approx(4.66389028218, abs=1e-11)
    assert found.effective_rows_actions == pytest.approx(5.65118901894, abs=1e-11)
    assert found.largest_share == pytest.approx(0.349223946785, abs=EXACT)
    assert found.smallest_propensity == 0.2
    assert found.pareto_k is None
    assert found.verdict.startswith("This log is a poor judge of the policy: the estimate rests")
    assert "4.66 effective decisions" in found.verdict


HEAVY = (1 - (np.arange(1, 1001) - 0.5) / 1000) ** -0.5


def test_shape_of_the_tail_of_a_thousand_numbers():
    assert pareto_k(np.ones(1000), HEAVY) == pytest.approx(0.497085961263, abs=1e-11)
    assert effective(np.ones(1000), HEAVY) == pytest.approx(442.3102604757, abs=1e-9)


def test_shape_of_a_tail_whose_largest_weights_are_equal():
    # 40 points of the fit's grid, one of which is 0: the likelihood there is that of its limit.
    weight = np.repeat([1.0, 2, 3, 4, 5, 6, 7], [1490, 1, 1, 1, 1, 1, 105])
    found = pareto_k(np.ones(1600), weight)
    near = pareto_k(np.ones(1600), np.where(weight == 7, 7 + 1e-12 * np.arange(1600), weight))
    assert found == pytest.approx(near, abs=1e-6)


def test_groups_have_the_tail_of_their_rows():
    values, counts = np.arange(1.0, 40.0) ** 3, np.arange(40.0, 1.0, -1)
    rows = np.repeat(values, counts.astype(int))
    assert pareto_k(counts, values) == pareto_k(np.ones(len(rows)), rows)


def test_a_heavy_tail_and_wrong_propensities_are_said():
    weight = HEAVY**3
    rows = Sample(np.ones(1000), np.ones(1000, dtype=bool), np.zeros(1000), np.zeros(1000))
    found = diagnose(rows, weight / weight.mean(), weight, np.full(1000, 0.5))
    assert found.pareto_k > 0.7
    assert any("heavy tail" in said for said in found.troubles)
    even = diagnose(rows, 0.5 + 0.01 * np.sin(np.arange(1000)), weight, np.full(1000, 0.5))
    assert any("have mean 0.5 instead of 1" in said for said in even.troubles)
    fine = diagnose(rows, 1 + 0.01 * np.sin(np.arange(1000)), weight, np.full(1000, 0.5))
    assert fine.troubles == ()
    assert fine.verdict.startswith("The log can evaluate the policy")
