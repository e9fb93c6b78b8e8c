"""`halfseen verify`, as a user runs it."""

import json
import sys
from dataclasses import replace

import pytest

from halfseen import cli
from halfseen.claims import claims

FAST = ("notation", "elliptical-potential-one")


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["halfseen", "verify", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


def chosen(*names):
    return [part for name in names for part in ("--claim", name)]


def test_for_people(monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, "--quick", *chosen(*FAST))
    assert code == 0
    assert "elliptical-potential-one: holds corrected" in out
    assert "right  It is d times that." in out
    assert "see    docs/errata.md#elliptical-one" in out
    assert "refuted" in out
    assert "2 claims: 2 hold corrected;" in out


def test_for_programs_and_into_a_folder(monkeypatch, capsys, tmp_path):
    folder = tmp_path / "new"
    code, out, _ = run(monkeypatch, capsys, "--quick", *chosen(*FAST), "--json", "--out", folder)
    content = json.loads(out)
    assert code == 0
    assert content["as_recorded"] is True
    assert [claim["name"] for claim in content["claims"]] == list(FAST)
    assert content["claims"][1]["verdict"] == "holds corrected"
    assert (folder / "verify.html").exists()
    assert json.loads((folder / "verify.json").read_text("utf-8")) == content["claims"]


def test_a_verdict_not_recorded_is_exit_code_1(monkeypatch, capsys):
    changed = claims() | {"notation": replace(claims()["notation"], expected="holds")}
    monkeypatch.setattr("halfseen.claims.registry.claims", lambda: changed)
    code, out, _ = run(monkeypatch, capsys, "--quick", "--claim", "notation")
    assert code == 1
    assert "Not as recorded: notation, holds corrected instead of holds." in out


def test_the_table_of_all_claims(monkeypatch, capsys):
    few = {name: claims()[name] for name in FAST}
    monkeypatch.setattr("halfseen.claims.registry.claims", lambda: few)
    code, out, _ = run(monkeypatch, capsys, "--quick")
    assert code == 0
    lines = out.splitlines()
    heads = [
        "claim",
        "verdict",
        "measured",
        "claimed",
        "corrected",
        "measured for correction",
        "tightest",
    ]
    assert lines[0].split() == " ".join(heads).split()
    assert lines[2].split()[:3] == ["notation", "holds", "corrected"]
    assert lines[-1].startswith("2 claims: 2 hold corrected; ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--claim", "notatoin"], "Did you mean 'notation'?"), (["--seed", "-1"], "`--seed`")],
)
def test_bad_input_is_a_sentence_and_exit_code_2(monkeypatch, capsys, arguments, words):
    code, out, err = run(monkeypatch, capsys, *arguments)
    assert code == 2
    assert out == ""
    assert words in err


def test_a_file_in_the_way_is_refused_before_anything_is_run(monkeypatch, capsys, tmp_path):
    path = tmp_path / "file"
    path.write_text("kept")
    code, _, err = run(monkeypatch, capsys, "--quick", "--out", path)
    assert code == 2
    assert "must be a folder" in err
    assert path.read_text() == "kept"
