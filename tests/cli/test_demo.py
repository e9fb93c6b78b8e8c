"""The sample log, the help and completion: what one tries first."""

import json

import pytest
from typer.testing import CliRunner

from halfseen import InvalidInput, audit, datasets
from halfseen.claims.registry import selected
from halfseen.cli import app
from halfseen.cli.ending import GROUPS

FIRST, SEEN = ["trial", "trial", "bundle", "bundle", "coupon", "shipping"], 1198


def test_the_sample_log_is_audited_without_naming_columns_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(app, ["audit", "demo", "--json"])
    assert ended.exit_code == 0, ended.output
    told = json.loads(ended.stdout)
    assert told["log"] == "demo"
    assert told["rows"] == 2400
    assert told["warnings"] == []
    assert "halfseen audit FILE --action offer --reward sold" in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_called_demo_is_a_log_like_any_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").write_text("a,r\nx,1\ny,\n")
    ended = CliRunner().invoke(app, ["audit", "demo", "--action", "a", "--reward", "r", "--json"])
    told = ended.stdout or str(ended.exception)
    assert "2400" not in told


def test_the_sample_log_is_the_same_everywhere():
    data = datasets.load_demo()
    assert data.log["offer"][:6].tolist() == FIRST
    assert data.log["sold"].notna().sum() == audit(data.log, **data.columns).seen == SEEN


def test_every_command_is_in_one_group_and_its_line_fits_80_columns():
    text = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).output
    named = [name for names in GROUPS.values() for name in names]
    known = [command.name or command.callback.__name__ for command in app.registered_commands]
    known += [group.name for group in app.registered_groups]
    assert sorted(named) == sorted(known)
    lines = text.splitlines()
    for name in named:
        [line] = [line for line in lines if line.startswith(f"  {name} ")]
        assert line.endswith("."), line
        assert len(line) <= 80


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_three_shells(shell):
    ended = CliRunner().invoke(app, ["completion", shell])
    assert f"_HALFSEEN_COMPLETE=complete_{shell}" in ended.output
    loads = "|| { autoload -Uz compinit && compinit }"  # a new .zshrc has not
    assert (loads in ended.output) == (shell == "zsh")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("potential-control-arm", "Did you mean 'potential-control-arms' or"),
        ("potentl", "Did you mean "),
        ("zzz", "`halfseen verify --list` prints their names."),
    ],
)
def test_a_mistyped_claim_is_answered_with_the_nearest_names_only(name, said):
    with pytest.raises(InvalidInput, match=said) as caught:
        selected([name])
    assert len(str(caught.value)) < 250


def test_verify_lists_the_claims_without_running_any():
    text = CliRunner().invoke(app, ["verify", "--list"]).output
    lines, words = text.splitlines(), " ".join(text.split())
    assert [line for line in lines if line[:1] != " "] == [one.name for one in selected(None)]
    assert all(" ".join(claim.says.split()) in words for claim in selected(None))
    assert max(map(len, lines)) <= 80
    told = json.loads(CliRunner().invoke(app, ["verify", "--list", "--json"]).stdout)
    assert {"name", "place", "says"} == set(told[0])
