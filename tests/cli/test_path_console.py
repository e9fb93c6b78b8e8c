"""`halfseen path` and `halfseen figures`, as a user runs them."""

import json
import math
import sys

import pytest

from halfseen import cli, theory
from halfseen.report.theory.reach_figures import example

ANGLES = "0.6981317007977318,1.3089969389957472"  # 40 and 75 degrees
SPEC = """
horizon = 10
[problems.offers]
kind = "linear"
theta = [0.6, 0.3, -0.2]
noise = 0.5
actions = { kind = "random-actions", count = 3, dimension = 3 }
[censorships.all]
kind = "uniform"
observe = 1.0
[censorships.smooth]
kind = "logistic"
direction = [0, 0, 1]
slope = -3.0
offset = 1.0
[censorships.steps]
kind = "multi-threshold"
threshold_radians = [1.0]
observe = [1.0, 0.4]
direction = [0, 0, 1]
[policies.LinUCB]
kind = "lin-ucb"
"""


@pytest.fixture
def run(monkeypatch, capsys):
    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["halfseen", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        captured = capsys.readouterr()
        return stopped.value.code, captured.out, captured.err

    return command


def test_a_path_for_people(run):
    code, out, _ = run("path", "--threshold-radians", ANGLES, "--observe", "0.55,0.5,0.45")
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert out.startswith("the model: dimension 3, regularization 1\n")
    assert ["0.5401", "4.0961", "1", "1.008", "1.227"] in lines
    assert any(line[:3] == ["effective", "dimension", "5.967"] for line in lines)
    assert any(line[:4] == ["d", "/", "p_min", "6.667"] for line in lines)
    assert ["2", "1", "1.111", "5.988", "1.207", "yes", "no", "1.774"] in lines
    assert "2. With y/x at 1.217, region 1 gains as much" in out
    assert max(map(len, out.splitlines())) <= 90


def test_a_path_for_programs(run):
    code, out, _ = run(
        *("path", "--threshold-radians", ANGLES, "--observe", "1,.5,.45"),
        *("--dimension", "3", "--regularization", "2", "--json"),
    )
    content = json.loads(out)
    (found,) = content["paths"]
    assert code == 0
    assert content["files"] == []
    assert found["regime"] == "single region"
    assert found["effective_dimension"] == pytest.approx(6.0)
    assert found["worst_case_dimension"] == pytest.approx(3 / 0.45)
    assert [phase["start"] for phase in found["phases"]] == pytest.approx([0.0, 1.08014395672])
    assert found["phases"][-1]["end"] is None
    assert found["angles_radians"] == pytest.approx([0.0, math.radians(40.0), math.radians(75.0)])
    assert [pair["reachable"] for pair in found["reachability"]] == [False, True, True]


def test_without_a_model_the_example_is_shown(run):
    _, out, _ = run("path", "--json")
    (found,) = json.loads(out)["paths"]
    assert found["effective_dimension"] == theory.information_path(example()).effective_dimension
    _, out, _ = run("path", "--dimension", "4", "--json")
    assert json.loads(out)["paths"][0]["dimension"] == 4


def test_every_censorship_of_a_study_that_has_a_direction(run, tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC)
    code, out, _ = run("path", spec, "--regions", "4", "--json")
    smooth, steps = json.loads(out)["paths"]
    assert code == 0
    assert (smooth["model"], steps["model"]) == ("smooth", "steps")
    assert smooth["error"] > 0.1
    assert steps["error"] == 0.0
    _, out, _ = run("path", spec)
    assert "off by at most" in out
    assert "its own d / p_min is 25.17" in out
    _, out, _ = run("path", "linear")
    assert out.startswith("thinning out: dimension 4")


@pytest.mark.slow
def test_a_path_is_drawn_where_asked(run, tmp_path):
    code, out, told = run("path", "--out", tmp_path / "deep" / "folder", "--json")
    assert code == 0
    assert told == ""
    names = {path.name for path in (tmp_path / "deep" / "folder").iterdir()}
    assert names == {"path.html", "path.svg", "path.png"}
    assert {path.rpartition("/")[2] for path in json.loads(out)["files"]} == names


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--threshold-radians", "1.3,0.7", "--observe", "1,.5,.4"),
            ("--threshold-radians", "increasing", "1.3"),
        ),
        (
            ("--threshold-radians", "0.7,0.7", "--observe", "1,.5,.4"),
            ("--threshold-radians", "increasing"),
        ),
        (
            ("--threshold-radians", "0.7,1.5707963267948966", "--observe", "1,.5,.4"),
            ("--threshold-radians", "below"),
        ),
        (
            ("--threshold-radians", "40", "--observe", "1,.5"),
            ("--threshold-radians[0]", "40", "radians"),
        ),
        (("--threshold-radians", "nan", "--observe", "1,.5"), ("--threshold-radians[0]", "nan")),
        (("--threshold-radians", "x", "--observe", "1,.5"), ("--threshold-radians", "commas")),
        (("--threshold-radians", "0.7"), ("--observe", "must be given")),
        (("--observe", "1,.5"), ("--observe", "1 entries, one more than the thresholds")),
        (("--threshold-radians", "0.7", "--observe", "1,0"), ("--observe[1]", "above 0")),
        (("--dimension", "0"), ("--dimension", "at least 1")),
        (("--dimension", "1000000"), ("--dimension", "at most 100000")),
        (("--regularization", "0"), ("regularization", "above 0")),
        (("linear", "--regions", "0", "--dimension", "5"), ("dimension", "must be 4")),
        (("linear", "--observe", "1"), ("SPEC", "--observe")),
        (("arms",), ("SPEC", "along a direction", "per-arm, uniform")),
        (("nothing.toml",), ("nothing.toml",)),
    ],
)
def test_a_path_refuses(run, arguments, words):
    code, out, err = run("path", *arguments)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    assert all(word in err for word in words), err


@pytest.mark.parametrize("command", ["path", "figures"])
def test_a_file_is_no_folder(run, tmp_path, command):
    place = tmp_path / "taken"
    place.write_text("mine")
    code, out, err = run(command, "--out", place)
    assert (code, out) == (2, "")
    assert "must be a folder" in err
    assert place.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [place]
