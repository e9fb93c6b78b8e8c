"""The Tab key offers commands, options and the values they take."""

import os
import shutil
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from halfseen.cli import app, completing
from halfseen.cli.ending import ended
from halfseen.studies.simulate import NAMES
from halfseen.values.nuisances import OBSERVE, OUTCOME


def asked(line):
    """Return the environment in which bash runs the command when Tab is pressed after a line."""
    return {
        "_HALFSEEN_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }


def test_a_shell_completes_commands():
    command = [sys.executable, "-m", "halfseen"]
    environment = os.environ | asked("halfseen stu")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.split()) == (0, ["study"])


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("halfseen study --engine ", list(NAMES)),
        ("halfseen study --engine c", ["cpu", "cuda"]),
        ("halfseen study l", ["linear"]),
        ("halfseen bounds ", ["arms", "linear"]),
        ("halfseen study my-st", []),  # then the shell offers files
        ("halfseen study --precision s", ["single"]),
        ("halfseen verify --claim potential-control-arms-o", ["potential-control-arms-one"]),
        ("halfseen completion z", ["zsh"]),
        ("halfseen window log.csv --learns ", ["on-arrival", "when-settled"]),
        ("halfseen value log.csv --interval ", ["normal", "bootstrap"]),
        ("halfseen value log.csv --estimator SN", ["SNDR", "SNIPW"]),
    ],
)
def test_values_are_offered(line, values, monkeypatch, capsys):
    for name, value in asked(line).items():
        monkeypatch.setenv(name, value)
    assert ended(app) == 0
    assert capsys.readouterr().out.split() == values


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("halfseen audit log.csv --action ", ["offer", "sold", "day"]),
        ("halfseen audit log.csv --reward s", ["sold"]),
        ("halfseen audit log.csv --features offer,d", ["offer,day"]),
        ("halfseen plan --log log.csv --action o", ["offer"]),
        ("halfseen value log.csv --action offer --reward s", ["sold"]),
        ("halfseen audit demo --reward so", ["sold"]),
        ("halfseen audit none.csv --action ", []),
        ("halfseen audit --action ", []),
    ],
)
def test_columns_of_the_log_in_the_line_are_offered(line, values, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    header = "offer,sold,day,two words,a:b,$(x)"  # shells would split or run the last three
    (tmp_path / "log.csv").write_text(f"{header}\na,1,1,2,3,4\n")
    for name, value in asked(line).items():
        monkeypatch.setenv(name, value)
    assert ended(app) == 0
    assert capsys.readouterr().out.split() == values


def test_what_is_offered_is_what_is_taken():
    assert tuple(completing.ENGINES) == NAMES
    assert [value for value, _ in completing.observe_models("")] == list(OBSERVE)
    assert [value for value, _ in completing.outcome_models("")] == list(OUTCOME)


@pytest.mark.skipif(
    shutil.which("bash") is None,
    reason="installs completion for bash, which is not on this machine",
)
def test_completion_is_installed_for_the_shell_that_runs(tmp_path):
    environment = os.environ | {"HOME": str(tmp_path)}
    line = f"{sys.executable} -m halfseen --install-completion; true"
    done = subprocess.run(
        ["bash", "-c", line], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("The Tab key completes halfseen in new bash terminals")
    script = tmp_path / ".bash_completions" / "halfseen.sh"
    assert str(script) in (tmp_path / ".bashrc").read_text()
    line = "source ~/.bashrc; complete -p halfseen"
    known = subprocess.run(
        ["bash", "-c", line], env=environment, capture_output=True, text=True, timeout=60
    )
    assert "halfseen" in known.stdout


def test_another_shell_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("tcsh", "/bin/tcsh"))
    refused = CliRunner().invoke(app, ["--install-completion"]).exception
    assert "must run in bash, zsh or fish; got 'tcsh'" in str(refused)
