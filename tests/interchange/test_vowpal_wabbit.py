"""Vowpal Wabbit reads what is written, learns nothing from what was not seen, and back again."""

import json
import subprocess
import sys

import pytest

from halfseen import InvalidInput, StorageError, audit
from halfseen.interchange import read_vowpal_wabbit, write_vowpal_wabbit

ROWS = {
    "offer": ["red shoe", "b|c:d", "red shoe", "b|c:d"] * 10,
    "sold": [1.0, None, 0.5, 0.0] * 10,
    "age": [1.0, 2.0, 3.0, 4.0] * 10,
}
COLUMNS = {"action": "offer", "reward": "sold"}
LEARN = """
import sys
from vowpalwabbit import Workspace
model = Workspace(f"--cb_explore_adf --quiet -d {sys.argv[1]} {sys.argv[2]}")
model.finish()
model = Workspace(f"--cb_explore_adf -d {sys.argv[1]} {sys.argv[2]} --invert_hash {sys.argv[3]}")
model.finish()
"""


def learned(path, option, out):
    """Let Vowpal Wabbit learn in a process of its own and return the model it writes."""
    command = [sys.executable, "-c", LEARN, str(path), option, str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return out.read_text(), ended.stderr


@pytest.mark.parametrize(
    ("format", "option", "examples"), [("dsjson", "--dsjson", 30), ("cb_adf", "", 40)]
)
def test_vowpal_wabbit_reads_it(tmp_path, format, option, examples):
    path = tmp_path / "log"
    assert write_vowpal_wabbit(ROWS, path, **COLUMNS, features=["age"], format=format) == 40
    model, said = learned(path, option, tmp_path / "model")
    assert f"number of examples = {examples}\n" in said  # dsjson counts what it learned from
    assert "red" in model
    nothing = {**ROWS, "sold": [None] * 40}
    write_vowpal_wabbit(nothing, path, **COLUMNS, features=["age"], format=format)
    empty, _ = learned(path, option, tmp_path / "empty")
    weights = [line for line in model.splitlines() if "Arm" in line and ":" in line]
    none = [line for line in empty.splitlines() if "Arm" in line and ":" in line]
    assert weights
    assert none == []


def test_there_and_back(tmp_path):
    path = tmp_path / "log.json"
    write_vowpal_wabbit(ROWS, path, **COLUMNS)
    found = read_vowpal_wabbit(path)
    first = audit(ROWS, **COLUMNS)
    again = audit(found, action="action", reward="reward", propensity="propensity")
    assert again.arms == first.arms
    assert again.counts.seen.tolist() == first.counts.seen.tolist()
    assert again.counts.mean.tolist() == first.counts.mean.tolist()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert sum(line.get("_skipLearn", False) for line in lines) == 10
    assert all(sum(line["p"]) == pytest.approx(1.0) for line in lines)


def test_foreign_lines_and_bad_ones(tmp_path):
    path = tmp_path / "log.json"
    path.write_text('{"_label_cost": -1, "_labelIndex": 1, "a": [2, 1], "p": [0.7, 0.3]}\n\n')
    assert read_vowpal_wabbit(path) == {"action": ["2"], "reward": [1.0], "propensity": [0.7]}
    for bad in ("not json\n", "[1]\n", '{"a": []}\n'):
        path.write_text(bad)
        with pytest.raises(InvalidInput):
            read_vowpal_wabbit(path)
    with pytest.raises(StorageError):
        read_vowpal_wabbit(tmp_path / "none")
    with pytest.raises(InvalidInput, match="format"):
        write_vowpal_wabbit(ROWS, path, **COLUMNS, format="csv")
