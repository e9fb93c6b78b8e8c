"""What is exported keeps the order of the log, whole or not at all."""

import os

import numpy as np
import pandas as pd
import pytest

from halfseen import InvalidInput, StorageError
from halfseen.integrations import (
    log_rows,
    read_vowpal_wabbit,
    to_open_bandit,
    vowpal_wabbit,
    write_vowpal_wabbit,
)

ROWS = 150_000  # more than are read at once, and than one thread reads
COLUMNS = {"action": "a", "reward": "r", "propensity": "p", "features": ["i"]}


def long_log():
    place = np.arange(ROWS)
    return {
        "a": np.where(place % 3 == 1, "x", "y"),
        "r": np.where(place % 7 == 0, np.nan, place / 8.0),
        "p": 0.25 + (place % 5) / 8.0,
        "i": place.astype(float),
    }


def kept_as(kind, folder):
    frame = pd.DataFrame(long_log())
    if kind == "dict":
        return long_log()
    if kind == "pandas":
        return frame
    path = folder / f"log.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        import duckdb

        with duckdb.connect(path) as base:
            base.register("given", frame)
            base.execute("CREATE TABLE decisions AS FROM given")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        "dict",
        "csv",
        *(pytest.param(k, marks=pytest.mark.slow) for k in ("pandas", "parquet", "duckdb")),
    ],
)
def test_exports_keep_the_order_of_a_long_log(kind, tmp_path):
    log, wanted = kept_as(kind, tmp_path), long_log()
    for _ in range(2):
        feedback = to_open_bandit(log, **COLUMNS)
        np.testing.assert_array_equal(feedback["context"][:, 0], wanted["i"])
        np.testing.assert_array_equal(feedback["action"], wanted["a"] == "y")
        np.testing.assert_array_equal(feedback["reward"], wanted["r"])
        np.testing.assert_array_equal(feedback["pscore"], wanted["p"])


@pytest.mark.slow
@pytest.mark.parametrize("format", ["dsjson", "cb_adf"])
def test_a_long_log_comes_back_from_vowpal_wabbit_in_its_order(format, tmp_path):
    wanted, path = long_log(), tmp_path / "log"
    assert write_vowpal_wabbit(wanted, path, **COLUMNS, format=format) == ROWS
    found = read_vowpal_wabbit(path, format=format)
    assert found["action"] == wanted["a"].tolist()
    assert found["i"] == wanted["i"].tolist()
    assert found["propensity"] == wanted["p"].tolist()
    np.testing.assert_array_equal(np.array(found["reward"], dtype=float), wanted["r"])


@pytest.mark.parametrize("fails", [OSError(28, os.strerror(28)), InvalidInput("x", "is", 1, "no")])
def test_an_export_that_fails_in_the_middle_leaves_the_old_file(tmp_path, monkeypatch, fails):
    path = tmp_path / "log"
    rows = {"a": ["x", "y"] * 10, "r": [1.0, 0.0] * 10}
    write_vowpal_wabbit(rows, path, action="a", reward="r")
    before = path.read_bytes()

    def one_part(decisions):
        yield next(log_rows.parts(decisions))
        raise fails

    monkeypatch.setattr(vowpal_wabbit, "parts", one_part)
    with pytest.raises((StorageError, InvalidInput)):
        write_vowpal_wabbit(rows, path, action="a", reward="r")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["log"]


@pytest.mark.parametrize("missing", [None, 0.0, 1.5])
def test_a_missing_propensity_of_a_seen_reward_is_refused(tmp_path, missing):
    rows = {"a": ["x", "y", "x"], "r": [1.0, None, 0.0], "p": [0.5, 0.5, missing]}
    columns = {"action": "a", "reward": "r", "propensity": "p"}
    with pytest.raises(InvalidInput, match=r"`propensity` must be above 0.*1 row with a reward"):
        to_open_bandit(rows, **columns)
    rows["p"] = [0.5, missing, 0.5]
    assert to_open_bandit(rows, **columns)["n_rounds"] == 3  # nothing divides by it
    with pytest.raises(InvalidInput, match=r"`propensity` must be above 0.*1 row where"):
        write_vowpal_wabbit(rows, tmp_path / "log", **columns)
    assert not (tmp_path / "log").exists()


def test_observe_that_names_an_arm_the_log_lacks_is_refused(tmp_path):
    rows = {"a": ["x", "y"], "r": [1.0, 0.0]}
    observe = {"x": 0.5, "y": 0.5, "z": 0.5}
    with pytest.raises(
        InvalidInput, match=r"`observe` must name arms of the log \(x, y\); got 'z'"
    ):
        to_open_bandit(rows, action="a", reward="r", seen_only=True, observe=observe)
    with pytest.raises(InvalidInput, match="observe"):
        write_vowpal_wabbit(rows, tmp_path / "log", action="a", reward="r", observe=observe)
