"""The folder of a sweep holds all that it writes."""

import pytest
from typer.testing import CliRunner

from halfseen import UCB, ArmedBandit, InvalidInput, Study, Uniform, read_sweep, sweep
from halfseen.cli import app
from halfseen.studies.sweep import Sweep

SPEC = """
horizon = 20
replications = 3
problems.offers = { kind = "arms", means = [0.6, 0.5] }
censorships.some = { kind = "uniform", observe = 0.5 }
policies.UCB = { kind = "ucb" }
sweep = { number = "censorships.some.observe", values = [0.1, 0.5] }
"""
PAGE = {"charts/sweep.png", "charts/sweep.svg", "report.html", "summary.csv"}


@pytest.mark.parametrize(
    "name", ["a/../../../escaped", "/rooted", "1/5 seen, v1.0", "..", "x" * 260, "é" * 130, "a\\b"]
)
def test_folders_of_values_stay_in_that_of_the_sweep_whatever_a_world_is_called(name, tmp_path):
    study = Study(ArmedBandit([0.6, 0.5]), {name: Uniform(0.5)}, UCB(), horizon=9, replications=2)
    out = tmp_path / "one/two/three/out"
    found = sweep(study, f"censorships.{name}.observe", [0.2, 0.9], out=out, engine="reference")
    marks = list(tmp_path.rglob("study.json"))
    assert len(marks) == 2
    assert {mark.parent.parent for mark in marks} == {out}
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
    assert Sweep.load(out) == found
    again = sweep(study, f"censorships.{name}.observe", [0.9], out=out, engine="reference")
    assert [result.played for result in again.results] == [0]


def test_values_that_differ_in_the_seventh_digit_have_folders_of_their_own(tmp_path):
    study = Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), UCB(), horizon=9, replications=2)
    values = [1234567, 1234568, 2**60, 2**60 + 1]
    found = sweep(study, "seed", values, out=tmp_path, engine="reference")
    assert Sweep.load(tmp_path) == found


def _top(folder):
    files = [*folder.glob("*.*"), *folder.glob("charts/*")]
    return {str(path.relative_to(folder)) for path in files if path.is_file()}


@pytest.mark.usefixtures("blank_pictures")
def test_other_values_leave_no_page_of_the_earlier_ones(tmp_path):
    spec, out = tmp_path / "study.toml", tmp_path / "out"
    spec.write_text(SPEC)
    command = ["study", str(spec), "--out", str(out), "--engine", "reference"]
    first = CliRunner().invoke(app, command)
    assert first.stdout.splitlines()[-1] == f"Report: {out / 'report.html'}"
    assert _top(out) == PAGE | {"sweep.json", "spec.toml"}
    same = CliRunner().invoke(app, [*command, "--no-report"])
    assert same.stdout.splitlines()[-1] == f"Kept in {out}."
    assert _top(out) == PAGE | {"sweep.json", "spec.toml"}
    spec.write_text(SPEC.replace("[0.1, 0.5]", "[0.1, 0.9]"))
    other = CliRunner().invoke(app, [*command, "--no-report"])
    assert other.stdout.splitlines()[-1] == f"Kept in {out}."
    assert _top(out) == {"sweep.json", "spec.toml"}
    assert not (out / "charts").exists()
    assert read_sweep(out / "spec.toml")[2] == [0.1, 0.9]
    assert Sweep.load(out).values == (0.1, 0.9)


@pytest.mark.usefixtures("blank_pictures")
def test_a_refused_sweep_changes_nothing_in_the_folder(tmp_path):
    study = Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), UCB(), horizon=9, replications=2)
    sweep(study, "horizon", [5, 9], out=tmp_path, engine="reference").report(tmp_path)
    (tmp_path / "horizon=7").mkdir()
    (tmp_path / "horizon=7/mine.txt").write_text("mine")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InvalidInput, match="not one that holds other files"):
        sweep(study, "horizon", [5, 7], out=tmp_path, engine="reference")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
