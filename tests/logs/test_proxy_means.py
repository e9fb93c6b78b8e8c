"""Means where being seen depends on the reward and a proxy tells how."""

import numpy as np
import pytest

from halfseen import InvalidInput
from halfseen.logs.proxy_means import proxy_mean


def test_mean_variance_and_odds_by_a_proxy():
    found = proxy_mean([[30, 8], [10, 20]], [18, 34])
    assert found.mean == pytest.approx(0.610256410256, abs=1e-12)
    assert found.variance == pytest.approx(1.22851471898, abs=1e-11)
    assert found.odds == pytest.approx([0.169230769231, 1.61538461538], abs=1e-11)
    assert found.identified
    assert found.possible
    assert found.p_value is None


def law(tilt=0.0):
    """Return the law of (M, R, O): three groups, being seen .8 or .3 by the reward."""
    p_m_r = np.array([[0.4, 0.1], [0.15, 0.2], [0.05, 0.1]])
    p_seen = np.array([[0.8, 0.3]] * 3)
    p_seen[0, 0] -= tilt
    return p_m_r * p_seen, (p_m_r * (1 - p_seen)).sum(axis=1)


def test_exact_counts_give_the_exact_mean_with_more_groups_than_values():
    seen, missing = law()
    found = proxy_mean(1e4 * seen, 1e4 * missing)
    assert found.mean == pytest.approx(0.4, abs=1e-10)
    assert found.odds == pytest.approx([0.25, 7 / 3], abs=1e-9)
    assert found.p_value == pytest.approx(1.0, abs=1e-6)
    seen, missing = law(tilt=0.3)  # being seen depends on the group too
    assert proxy_mean(1e4 * seen, 1e4 * missing).p_value < 1e-3


def test_standard_error_and_test_hold_on_many_logs():
    rng = np.random.default_rng(7)
    seen, missing = law()
    cells = np.concatenate([seen.ravel(), missing])
    found = []
    for counts in rng.multinomial(4000, cells, size=800):
        one = proxy_mean(counts[:6].reshape(3, 2), counts[6:])
        found.append((one.mean, one.variance, one.p_value))
    mean, variance, p = np.array(found).T
    assert mean.mean() == pytest.approx(0.4, abs=0.005)
    assert np.sqrt(np.median(variance) / 4000) == pytest.approx(mean.std(), rel=0.12)
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=0.025)  # three errors of 800 logs


def test_a_proxy_that_says_nothing_identifies_nothing():
    found = proxy_mean([[30, 30], [10, 10]], [18, 34])
    assert not found.identified
    assert np.isnan(found.mean)
    assert not proxy_mean([[30, 8]], [18]).identified  # fewer groups than values
    assert not proxy_mean([[30, 1], [10, 20]], [1, 60]).possible


def test_counts_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInput, match="must have 2 rows of 2 counts"):
        proxy_mean([[1, 2, 3]], [1, 2])
    with pytest.raises(InvalidInput, match="at least one reward"):
        proxy_mean([[0, 0], [0, 0]], [1, 2])
