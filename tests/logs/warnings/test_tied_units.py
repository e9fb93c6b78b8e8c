"""The tie between a unit's rewards and how often it is seen, against sums over rows."""

import numpy as np
import pandas as pd
import pytest

from halfseen.logs.warnings.tied_units import Entries, alikeness, tie
from logs.warnings.made_logs import findings


def rows(seed, n=400):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"unit": rng.integers(0, 60, n), "cell": rng.integers(0, 3, n)})
    frame["seen"] = rng.random(n) < np.array([0.3, 0.6, 0.8])[frame.cell]
    frame["reward"] = rng.normal(frame.cell, 1.0)
    frame = frame[frame.groupby("unit").unit.transform("size") > 1]
    return frame.assign(unit=np.unique(frame.unit, return_inverse=True)[1])


def entries(frame):
    shown = frame.assign(reward=frame.reward.where(frame.seen, 0.0))
    sums = shown.groupby(["unit", "cell"]).agg(
        n=("seen", "size"), k=("seen", "sum"), s=("reward", "sum"),
        ss=("reward", lambda r: (r**2).sum()),
    ).reset_index()  # fmt: skip
    columns = (sums[c].to_numpy() for c in ("unit", "cell", "n", "k", "s"))
    return Entries(*columns), sums.ss.to_numpy()


@pytest.mark.parametrize("seed", range(3))
def test_every_row_is_judged_by_the_other_rows_of_its_unit(seed):
    frame = rows(seed)
    rate = frame.groupby("cell").seen.transform("mean")
    size = frame.groupby("unit").unit.transform("size")
    level = np.floor(np.log2(size))
    mean = frame.reward.where(frame.seen).groupby([frame.cell, level]).transform("mean")
    excess = frame.seen - rate
    others = excess.groupby(frame.unit).transform("sum") - excess
    parts = ((frame.reward - mean) * others / (size + 6)).where(frame.seen, 0.0)
    q = parts.groupby(frame.unit).sum()
    found = tie(entries(frame)[0])
    assert found.z == pytest.approx(q.sum() / np.sqrt((q**2).sum()), rel=1e-9)
    assert found.units == pytest.approx((q**2).sum() ** 2 / (q**4).sum(), rel=1e-9)


def test_alikeness_is_the_correlation_of_pairs():
    frame = rows(5)
    counted, squares = entries(frame)
    size = frame.groupby("unit").unit.transform("size")
    shown = frame[frame.seen].assign(level=np.floor(np.log2(size)))
    shown["reward"] -= shown.groupby(["cell", "level"]).reward.transform("mean")
    products = [
        a * b
        for _, group in shown.groupby("unit")
        for i, a in enumerate(group.reward)
        for j, b in enumerate(group.reward)
        if i != j
    ]
    expected = np.mean(products) / (shown.reward**2).mean()
    assert alikeness(counted, squares) == pytest.approx(expected, rel=1e-9)


def test_the_statistic_is_centred_when_rewards_and_rates_of_users_differ_by_themselves():
    rng = np.random.default_rng(8)
    found = []
    for _ in range(400):
        unit = rng.integers(0, 150, 1000)
        size = np.bincount(unit, minlength=150)
        seen = rng.random(1000) < rng.beta(2, 2, 150)[unit]
        reward = rng.normal(rng.normal(size=150)[unit] + 0.8 * (size > 7)[unit], 1.0)
        k, s = (np.bincount(unit, v, 150) for v in (seen, seen * reward))
        some = size > 1
        units = np.arange(some.sum())
        found.append(tie(Entries(units, np.flatnonzero(some) % 3, size[some], k[some], s[some])).z)
    assert abs(np.mean(found)) < 4 / np.sqrt(400)
    assert np.std(found) == pytest.approx(1.0, abs=0.15)


def test_the_sentence_says_tied_and_how_far_the_mean_moves():
    rng = np.random.default_rng(1)
    user = rng.integers(0, 400, 4000)
    mood = rng.normal(size=400)[user]
    seen = rng.random(4000) < 1 / (1 + np.exp(-mood))
    log = pd.DataFrame({"a": 0, "user": user})
    log["r"] = np.where(seen, 10.0 + mood + rng.normal(size=4000), np.nan)
    (warning,) = findings(log, {"action": "a", "reward": "r", "unit": "user"}).warnings
    assert warning.kind == "units-tied"
    assert warning.finding.startswith("Where a user is seen less often, its rewards are lower.")
    assert "the mean of arm “0” is 10." in warning.finding
    assert "depends" not in str(warning)
