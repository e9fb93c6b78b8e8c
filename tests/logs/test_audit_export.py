"""Every audit's JSON keeps to the published schema, with one style of keys."""

import json
import re

import jsonschema
import numpy as np
import pandas as pd
import pytest
from cli.test_cli_theory import run

from halfseen import audit, audit_by
from halfseen.logs.audit_export import SCHEMA_VERSION, audit_schema, snake_case

pytestmark = pytest.mark.usefixtures("blank_pictures")

LOGS = {
    "plain": {"action": "offer", "reward": "sold"},
    "all seen": {"action": "user", "reward": "x"},
    "never seen": {"action": "offer", "reward": "none"},
    "times": {"action": "offer", "reward": "sold", "time": "t", "feedback_time": "back"},
    "features": {"observed": "won", "features": ["x", "y"]},
    "everything": {
        "action": "offer",
        "reward": "sold",
        "observed": "won",
        "time": "t",
        "unit": "user",
        "context": "country",
        "since": "2026-01-20",
    },
}


def made(n=600):
    rng = np.random.default_rng(0)
    t = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.sort(rng.random(n) * 60), unit="D")
    seen = rng.random(n) < 0.5
    back = pd.Series(t + pd.to_timedelta(rng.exponential(3, n), unit="D")).where(seen)
    return pd.DataFrame(
        {
            "offer": rng.choice(["a", "b", "c"], n),
            "sold": np.where(seen, rng.normal(size=n), np.nan),
            "none": np.nan,
            "won": seen,
            "t": t,
            "back": back,
            "user": rng.integers(0, 60, n),
            "country": rng.choice(["de", "fr"], n),
            "x": rng.normal(size=n),
            "y": rng.normal(size=n),
        }
    )


def keys(value):
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from keys(entry)


def check(content):
    json.dumps(content, allow_nan=False)
    schema = audit_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(content)
    assert [key for key in keys(content) if not re.fullmatch(r"[a-z][a-z0-9_]*", key)] == []
    assert set(content) <= set(schema["properties"]), "describe new keys in audit.schema.json"
    assert content["schema_version"] == SCHEMA_VERSION


@pytest.mark.parametrize("kind", LOGS)
def test_every_kind_of_audit_keeps_to_the_schema(kind):
    check(audit(made(), **LOGS[kind]).to_dict())


def test_audits_by_segment_keep_to_the_schema():
    check(audit_by(made(), "country", **LOGS["times"]).to_dict())


@pytest.mark.slow
def test_what_the_command_prints_and_writes_keeps_to_the_schema(monkeypatch, capsys, tmp_path):
    made().to_csv(tmp_path / "log.csv", index=False)
    options = ("audit", tmp_path / "log.csv", "--action", "offer", "--reward", "sold", "--json")
    code, out, _ = run(monkeypatch, capsys, *options, "--out", tmp_path / "out")
    check(json.loads(out))
    check(json.loads((tmp_path / "out" / "audit.json").read_text()))
    code, out, err = run(monkeypatch, capsys, *options, "--compare", tmp_path / "out")
    assert code == 0, err
    found = json.loads(out)
    check(found)
    assert found["changes"]["rates"] == []


def test_titles_of_every_table_become_keys():
    titles = ["worth of 1% more", "± 95%", "mean of today's best", "90% of the time within", "x-y"]
    assert list(map(snake_case, titles)) == [
        "worth_of_one_percent_more",
        "half_width",
        "mean_of_todays_best",
        "90_percent_of_the_time_within",
        "x_y",
    ]


def test_the_schema_refuses_what_is_no_audit():
    content = audit(made(), **LOGS["plain"]).to_dict()
    for key, value in (("rows", "many"), ("rates", [{}]), ("schema_version", 0)):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(audit_schema()).validate(content | {key: value})
