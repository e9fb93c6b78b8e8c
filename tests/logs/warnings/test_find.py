"""Every warning is raised by what it warns of, and not without it."""

import json

import numpy as np
import pandas as pd
import pytest

from halfseen import audit
from halfseen.logs.warnings.log_warning import CHANCE

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
            "back": np.arange(N) + 10 ** rng.uniform(0, 2, N),
            "group": rng.integers(0, 4, N),
            "unit": rng.integers(0, N // 3, N),
            "chance": 1 / 3,
        }
    )
    frame["full"] = frame.r
    frame.loc[~frame.seen, ["r", "back"]] = None
    return frame


def kinds(frame, **columns):
    found = audit(frame, action="a", **columns)
    for warning in found.warnings:
        assert warning.finding.endswith(".")
        assert warning.effect.endswith(".")
        assert warning.remedy.endswith(".")
    return [warning.kind for warning in found.warnings]


def states(found):
    return {check.kind: check.state for check in found.checks}


def test_a_clean_log_has_no_warning_and_says_what_was_looked_for(clean):
    columns = {"reward": "r", "time": "t", "feedback_time": "back", "context": "group"}
    found = audit(clean, action="a", unit="unit", propensity="chance", **columns)
    assert found.warnings == ()
    assert states(found) == {
        "written-values": "not found",
        "constant-arms": "not found",
        "zeros-follow": "cannot be looked for",
        "hidden-differ": "cannot be looked for",
        "late-differ": "not found",
        "units-tied": "cannot be looked for",
        "drift": "not found",
        "weekly": "cannot be looked for",
        "depends-on-context": "not found",
        "duplicates": "not found",
    }
    text = str(found)
    assert "Tested and not found:\n  values written for missing ones" in text
    assert "the rewards of one unit are unrelated to each other" in text
    assert CHANCE in text
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [check["state"] for check in content["checks"]] == list(states(found).values())
    assert kinds(clean, reward="full", observed="seen") == []


def test_columns_that_were_not_named_cannot_be_looked_at(clean):
    found = audit(clean, action="a", reward="r")
    cannot = {kind for kind, state in states(found).items() if state == "cannot be looked for"}
    assert cannot == set(states(found)) - {"written-values", "constant-arms"}
    assert "a tie between a unit’s rewards and how often it is seen: name the column with" in str(
        found
    )


def test_arms_never_or_hardly_seen(clean):
    clean.loc[clean.a == 2, "r"] = None
    assert kinds(clean, reward="r") == ["never-seen"]
    clean.loc[clean.index[clean.a == 2][:3], "r"] = 1.0
    assert kinds(clean, reward="r") == ["few-seen"]


def test_propensity_of_zero(clean):
    for wrong in (1.5, -0.1, 0.0):
        clean.loc[5, "chance"] = wrong
        assert kinds(clean, reward="r", propensity="chance") == ["propensity-zero"]


def test_only_what_happened_is_written(clean):
    clean.loc[clean.r.notna(), "r"] = 1.0
    found = audit(clean, action="a", reward="r", time="t")
    first = found.warnings[0]
    assert (first.kind, first.voids) == ("one-value", True)
    assert str(found).startswith("Warning: Every reward in this log is 1.")
    mended = audit(clean, action="a", reward="r", time="t", empty_means=0)
    assert mended.seen == N
    assert mended.counts.mean == pytest.approx(clean.r.notna().groupby(clean.a).mean(), rel=1e-12)
    assert "one-value" not in [w.kind for w in mended.warnings]


def test_hidden_rewards_that_differ(clean):
    rng = np.random.default_rng(1)
    clean["picky"] = rng.random(N) < 1 / (1 + np.exp(-clean.full))
    assert kinds(clean, reward="full", observed="picky", time="t") == ["hidden-differ"]


def test_hidden_rewards_that_are_higher_in_one_arm_and_lower_in_another(clean):
    rng = np.random.default_rng(1)
    sign = np.array([1.0, -1.0, 0.0])[clean.a]
    clean["picky"] = rng.random(N) < 1 / (1 + np.exp(-sign * clean.full))
    found = audit(clean, action="a", reward="full", observed="picky", time="t")
    assert [w.kind for w in found.warnings] == ["hidden-differ"]
    assert "observed ones of arm “" in found.warnings[0].finding


def test_a_trend_in_mean_and_rate_is_no_difference_of_hidden_rewards(clean):
    rng = np.random.default_rng(2)
    clean["full"] += 3 * clean.t / N
    clean["later"] = rng.random(N) < 0.2 + 0.6 * clean.t / N
    assert "hidden-differ" not in kinds(clean, reward="full", observed="later", time="t")


def test_rates_that_depend_on_the_group(clean):
    clean.loc[(clean.group == 0) & (clean.index % 2 == 0), "r"] = None
    assert kinds(clean, reward="r", context="group") == ["depends-on-context"]


def test_an_effect_too_small_to_matter_is_a_note():
    rng = np.random.default_rng(3)
    n = 400_000
    seen = rng.random(n) < np.where(np.arange(n) % 2, 0.50, 0.51)
    frame = pd.DataFrame({"a": 0, "o": seen, "g": np.arange(n) % 2})
    found = audit(frame, action="a", observed="o", context="g")
    assert found.warnings == ()
    assert states(found)["depends-on-context"] == "small"
    assert found.notes[0].startswith("Too small to matter: Within an arm")
    assert found.to_dict()["notes"] == list(found.notes)


def test_rows_twice_without_arm_or_contradicting(clean):
    double = pd.concat([clean, clean.iloc[:100]])
    assert "duplicates" in kinds(double, reward="r", time="t")
    clean["a"] = clean.a.astype("Int64")
    clean.loc[:9, "a"] = None
    clean.loc[20:29, "seen"] = True
    clean.loc[20:29, "full"] = None
    assert kinds(clean, reward="full", observed="seen") == ["no-action", "observed-without-reward"]


def test_doubled_rows_are_no_evidence(clean):
    """A context effect that is no evidence stays none when every row is written twice."""
    columns = {"reward": "r", "time": "t", "context": "group"}
    double = pd.concat([clean, clean])
    plain, twice = (audit(log, action="a", **columns) for log in (clean, double))
    assert [w.kind for w in twice.warnings] == ["duplicates"]
    for one, other in zip(plain.checks, twice.checks, strict=True):
        if one.p is not None and one.kind in ("depends-on-context",):
            assert other.p == pytest.approx(one.p, rel=0.1)
