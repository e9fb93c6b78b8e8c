"""However a command ends, it says so in one sentence: files it may not use, readers who leave."""

import ctypes
import json
import os
import subprocess
import sys

import pytest
from example_studies import TOML

from halfseen import cli

LONG = "x" * 300
COLUMNS = ("--action", "a", "--reward", "r")
STUDY = ("study", "good.toml", "--engine", "reference")
CLAIM = ("verify", "--quick", "--claim", "notation")


def obey_permissions():
    """Give up what lets root pass by the permissions of files; nothing to do for others."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.toml").write_text(TOML)
    (tmp_path / "log.csv").write_text("a,r\nx,1\ny,\nx,0\ny,1\n")
    (tmp_path / "file").write_text("x")
    for name in ("hidden.csv", "hidden.toml", "hidden.duckdb"):
        (tmp_path / name).write_text("a,r\nx,1\n")
        (tmp_path / name).chmod(0)
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "study.json").write_text("{}")
    (tmp_path / "closed" / "log.csv").write_text("a,r\nx,1\n")
    (tmp_path / "closed").chmod(0)
    (tmp_path / "readonly").mkdir(mode=0o555)
    yield tmp_path
    (tmp_path / "closed").chmod(0o700)


def command(folder, *arguments, prefix="", suffix=""):
    """Run the command in a shell of its own, without what lets root read everything."""
    words = " ".join(arguments)
    line = f"{prefix} {sys.executable} -m halfseen {words} {suffix}"
    environment = {k: v for k, v in os.environ.items() if k != "HALFSEEN_DEBUG"}
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        preexec_fn=obey_permissions,
    )


REFUSED = [
    ("audit", "hidden.csv", *COLUMNS),
    ("audit", "closed", *COLUMNS),
    ("audit", "closed/log.csv", *COLUMNS),
    ("audit", "hidden.duckdb", *COLUMNS),
    ("audit", "log.csv", *COLUMNS, "--out", "readonly/x"),
    ("study", "hidden.toml"),
    (*STUDY, "--out", "closed"),
    (*STUDY, "--out", "closed/x"),
    ("report", "closed"),
    ("report", "closed/x"),
    ("bounds", "good.toml", "--out", "closed/x"),
    ("path", "--out", "readonly/x"),
    (*CLAIM, "--out", "closed/x"),
]
ONE_BY_ONE = """
import contextlib, io, json, sys
from halfseen import cli

ended = []
for words in json.loads(sys.argv[1]):
    sys.argv, said = ["halfseen", *words], io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            cli.main()
        except SystemExit as error:
            ended.append([error.code, said.getvalue()])
print(json.dumps(ended))
"""


@pytest.mark.slow
def test_files_one_may_not_use_are_named_in_one_sentence(folder):
    """All in one process, since starting it takes a second, without what lets root read all."""
    done = subprocess.run(
        [sys.executable, "-c", ONE_BY_ONE, json.dumps(REFUSED)],
        cwd=folder,
        env={k: v for k, v in os.environ.items() if k != "HALFSEEN_DEBUG"},
        capture_output=True,
        text=True,
        preexec_fn=obey_permissions,
    )
    assert done.returncode == 0, done.stderr
    for words, (code, said) in zip(REFUSED, json.loads(done.stdout), strict=True):
        assert code == 2, (words, said)
        assert said.startswith("halfseen: ")
        assert said.count("\n") == 1
        assert any(name in said for name in ("closed", "hidden", "readonly")), said


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Return a function that runs the command in this process, as users do: without a debugger."""
    monkeypatch.delenv("HALFSEEN_DEBUG")
    monkeypatch.chdir(folder)

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["halfseen", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, capsys.readouterr()

    return command


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", LONG, *COLUMNS),
        ("audit", f"{LONG}.csv", *COLUMNS),
        ("audit", f"{LONG}.duckdb", *COLUMNS),
        ("audit", "log.csv", *COLUMNS, "--out", LONG),
        ("study", LONG),
        (*STUDY, "--out", LONG),
        ("report", LONG),
        ("bounds", "good.toml", "--out", LONG),
        ("path", LONG),
        ("path", "--out", LONG),
        ("figures", "--out", LONG),
        (*CLAIM, "--out", LONG),
        ("plan", "--traffic", "1", "--log", LONG, *COLUMNS),
        ("audit", "log.csv", "--action", 40 * LONG, "--reward", "r"),
        ("study", "--engine", LONG),
        ("audit", "log.csv", *COLUMNS, "--out", "file"),
        ("audit", "log.csv", *COLUMNS, "--out", "file/x"),
        (*STUDY, "--out", "file/x"),
        ("report", "file/x"),
        ("path", "--out", "file/x"),
        ("figures", "--out", "file"),
        (*CLAIM, "--out", "file"),
        ("plan", "--traffic", "1e308", "--days", "1e9", "--means", "1,2", "--observe", "1,1"),
        ("dimension", "--observe", "1e-310"),
        ("dimension", "--observe", "1e-200", "--json"),
        ("study", "--horizon"),
        ("dimension",),
        ("window", "log.csv"),
        ("nothing",),
        ("dimension", "--observe", "0.5", "0.7"),
    ],
    ids=lambda arguments: " ".join(arguments)[:60],
)
def test_long_names_files_as_folders_and_misused_options_get_one_short_sentence(run, arguments):
    code, printed = run(*arguments)
    assert code == 2
    assert printed.err.startswith("halfseen: ")
    assert printed.err.count("\n") == 1
    assert len(printed.err) < 800


SECRET = "postgresql://bob:hun%ter2@x hunter2@127.0.0.1:1/base"


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "log.csv", SECRET),
        ("audit", SECRET, *COLUMNS),
        ("audit", "log.csv", *COLUMNS, "--encoding", SECRET),
        ("study", SECRET),
        ("study", "--engine", SECRET),
        ("study", "--scheduler", SECRET),
        ("study", "--engine", "dask", "--scheduler", SECRET),
        ("bounds", SECRET),
        ("path", SECRET),
        ("report", SECRET),
        ("dimension", "--observe", SECRET),
        ("verify", "--claim", SECRET),
        ("doctor", SECRET),
        (SECRET,),
    ],
    ids=lambda arguments: " ".join(arguments).replace(SECRET, "URL"),
)
def test_an_address_in_the_wrong_place_is_refused_without_its_password(run, arguments):
    code, printed = run(*arguments)
    assert code == 2
    assert printed.err.count("\n") == 1
    assert "hun" not in printed.out + printed.err


def test_costs_of_nothing_are_costs(run):
    code, printed = run("invest", "--budget", "10", "--cost", "0", "--observe", "0.5,0.5")
    assert code == 2
    assert "`--cost" in printed.err
    assert "must not be empty" not in printed.err


def test_without_arguments_the_help_is_shown(run):
    code, printed = run()
    assert code == 2
    assert "audit" in printed.out + printed.err


def test_an_error_in_halfseen_itself_is_called_one_and_can_be_traced(run, monkeypatch):
    def broken(*_):
        raise KeyError("x\ny" * 3000)

    monkeypatch.setattr("halfseen.cli.console.print_dimension", broken)
    code, printed = run("dimension", "--observe", "0.5")
    assert code == 1
    assert printed.err.startswith("halfseen: An error in halfseen itself, KeyError: ")
    assert "HALFSEEN_DEBUG=1" in printed.err
    assert printed.err.count("\n") == 1
    monkeypatch.setenv("HALFSEEN_DEBUG", "1")
    with pytest.raises(KeyError):
        cli.main()


def test_an_error_in_a_kind_of_your_own_is_said_to_be_there(run, tmp_path, monkeypatch, own_kinds):
    (tmp_path / "raising_kinds.py").write_text(
        "from dataclasses import dataclass\nfrom halfseen import Censorship, register\n\n"
        "@register\n@dataclass(frozen=True)\nclass Raising(Censorship):\n"
        "    kind = 'raising'\n    observe: float\n"
        "    def probabilities(self, actions):\n        return {}['boom']\n"
    )
    (tmp_path / "spec.toml").write_text(
        "horizon = 5\nproblems.a = { kind = 'arms', means = [0.6, 0.5] }\npolicies.b.kind = 'ucb'\n"
        "censorships.c = { kind = 'raising', observe = 0.5 }\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    code, printed = run("study", "spec.toml", "--import", "raising_kinds", "--no-report")
    assert code == 2
    assert f"An error in {tmp_path / 'raising_kinds.py'}, line 10, KeyError: 'boom'" in printed.err
    assert "halfseen itself" not in printed.err


def test_too_little_memory_is_said(run, monkeypatch):
    def broken(*_):
        raise MemoryError

    monkeypatch.setattr("halfseen.cli.console.print_dimension", broken)
    code, printed = run("dimension", "--observe", "0.5")
    assert code == 2
    assert printed.err == "halfseen: There is not enough memory for this. Make it smaller.\n"


MANY = ",".join(["0.5"] * 5000)


@pytest.mark.slow
def test_a_reader_who_leaves_is_no_error_and_the_report_is_written(folder):
    for buffered in ("", "PYTHONUNBUFFERED=1"):
        ended = command(folder, "dimension", "--observe", MANY, prefix=buffered, suffix="| head -1")
        assert (ended.stdout.split(), ended.stderr) == (["arms", "5000"], "")
    ended = command(
        folder, "audit", "log.csv", *COLUMNS, "--out audit", prefix="sleep 0 |", suffix="| true"
    )
    assert ended.stderr == ""
    assert (folder / "audit" / "report.html").exists()


@pytest.mark.slow
def test_a_full_disk_behind_the_output_is_one_sentence(folder):
    for buffered in ("", "PYTHONUNBUFFERED=1"):
        ended = command(
            folder, "dimension", "--observe", "0.5", prefix=buffered, suffix="> /dev/full"
        )
        assert ended.returncode == 2
        assert ended.stderr == "halfseen: Cannot read or write: No space left on device.\n"


@pytest.mark.slow
def test_an_answer_lost_to_a_closed_output_is_no_success(folder):
    ended = command(folder, "dimension --observe 0.5", suffix=">&-")
    assert ended.returncode == 2
    assert ended.stderr == "halfseen: The output is closed: the printed answer is lost.\n"
    assert command(folder, "dimension --observe 0.5", suffix="2>&-").returncode == 0
    assert command(folder, "dimension --observe 5", suffix="2>&-").stdout == ""
