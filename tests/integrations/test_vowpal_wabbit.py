"""Vowpal Wabbit reads what is written, learns nothing from what was not seen, and back again."""

import json
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import InvalidInput, StorageError, audit
from halfseen.integrations import read_vowpal_wabbit, write_vowpal_wabbit

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


@pytest.mark.parametrize("format", ["dsjson", "cb_adf"])
def test_there_and_back(tmp_path, format):
    path = tmp_path / "log"
    write_vowpal_wabbit(ROWS, path, **COLUMNS, features=["age"], format=format)
    found = read_vowpal_wabbit(path, format=format)
    rows = list(zip(found["action"], found["reward"], found["age"], strict=True))
    assert sorted(rows, key=str) == sorted(zip(*ROWS.values(), strict=True), key=str)
    assert set(found["propensity"]) == {0.5}
    first = audit(ROWS, **COLUMNS)
    again = audit(found, action="action", reward="reward", propensity="propensity")
    assert again.arms == first.arms
    assert again.counts.seen.tolist() == first.counts.seen.tolist()
    assert again.counts.mean.tolist() == first.counts.mean.tolist()


def test_dsjson_says_what_to_skip(tmp_path):
    path = tmp_path / "log.json"
    write_vowpal_wabbit(ROWS, path, **COLUMNS)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert sum(line.get("_skipLearn", False) for line in lines) == 10
    assert all(sum(line["p"]) == pytest.approx(1.0) for line in lines)


@pytest.mark.parametrize("format", ["dsjson", "cb_adf"])
def test_features_called_like_columns_come_back_with_their_namespace(tmp_path, format):
    rows = {"arm": ["x", "y"], "gain": [1.0, None], "action": [5.0, 6.0], "reward": [7.0, 8.0]}
    columns = {"action": "arm", "reward": "gain", "features": ["action", "reward"]}
    write_vowpal_wabbit(rows, tmp_path / "log", **columns, format=format)
    found = read_vowpal_wabbit(tmp_path / "log", format=format)
    assert (found["action"], found["reward"]) == (rows["arm"], rows["gain"])
    assert (found["Shared.action"], found["Shared.reward"]) == (rows["action"], rows["reward"])


CELLS = st.tuples(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    st.none() | st.floats(-1e6, 1e6),
    st.none() | st.floats(-1e6, 1e6),
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=6), st.sampled_from(["dsjson", "cb_adf"]))
def test_any_names_and_numbers_there_and_back(tmp_path_factory, rows, format):
    path = tmp_path_factory.mktemp("vw") / "log"
    frame = pd.DataFrame(rows, columns=["a", "r", "x y|:'%"]).astype(
        {"a": "str", "r": float, "x y|:'%": float}
    )
    write_vowpal_wabbit(
        frame, path, action="a", reward="r", features=frame.columns[2:], format=format
    )
    found = read_vowpal_wabbit(path, format=format)
    nothing = [None] * len(rows)
    back = zip(found["action"], found["reward"], found.get("x y|:'%", nothing), strict=True)
    assert Counter(back) == Counter(rows)


TEXT = """shared |User age:3 vip | home:0.5
0:1.5:0.25 |Item shoe price:2
|Item hat

| nothing is said
0:-2:0.75 'mine| of the context

|Arm a
|Arm b
"""
PARSE = """
import json, sys
from vowpalwabbit import LabelType, Workspace
model, kind = Workspace("--cb_explore_adf --quiet"), LabelType.CONTEXTUAL_BANDIT
for block in open(sys.argv[1], encoding="utf-8").read().strip().split("\\n\\n"):
    lines = model.parse(block.split("\\n"), kind)
    labels = [line.get_label(kind).costs for line in lines]
    found = [[c.cost, c.probability, i] for i, l in enumerate(labels) for c in l if c.cost < 1e38]
    print(json.dumps([found, [line.get_tag() for line in lines]]))
    model.finish_example(lines)
"""


def parsed(path):
    """Return the labels and tags that Vowpal Wabbit itself finds in each group of lines."""
    command = [sys.executable, "-c", PARSE, str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_text_is_read_as_vowpal_wabbit_reads_it(tmp_path):
    path = tmp_path / "log"
    path.write_text(TEXT)
    found = read_vowpal_wabbit(path, format="cb_adf")
    assert found == {
        "action": ["1", "2", None],
        "reward": [-1.5, 2.0, None],
        "propensity": [0.25, 0.75, None],
        "User.age": [3.0, None, None],
        "User.vip": [1.0, None, None],
        "home": [0.5, None, None],
    }
    theirs = parsed(path)
    assert [labels for labels, _ in theirs] == [[[1.5, 0.25, 1]], [[-2.0, 0.75, 1]], []]
    assert audit(found, action="action", reward="reward").counts.unnamed == 1

    write_vowpal_wabbit(ROWS, path, **COLUMNS, features=["age"], format="cb_adf")
    ours = read_vowpal_wabbit(path, format="cb_adf")
    rates = {"red shoe": 1.0, "b|c:d": 0.5}
    columns = (ours["action"], ours["reward"], ours["propensity"])
    for (labels, tags), arm, gain, chance in zip(parsed(path), *columns, strict=True):
        told = [] if gain is None else [[gain, chance * rates[arm]]]
        assert [[-cost, p] for cost, p, _ in labels] == told
        assert "".join(tags) == f"{'un' if gain is None else ''}seen_{chance}"


def test_foreign_lines_and_bad_ones(tmp_path):
    path = tmp_path / "log.json"
    path.write_text('{"_label_cost": -1, "_labelIndex": 1, "a": [2, 1], "p": [0.7, 0.3]}\n\n')
    assert read_vowpal_wabbit(path) == {"action": ["2"], "reward": [1.0], "propensity": [0.7]}
    for bad in ("not json\n", "[1]\n", '{"a": []}\n'):
        path.write_text(bad)
        with pytest.raises(InvalidInput):
            read_vowpal_wabbit(path)
    for bad in ("shared | a\n", "0:1:1 | a\n0:1:1 | b\n", "0:x:1 | a\n", "what | a\n"):
        path.write_text("| fine\n\n" + bad)
        with pytest.raises(InvalidInput, match="`line 3` must be a decision in cb_adf"):
            read_vowpal_wabbit(path, format="cb_adf")
    path.write_bytes(b"\xff\xfe| a\n")
    for format in ("dsjson", "cb_adf"):
        with pytest.raises(InvalidInput, match="UTF-8"):
            read_vowpal_wabbit(path, format=format)
        with pytest.raises(StorageError):
            read_vowpal_wabbit(tmp_path / "none", format=format)
    with pytest.raises(InvalidInput, match="format"):
        write_vowpal_wabbit(ROWS, path, **COLUMNS, format="csv")


PREFER = """
import sys
from vowpalwabbit import Workspace
model = Workspace(f"--cb_adf --cb_type {sys.argv[3]} --noconstant --quiet {sys.argv[2]}")
text = open(sys.argv[1], encoding="utf-8").read()
if sys.argv[2]:
    events = [model.parse(line) for line in text.splitlines() if "_skipLearn" not in line]
else:
    events = [model.parse(group.splitlines()) for group in text.split("\\n\\n") if group]
ask = "shared |Shared\\n|Arm rare\\n|Arm usual".splitlines()
ask = model.parse(text.splitlines()[0] if sys.argv[2] else ask)
told = []
for place, event in enumerate(events):
    model.learn(event)
    if place % 10 == 0 and place > len(events) // 2:
        told.append(model.predict(ask))
print(*(sum(costs) / len(told) for costs in zip(*told)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format", "option", "kind"),
    [
        ("dsjson", "--dsjson", "mtr"),
        ("cb_adf", "", "dr"),
        *(
            pytest.param(*names, marks=pytest.mark.slow)
            for names in (
                ("dsjson", "--dsjson", "ips"),
                ("dsjson", "--dsjson", "dr"),
                ("cb_adf", "", "ips"),
                ("cb_adf", "", "mtr"),
            )
        ),
    ],
)
def test_an_arm_that_is_rarely_seen_is_not_learned_as_a_worse_one(tmp_path, format, option, kind):
    rng = np.random.default_rng(3)
    arm = rng.integers(0, 2, 8000)
    reward = (rng.random(8000) < np.array([0.6, 0.4])[arm]).astype(float)
    seen = rng.random(8000) < np.array([0.2, 0.9])[arm]
    rows = {
        "offer": np.array(["rare", "usual"])[arm],
        "sold": np.where(seen, reward, np.nan),
        "chance": np.full(8000, 0.5),
    }
    path = tmp_path / "log"
    write_vowpal_wabbit(rows, path, **COLUMNS, propensity="chance", format=format)
    command = [sys.executable, "-c", PREFER, str(path), option, kind]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    rare, usual = map(float, ended.stdout.split())
    assert rare < usual < 0.0  # costs
