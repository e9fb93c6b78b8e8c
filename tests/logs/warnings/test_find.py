"""Every warning is raised by what it warns of, and not without it."""

import numpy as np
import pandas as pd
import pytest

from halfseen import audit

N = 6000


@pytest.fixture
def clean():
    rng = np.random.default_rng(11)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 3, N),
            "r": rng.normal(1.0, 1.0, N).round(6),
            "seen": rng.random(N) < 0.6,
            "t": np.arange(N),
            "back": np.arange(N) + 10 ** rng.uniform(0, 3, N),
            "group": rng.integers(0, 4, N),
            "unit": rng.integers(0, N // 3, N),
            "chance": 1 / 3,
        }
    )
    frame["full"] = frame.r
    frame.loc[~frame.seen, "r"] = None
    return frame


def kinds(frame, **columns):
    found = audit(frame, action="a", **columns)
    for caution in found.warnings:
        assert caution.finding.endswith(".")
        assert caution.effect.endswith(".")
        assert caution.remedy.endswith(".")
    return [caution.kind for caution in found.warnings]


def test_a_clean_log_has_no_warning(clean):
    columns = {"reward": "r", "time": "t", "feedback_time": "back", "context": "group"}
    assert kinds(clean, unit="unit", propensity="chance", **columns) == []
    assert kinds(clean, reward="full", observed="seen") == []


def test_arms_never_or_hardly_seen(clean):
    clean.loc[clean.a == 2, "r"] = None
    assert kinds(clean, reward="r") == ["never-seen"]
    clean.loc[clean.index[clean.a == 2][:3], "r"] = 1.0
    assert kinds(clean, reward="r") == ["few-seen"]


def test_propensity_of_zero(clean):
    for wrong in (1.5, -0.1, 0.0):
        clean.loc[5, "chance"] = wrong
        assert kinds(clean, reward="r", propensity="chance") == ["propensity-zero"]


def test_zeros_that_look_imputed(clean):
    filled = clean.assign(r=clean.r.fillna(0.0))
    assert kinds(filled, reward="r") == ["zeros-look-imputed"]
    counts = clean.assign(r=np.random.default_rng(0).poisson(1.0, N))
    assert kinds(counts, reward="r") == []
    binary = clean.assign(r=(clean.full > 1).astype(int))
    assert kinds(binary, reward="r") == ["zeros-may-be-missing"]
    partly = clean.assign(r=(clean.full > 1).where(clean.seen))
    assert kinds(partly, reward="r") == []


def test_rewards_that_decide_whether_they_are_seen(clean):
    rng = np.random.default_rng(1)
    clean["picky"] = rng.random(N) < 1 / (1 + np.exp(-clean.full))
    assert kinds(clean, reward="full", observed="picky") == ["depends-on-reward-hidden"]
    clean["back"] = clean.t + 10 ** (rng.uniform(0, 3, N) + 0.3 * clean.full)
    columns = {"reward": "r", "time": "t", "feedback_time": "back"}
    assert kinds(clean, **columns) == ["depends-on-reward-late"]
    mood = rng.normal(size=N)[clean.unit]
    shown = rng.random(N) < 1 / (1 + np.exp(-2 * mood))
    again = clean.assign(r=np.where(shown, mood + 0.1 * rng.normal(size=N), np.nan))
    assert kinds(again, reward="r", unit="unit") == ["depends-on-reward-repeated"]


def test_rates_that_depend_on_the_group(clean):
    clean.loc[(clean.group == 0) & (clean.index % 2 == 0), "r"] = None
    assert kinds(clean, reward="r", context="group") == ["depends-on-context"]


def test_rows_twice_without_arm_or_contradicting(clean):
    double = pd.concat([clean, clean.iloc[:100]])
    assert "duplicates" in kinds(double, reward="r", time="t")
    clean["a"] = clean.a.astype("Int64")
    clean.loc[:9, "a"] = None
    clean.loc[20:29, "seen"] = True
    clean.loc[20:29, "full"] = None
    assert kinds(clean, reward="full", observed="seen") == ["no-action", "observed-without-reward"]
