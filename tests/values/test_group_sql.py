"""Decisions of long logs, grouped by intervals of rewards and probabilities."""

import numpy as np
import pytest

from halfseen import value
from halfseen.logs.columns import Columns
from halfseen.logs.counts import read_decisions
from halfseen.logs.source import open_log
from halfseen.values.influence import Sample, Weighting, influence
from halfseen.values.log_groups import read_groups


def long_log(rows, real):
    """Return a log whose propensities, and rewards, differ from row to row."""
    rng = np.random.default_rng([rows, real])
    chance = np.exp(rng.uniform(np.log(0.02), 0.0, rows))
    reward = rng.normal(size=rows) + 0.5 / chance if real else rng.integers(0, 2, rows)
    return {
        "arm": rng.integers(0, 3, rows),
        "group": np.array(["u", None], dtype=object)[rng.integers(0, 2, rows)],
        "paid": np.where(rng.random(rows) < 0.3 + 0.6 * chance, reward, np.nan),
        "chance": chance,
        "pi": rng.random(rows) * (rng.random(rows) < 0.9),
        "p": 0.3 + 0.6 * chance,
    }


def grouped(log, exact_rows):
    columns = Columns("arm", "paid", propensity="chance", context="group", features=("pi", "p"))
    decisions = read_decisions(open_log(log), columns)
    return read_groups(decisions, ("pi", "p"), target="pi", observe="p", exact_rows=exact_rows)


@pytest.mark.parametrize("real", [False, True])
def test_intervals_keep_sums_of_weights_and_of_weighted_rewards(real):
    log = long_log(60_000, real)
    found = grouped(log, exact_rows=1000)
    assert len(found.arm) < 40_000
    weight = found.extra["pi"] / found.propensity / found.extra["p"]
    seen = ~np.isnan(log["paid"])
    exact = log["pi"] / log["chance"] / log["p"]
    count, c = found.sample.count, np.where(found.sample.seen, weight, 0.0)
    assert count.sum() == 60_000
    assert count @ weight == pytest.approx(exact.sum(), rel=1e-9)
    assert count @ c == pytest.approx(exact[seen].sum(), rel=1e-9)
    paid = np.where(seen, log["paid"], 0.0)
    assert count @ (c * found.sample.reward) == pytest.approx((exact * paid).sum(), rel=1e-9)
    assert count @ c**2 == pytest.approx((exact[seen] ** 2).sum(), rel=0.01)
    assert c.max() == pytest.approx(exact[seen].max())


def test_intervals_keep_what_is_no_probability():
    log = long_log(20_000, real=False)
    log["chance"][:3], log["pi"][3:6] = [0.0, np.nan, 1.5], [-1.0, np.nan, 2.0]
    found = grouped(log, exact_rows=1000)
    wrong = ~((found.propensity > 0.0) & (found.propensity <= 1.0))
    assert found.sample.count[wrong].sum() == 3
    wrong = ~((found.extra["pi"] >= 0.0) & (found.extra["pi"] <= 1.0))
    assert found.sample.count[wrong].sum() == 3


@pytest.mark.slow
def test_a_million_propensities_give_the_estimates_of_single_rows():
    log = long_log(1_050_000, real=False)
    target = np.array([0.5, 0.3, 0.2])
    found = value(
        log,
        target=dict(zip("012", target.tolist(), strict=True)),
        action="arm",
        reward="paid",
        propensity="chance",
        observe_column="p",
    )
    seen, one = ~np.isnan(log["paid"]), np.ones(len(log["arm"]))
    rows = Sample(one, seen, np.where(seen, log["paid"], 0.0), 0.0 * one)
    q = np.array([log["paid"][seen & (log["arm"] == a)].mean() for a in range(3)])
    weight = target[log["arm"]] / log["chance"] / log["p"]
    policy = Weighting(weight, q[log["arm"]], np.full(len(one), target @ q))
    by = {one.name: one for one in found.alternatives}
    for name in ("IPW", "SNIPW", "SNDR", "clipped IPW", "switch-DR", "DR"):
        exact = influence(name, rows, policy, 10.0)
        assert by[name].value == pytest.approx(exact.estimate(rows), rel=1e-3)
    ipw = influence("IPW", rows, policy)
    assert by["IPW"].value == pytest.approx(ipw.estimate(rows), rel=1e-9)
    assert by["IPW"].standard_error == pytest.approx(ipw.error(rows), rel=1e-3)
