"""`halfseen dimension` and `halfseen bounds`, as a user runs them."""

import json
import sys

import pytest

from halfseen import cli, theory
from halfseen.cli.study_files import study_named
from halfseen.studies.simulate import simulate
from halfseen.studies.spec import parse_spec

SPEC = """
horizon = 400
replications = 20
baseline = false
[problems.two]
kind = "arms"
means = [0.9, 0.1]
noise = 0.1
[censorships.some]
kind = "per-arm"
observe = [0.5, 0.25]
[policies.ucb]
kind = "ucb"
[policies.anytime]
kind = "ucb1"
"""


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["halfseen", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


def test_dimension_for_people(monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, "dimension", "--observe", "0.9,0.1,0.5")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert ["arms", "3"] in lines
    assert ["effective", "dimension", "13.11"] in lines
    assert ["factor", "4.37"] in lines
    assert ["1", "0.1", "1", "10.000", "0.7627", "0.90909"] in lines


def test_dimension_for_programs(monkeypatch, capsys):
    code, out, _ = run(
        monkeypatch,
        capsys,
        "dimension",
        "--observe",
        ".5,.2,.8,.3",
        "--noise",
        ".1,1,2,.3",
        "--json",
    )
    content = json.loads(out)
    assert code == 0
    assert content["effective_dimension"] == pytest.approx(10.32)
    assert content["everything_seen"] == pytest.approx(0.01 + 1 + 4 + 0.09)
    parts = [arm["contributes"] for arm in content["per_arm"]]
    assert sum(parts) == pytest.approx(10.32)
    assert content["per_arm"][1]["worth_of_one_percent_more"] == pytest.approx(5 - 1 / 0.21)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--observe", "0.9,x"), ("--observe", "0.9,x", "commas")),
        (("--observe", "0.9,1.2"), ("observe[1]", "1.2", "at most 1")),
        (("--observe", "0.9,0"), ("observe[1]", "0")),
        (("--observe", "0.9,nan"), ("observe[1]", "nan")),
        (("--observe", "0.9", "--noise", "1,2"), ("noise", "1 entries")),
        (("--observe", "0.9", "--noise", "-1"), ("noise[0]", "-1")),
    ],
)
def test_dimension_refuses(monkeypatch, capsys, arguments, words):
    code, out, err = run(monkeypatch, capsys, "dimension", *arguments)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    assert all(word in err for word in words), err


def test_bounds_before_and_after_the_study(monkeypatch, capsys, tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC)
    study = parse_spec(SPEC)
    cell = next(study.cells())[1]
    expected = theory.regret_bounds(cell.problem, cell.censorship, cell.policy, 400)
    command = ("bounds", spec, "--out", tmp_path / "out")

    code, out, _ = run(monkeypatch, capsys, *command, "--json")
    before = json.loads(out)
    assert code == 0
    assert [entry["measured"] for entry in before] == [None, None]
    values = {bound["name"]: bound["value"] for bound in before[0]["bounds"]}
    assert values == {b.name: b.value for b in expected}
    assert before[0]["smallest"] == expected.smallest.name
    assert [b["name"] for b in before[1]["bounds"] if b["applies"]] == ["trivial"]

    _, out, _ = run(monkeypatch, capsys, *command)
    assert "not measured yet" in out
    assert "proved for UCB, not for UCB1" in out

    result = simulate(study, out=tmp_path / "out")
    _, out, _ = run(monkeypatch, capsys, *command, "--json")
    regret = result.tracks["regret"][0, 0, :, :, -1].mean(axis=-1)
    assert [entry["measured"] for entry in json.loads(out)] == pytest.approx(regret)
    _, out, _ = run(monkeypatch, capsys, *command)
    assert "measured regret after 400 rounds" in out
    assert "times the least" in out


def test_bounds_of_another_horizon(monkeypatch, capsys, tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC)
    cell = next(parse_spec(SPEC).cells())[1]
    expected = theory.regret_bounds(cell.problem, cell.censorship, cell.policy, 9000)
    command = ("bounds", spec, "--horizon", 9000, "--out", tmp_path / "none", "--json")
    _, out, _ = run(monkeypatch, capsys, *command)
    values = {bound["name"]: bound["value"] for bound in json.loads(out)[0]["bounds"]}
    assert values == {bound.name: bound.value for bound in expected}


def test_bounds_from_below_are_those_of_the_theory(monkeypatch, capsys, tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC)
    study = parse_spec(SPEC)
    cell = next(study.cells())[1]
    upper = theory.regret_bounds(cell.problem, cell.censorship, cell.policy, 400)
    lower = theory.lower_bounds(cell.problem, cell.censorship, 400, upper.smallest.value)
    _, out, _ = run(monkeypatch, capsys, "bounds", spec, "--out", tmp_path / "none", "--json")
    found = json.loads(out)[0]
    assert found["growth"] is None
    assert found["lower"] == lower.to_dict()
    _, out, _ = run(monkeypatch, capsys, "bounds", spec, "--out", tmp_path / "none")
    assert all(said in out for said in lower.sentences())
    assert "log T for any consistent policy" in out


def test_bounds_say_why_there_is_none_from_below(monkeypatch, capsys, tmp_path):
    _, out, _ = run(monkeypatch, capsys, "bounds", "linear", "--out", tmp_path / "none")
    assert (
        "No least slope is known here: for a bound, the actions must be a fixed finite set." in out
    )


def test_bounds_of_the_built_in_study(monkeypatch, capsys, tmp_path):
    code, out, _ = run(monkeypatch, capsys, "bounds", "--out", tmp_path / "none", "--json")
    study = study_named("arms")
    cells = len(study.problems) * len(study.censorships) * len(study.policies)
    assert code == 0
    assert len(json.loads(out)) == cells


def test_bounds_of_a_missing_spec(monkeypatch, capsys, tmp_path):
    code, _, err = run(monkeypatch, capsys, "bounds", tmp_path / "nothing.toml")
    assert code == 2
    assert "nothing.toml" in err


def test_bounds_find_a_run_with_other_numbers_than_the_spec(monkeypatch, capsys, tmp_path):
    spec, out = tmp_path / "spec.toml", tmp_path / "out"
    spec.write_text(SPEC)
    given = ["--horizon", "90", "--replications", "3", "--seed", "5"]
    code, _, _ = run(
        *(monkeypatch, capsys, "study", spec, "--out", out, "--engine", "reference"),
        *(*given, "--no-report"),
    )
    assert code == 0
    code, text, told = run(monkeypatch, capsys, "bounds", spec, "--out", out)
    assert (code, told) == (0, f"As in {out}: horizon 90, replications 3, seed 5.\n")
    assert text.count("measured regret after 90 rounds") == 2
    code, text, told = run(monkeypatch, capsys, "bounds", spec, "--out", out, "--horizon", "400")
    assert (code, told) == (0, "")
    assert text.count("regret after 400 rounds: not measured yet") == 2
    code, _, told = run(monkeypatch, capsys, "study", spec, "--out", out)
    assert code == 2
    assert "It was run with horizon 90, replications 3, seed 5: use the same to resume" in told


def test_bounds_of_another_study_are_not_measured(monkeypatch, capsys, tmp_path):
    spec, out = tmp_path / "spec.toml", tmp_path / "out"
    spec.write_text(SPEC)
    simulate(parse_spec(SPEC.replace("0.9", "0.8")), engine="reference", out=out)
    code, text, told = run(monkeypatch, capsys, "bounds", spec, "--out", out)
    assert (code, told) == (0, "")
    assert text.count("not measured yet") == 2
