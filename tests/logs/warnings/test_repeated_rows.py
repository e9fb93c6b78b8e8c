"""Rows that were loaded twice are told from decisions that are only alike."""

import numpy as np
import pandas as pd
import pytest

from halfseen import audit
from halfseen.logs.columns import Columns
from halfseen.logs.counts import read_decisions
from halfseen.logs.source import open_log
from halfseen.logs.warnings import repeated_rows as repeats

N = 3000


def repeated(frame, **columns):
    """Return the share that a warning names, or None."""
    options = {"action": "a", "reward": "r"} | columns
    found = [w for w in audit(frame, **options).warnings if w.kind == "duplicates"]
    return found[0].facts["share"] if found else None


def ordinary(kind, rng):
    arm, day = rng.integers(0, 5, N), rng.integers(0, 365, N)
    seen = rng.random(N) < 0.1 + 0.15 * arm
    bought = np.where(seen, rng.random(N) < 0.3, np.nan)
    log = pd.DataFrame({"a": arm, "r": bought, "t": day})
    user = rng.integers(0, N // 5, N)
    habit, answers = rng.integers(0, 5, N)[user], rng.random(N)[user]
    visits = log.assign(a=habit, r=np.where(rng.random(N) < answers, bought, np.nan), u=user)
    outage = (rng.random(365) < 0.5)[day]
    return {
        "days": (log, {"time": "t"}),
        "hours": (log.assign(t=rng.integers(0, 24 * 365, N)), {"time": "t"}),
        "three a second": (log.assign(t=rng.integers(0, N // 3, N)), {"time": "t"}),
        "one arm a week": (
            log.assign(a=day // 7, r=np.where(rng.random(N) < 0.9 - 0.8 * (day > 200), 1, np.nan)),
            {"time": "t"},
        ),
        "outages": (
            log.assign(
                a=0,
                r=np.where(rng.random(N) < np.where(outage, 0.01, 0.99), 1, np.nan),
                t=pd.Timestamp("2024-01-01") + pd.to_timedelta(day, unit="D"),
            ),
            {"time": "t"},
        ),
        "visitors who come back": (visits.assign(t=user * 37 % 365), {"time": "t", "unit": "u"}),
        "the same, unnamed": (visits.assign(t=user * 37 % 365), {"time": "t"}),
        "a second outcome": (log.assign(delivered=seen), {"time": "t"}),
        "mostly missing": (log.assign(r=np.where(rng.random(N) < 0.02, 1, np.nan)), {"time": "t"}),
        "all missing": (log.assign(r=np.nan), {"time": "t"}),
        "groups": (log.assign(g=day % 4), {"context": "g"}),
        "whole features": (
            log.assign(x=day % 30, y=arm),
            {"features": ["x", "y"], "action": None},
        ),
    }[kind]


ORDINARY = [
    *("days", "hours", "three a second", "one arm a week", "outages", "visitors who come back"),
    *("the same, unnamed", "a second outcome", "mostly missing", "all missing", "groups"),
    "whole features",
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ORDINARY)
def test_ordinary_logs_are_not_suspected(kind):
    for seed in range(2):
        frame, columns = ordinary(kind, np.random.default_rng(seed))
        assert repeated(frame, **columns) is None


@pytest.mark.parametrize("timed", [False, True])
def test_users_who_are_much_alike_are_no_duplicates(timed):
    rng = np.random.default_rng(100)
    rows, users = (10_000, 500) if timed else (3000, 1000)
    user = rng.integers(0, users, rows)
    share, rate = rng.beta(0.3, 0.3, users)[user], rng.beta(0.5, 0.5, users)[user]
    bought = np.where(rng.random(rows) < rate, rng.random(rows) < share, np.nan)
    log = pd.DataFrame({"a": rng.integers(0, 3, users)[user], "r": bought, "u": user})
    day = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 30, rows)), unit="D")
    log, more = (log.assign(t=day), {"time": "t"}) if timed else (log, {})
    assert repeated(log, unit="u", **more) is None


@pytest.fixture(scope="module")
def fine():
    rng = np.random.default_rng(9)
    moment = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 31_536_000, N), unit="s")
    seen = rng.random(N) < 0.4
    return pd.DataFrame(
        {
            "a": rng.integers(0, 5, N),
            "r": np.where(seen, rng.random(N) < 0.3, np.nan),
            "t": moment,
            "day": moment.normalize(),
            "u": rng.integers(0, N // 3, N),
            "x": rng.random(N),
            "token": rng.permutation(N),
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.01, 0.1, 1.0])
@pytest.mark.parametrize(
    ("kept", "columns"),
    [
        (["t"], {"time": "t"}),
        (["x"], {"features": ["x"]}),
        (["day", "token"], {"time": "day"}),
        (["t", "u"], {"time": "t", "unit": "u"}),
    ],
    ids=["seconds", "features", "a token nobody named", "users"],
)
def test_rows_loaded_twice_are_found(fine, kept, columns, part):
    log = fine[["a", "r", *kept]]
    assert repeated(log, **columns) is None
    twice = pd.concat([log, log.sample(frac=part, random_state=1)])
    assert repeated(twice, **columns) == pytest.approx(part / (1 + part), rel=0.02)


def test_a_part_of_a_long_log_is_enough(fine, monkeypatch):
    twice = pd.concat([fine, fine.iloc[: N // 4]])
    monkeypatch.setattr(repeats, "SAMPLE", 600)
    assert repeated(twice, time="t") == pytest.approx(0.2, abs=0.06)
    assert repeated(twice, id="token") == pytest.approx(0.2, abs=0.06)


def test_an_id_that_repeats(fine):
    assert repeated(fine, id="token") is None
    assert repeated(pd.concat([fine, fine.iloc[:1]]), id="token") == pytest.approx(1 / (N + 1))
    other = fine.iloc[:30].assign(r=9.0)
    found = audit(pd.concat([fine, other]), action="a", reward="r", id="token")
    (warning,) = [w for w in found.warnings if w.kind == "duplicates"]
    assert "30 of 3,030 rows looked at repeat the token of another, 100% of them with other" in (
        warning.finding
    )
    some = fine.assign(token=fine.token.where(fine.index > 100))
    assert repeated(some, id="token") is None


def test_rewards_met_on_the_way_are_a_fair_sample(fine, monkeypatch):
    monkeypatch.setattr(repeats, "SAMPLE", 600)
    names = Columns("a", "r", time="t")
    read = read_decisions(open_log(fine.assign(r=fine.r * 1.0)), names)
    assert repeats.look_for_repeats(read)[1] is None  # too few decisions to be sure
    monkeypatch.setattr(repeats, "FAIR", 100)
    _, rewards = repeats.look_for_repeats(read)
    assert 150 < len(rewards.reward) < 350
    assert rewards.reward.mean() == pytest.approx(0.3, abs=0.12)
    assert rewards.arm.max() == 4


def state(frame, **columns):
    checks = audit(frame, action="a", reward="r", **columns).checks
    return next((c.state, c.detail) for c in checks if c.kind == "duplicates")


def test_where_duplicates_cannot_be_told_it_says_what_would_allow_it():
    rng = np.random.default_rng(0)
    rows = 400
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 2, rows),
            "r": rng.integers(0, 2, rows),
            "u": rng.integers(0, 300, rows),
            "t": np.arange(rows),
            "i": np.arange(rows),
        }
    )
    twice = pd.concat([frame, frame])[["a", "r", "u", "t", "i"]]
    assert state(frame[["a", "r"]])[0] == "cannot be looked for"
    found, why = state(twice[["a", "r", "u"]], unit="u")
    assert found == "cannot be looked for"
    assert why.startswith("outcomes have few values")
    assert "with id=, or exact times with time=" in why
    assert state(frame, unit="u", time="t")[0] == state(frame, id="i")[0] == "not found"
    assert state(twice, id="i")[0] == state(twice, unit="u", time="t")[0] == "found"
