"""Means by arm and context in the audit."""

import numpy as np
import pytest

from halfseen import audit


def rows_of(cells):
    """Return a log from cells (arm, group, rows, seen, ones)."""
    rows = {"arm": [], "group": [], "paid": []}
    for arm, group, count, seen, ones in cells:
        rows["arm"] += [arm] * count
        rows["group"] += [group] * count
        rows["paid"] += [1.0] * ones + [0.0] * (seen - ones) + [None] * (count - seen)
    return rows


GOLDEN = [("a", "m0", 60, 48, 14), ("a", "m1", 40, 8, 7), ("b", "m0", 50, 25, 10)]


def audited(cells, **more):
    return audit(rows_of(cells), action="arm", reward="paid", context="group", **more)


def test_means_by_context_of_a_log():
    found = audited(GOLDEN).context_means
    first, second = found.strata
    assert first.mean == pytest.approx(0.525, abs=1e-12)
    assert first.seen_mean == pytest.approx(21 / 56)
    means, seen = np.array([14 / 48, 7 / 8]), np.array([48, 8])  # unbiased variances
    within = [0.6, 0.4] @ (means * (1 - means) * seen / (seen - 1) / (seen / [60, 40]))
    between = 0.6 * 0.4 * (means[1] - means[0]) ** 2
    assert first.standard_error == pytest.approx(np.sqrt((within + between) / 100))
    assert second.mean == second.seen_mean == pytest.approx(0.4)
    assert found.findings[0].endswith(
        "a is 0.525 (95% interval 0.388 to 0.662) and not 0.375, the mean of those seen."
    )
    assert not found.proxies[1].identified  # one group tells no two rewards apart


def test_a_context_as_proxy_gives_the_mean_by_the_odds_of_each_reward():
    cells = [("a", "m0", 560, 380, 80), ("a", "m1", 640, 300, 200)]  # the golden, ten times
    found = audited(cells).context_means
    assert found.proxies[0].mean == pytest.approx(0.610256410256, abs=1e-12)
    assert "the context is a proxy of the reward, the mean of a is 0.61" in found.findings[-1]
    assert found.table.records()[0]["if it is a proxy"] == found.proxies[0].mean


def test_the_audit_says_what_the_context_explains():
    cells = [(arm, g, 10 * n, 10 * s, 10 * o) for arm, g, n, s, o in GOLDEN]
    found = audited(cells)
    assert "If the context explains which rewards are missing, the mean of a is 0.525" in str(found)
    plain = found.to_dict()["context_means"]
    assert plain[0]["mean"] == pytest.approx(0.525)
    assert plain[1]["proxy"]["mean"] is None
    assert audit(rows_of(cells), action="arm", reward="paid").context_means is None


def test_contexts_of_no_consequence_are_not_mentioned():
    cells = [("a", "m0", 100, 50, 25), ("a", "m1", 100, 50, 25)]
    assert audited(cells).context_means.findings == ()


def test_contexts_of_which_one_reward_was_seen_have_the_spread_of_all():
    cells = [("a", f"m{i}", 4, 1, i % 2) for i in range(40)]
    found = audited(cells).context_means
    one = found.strata[0]
    spread = 40 * 0.25 / 39
    assert one.standard_error == pytest.approx(np.sqrt((0.25 + 4 * spread) / 160))
    assert not found.proxies[0].identified  # 4 decisions per context tell no odds


@pytest.mark.slow
@pytest.mark.parametrize("contexts", [5, 100, 500])
def test_intervals_of_means_by_context_hold_the_truth_in_93_of_100(contexts):
    held, logs = [], 150
    for seed in range(logs):
        rng = np.random.default_rng([seed, contexts])
        group, effect = rng.integers(0, contexts, 2000), rng.normal(size=contexts)
        chance = 1 / (1 + np.exp(-effect[group]))
        reward = np.where(rng.random(2000) < 0.2 + 0.6 * chance, rng.random(2000) < chance, np.nan)
        rows = {"arm": np.zeros(2000), "group": group, "paid": reward}
        one = audit(rows, action="arm", reward="paid", context="group").context_means.strata[0]
        known = np.isin(group, group[~np.isnan(reward)])
        held.append(abs(one.mean - chance[known].mean()) <= 1.96 * one.standard_error)
    assert np.mean(held) >= 0.93 - 2 * np.sqrt(0.95 * 0.05 / logs)
