"""The tie between a unit's rewards and how often it is seen, against sums over rows."""

import re

import numpy as np
import pandas as pd
import pytest

from halfseen.logs.warnings.earlier_rows import tie_to_earlier_rows
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


def offers_until_a_sale(seed, users=900, differ=1.0):
    """Return a log in which a user gets offers until a sale was recorded; nothing is tied."""
    rng = np.random.default_rng(seed)
    rows = []
    for user in range(users):
        taste, day = differ * rng.normal() - 1.2, rng.uniform(0, 55)
        for _ in range(15):
            arm = int(rng.integers(0, 3))
            sold = float(rng.random() < 1 / (1 + np.exp(-taste - 0.2 * arm)))
            seen = rng.random() < [0.3, 0.6, 0.85][arm]
            rows.append((day, "abc"[arm], sold if seen else None, user))
            if seen and sold:
                break
            day += rng.exponential(1.0)
    log = pd.DataFrame(rows, columns=["t", "offer", "sold", "user"])
    log = log[log.t < 60].sort_values("t").reset_index(drop=True)
    log["day"] = pd.Timestamp("2026-01-05") + pd.to_timedelta(log.t, unit="D")
    return log


OFFERS = {"action": "offer", "reward": "sold", "unit": "user"}


def count_ties(seeds, differ):
    logs = (offers_until_a_sale(seed, differ=differ) for seed in seeds)
    found = [findings(log, {**OFFERS, "time": "day"}).warnings for log in logs]
    return sum("units-tied" in {w.kind for w in warnings} for warnings in found)


@pytest.mark.parametrize("differ", [0.0, 1.0])
def test_users_whose_rows_stop_after_an_answer_are_not_tied(differ):
    assert count_ties(range(3), differ) == 0


@pytest.mark.slow
@pytest.mark.parametrize("differ", [0.0, 1.0])
def test_users_whose_rows_stop_after_an_answer_are_seldom_called_tied(differ):
    assert count_ties(range(100, 200), differ) <= 2


def test_without_times_the_warning_says_what_else_looks_the_same():
    log = offers_until_a_sale(0)
    warnings = {w.kind: w for w in findings(log, OFFERS).warnings}
    effect = warnings["units-tied"].effect
    assert "A user whose rows stop after an answer looks the same" in effect
    assert warnings["units-tied"].remedy.startswith("Name time= if there is one.")


def test_the_mean_quoted_is_the_mean_of_the_audit():
    log = offers_until_a_sale(0)
    (warning,) = (w for w in findings(log, OFFERS).warnings if w.kind == "units-tied")
    name = re.search("arm “(.)”", warning.finding)[1]
    of_arm = log[log.offer == name]
    own = of_arm.groupby("user").sold.transform("mean")
    expected = f"is {own.mean():.4g} instead of {of_arm.sold.mean():.4g}."
    assert expected.replace("0.", ".") in warning.finding.replace("0.", ".")


@pytest.mark.parametrize("seed", range(3))
def test_a_row_is_judged_by_earlier_rows_of_its_unit_only(seed):
    rng = np.random.default_rng(seed)
    frame = rows(seed, 150).assign(time=lambda f: rng.integers(0, 9, len(f)))
    frame = frame.sort_values(["unit", "time"]).reset_index(drop=True)
    reward = frame.reward.where(frame.seen).to_numpy()
    rate = frame.groupby("cell").seen.transform("mean").to_numpy()
    pairs = []
    for _, group in frame.groupby("unit"):
        for i in group.index:
            before = group.index[group.time < group.time[i]]
            for j in before[frame.seen[before]]:
                size = len(before)
                pairs.append((i, j, frame.cell[j], int(np.log2(size)), size + 6, reward[j]))
    pairs = pd.DataFrame(pairs, columns=["i", "j", "cell", "level", "by", "reward"])
    cells = pairs.groupby(["cell", "level"])
    mean = cells.apply(lambda g: np.average(g.reward, weights=1 / g.by), include_groups=False)
    pairs["centre"] = mean.loc[list(zip(pairs.cell, pairs.level, strict=True))].to_numpy()
    parts = (frame.seen.to_numpy() - rate)[pairs.i] * (pairs.reward - pairs.centre) / pairs.by
    q = parts.groupby(frame.unit.to_numpy()[pairs.i]).sum()
    [(z, units)] = tie_to_earlier_rows(
        frame.unit.to_numpy(), frame.time.to_numpy(), frame.cell.to_numpy(), reward
    )
    assert z == pytest.approx(q.sum() / np.sqrt((q**2).sum()), rel=1e-9)
    assert units == pytest.approx((q**2).sum() ** 2 / (q**4).sum(), rel=1e-9)
