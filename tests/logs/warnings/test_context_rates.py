"""Contexts of any size are compared with the right spread."""

import re

import numpy as np
import pytest
from scipy.special import chdtrc

from halfseen.logs.warnings.context_rates import pearson_law
from logs.warnings.made_logs import Parts, findings


@pytest.mark.slow
@pytest.mark.parametrize(("size", "seen"), [(3, 30), (8, 900), (40, 60)])
def test_mean_and_variance_of_the_statistic_are_those_of_shuffled_rows(size, seen):
    rng = np.random.default_rng(0)
    n = rng.integers(1, 2 * size, 300)
    total = int(n.sum())
    k = rng.multivariate_hypergeometric(n, seen, 8_000)
    rate = seen / total
    chi = ((k - n * rate) ** 2 / n).sum(axis=1) / (rate * (1 - rate))
    mean, variance = pearson_law(*(np.array([float(x)]) for x in (total, seen, 300, (1 / n).sum())))
    assert chi.mean() == pytest.approx(mean[0], rel=0.01)
    assert chi.var() == pytest.approx(variance[0], rel=0.09)


@pytest.mark.parametrize(("groups", "p"), [(400, 0.02), (20, 0.3)])
def test_sparse_contexts_are_called_different_in_1_of_1000_logs(groups, p):
    rng = np.random.default_rng(1)
    n = np.bincount(rng.integers(0, groups, 4000), minlength=groups)
    n = n[n > 0]
    seen = max(2, round(p * 4000))
    k = rng.multivariate_hypergeometric(n, seen, 8_000)
    chi = ((k - n * seen / 4000) ** 2 / n).sum(axis=1) / (seen / 4000 * (1 - seen / 4000))
    values = (float(x) for x in (4000, seen, len(n), (1 / n).sum()))
    mean, variance = pearson_law(*(np.array([x]) for x in values))
    scale = 2 * mean[0] / variance[0]
    assert (chdtrc(mean[0] * scale, chi * scale) < 1e-3).mean() < 0.005


def two_contexts(slow, factor=1.0):
    """Return the warning about contexts of a log that ends now."""
    parts = Parts(np.random.default_rng(4))
    parts.context = parts.rng.integers(0, 2, parts.rows)
    parts.delay = parts.rng.exponential(np.array([2.0, slow])[parts.context])
    parts.factor = np.array([1.0, factor])[parts.context]
    parts.roles["context"] = "context"
    parts.ends_now = True
    frame, roles = parts.log()
    found = {w.kind: w for w in findings(frame, roles).warnings}
    return found.get("depends-on-context")


def test_a_rate_judged_within_a_wait_is_called_so_and_delay_named_as_the_other_cause():
    warning = two_contexts(slow=60.0)
    assert re.search(r"how often rewards are seen within \d+ days differs", warning.finding)
    assert "Contexts that only answer later look the same." in warning.effect


def test_a_difference_of_rates_is_told_from_one_of_delays_where_rows_are_old_enough():
    assert two_contexts(slow=6.0) is None
    warning = two_contexts(slow=6.0, factor=0.6)
    assert "look the same" not in warning.effect
