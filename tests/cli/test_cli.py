"""The command: results on stdout, one sentence on stderr, exit code 2, nothing half-written."""

import errno
import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from example_studies import TOML, small_study

import halfseen
from halfseen import cli, report
from halfseen.cli import console
from halfseen.studies import storage
from halfseen.studies.folder import reserve_folder
from halfseen.studies.spec import parse_spec
from halfseen.studies.toml_text import to_toml


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in a fresh folder, with a report that is a stub."""
    monkeypatch.setattr(report, "write_report", lambda result, folder: _stub(Path(folder)))
    monkeypatch.setattr(report, "report_is_current", lambda result, folder: False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.toml").write_text(TOML)

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["halfseen", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    return command


def _stub(folder):
    (folder / "report.html").write_text("a page")
    return folder / "report.html"


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def complains(run, tmp_path, *arguments, words=()):
    """Demand a sentence on stderr, exit code 2, and a folder in which nothing has changed."""
    before = files(tmp_path)
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("halfseen: ")
    assert err.endswith((".\n", "?\n"))
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for word in words:
        assert word in err, err
    assert files(tmp_path) == before
    return err


@pytest.mark.parametrize(
    ("sweep", "words"),
    [
        ('{ number = "horizen", values = [1, 2] }', ["`sweep.number` must name a number"]),
        ('{ number = "horizon", values = [60, 60] }', ["`sweep.values` must differ", "Leave"]),
        ("[0.1, 0.5]", ["`sweep` must be a table", 'Write [sweep] with number = "cens']),
    ],
)
def test_mistakes_in_a_sweep_are_named_as_in_the_spec(run, tmp_path, sweep, words):
    (tmp_path / "bad.toml").write_text(f"sweep = {sweep}\n{TOML}")
    complains(run, tmp_path, *STUDY, words=words)


@pytest.mark.parametrize("words", [("-h",), ("audit", "-h")])
def test_a_short_option_shows_help(run, words):
    code, out, _ = run(*words)
    assert (code, out.split()[0]) == (0, "Usage:")


STUDY = ("study", "bad.toml", "--out", "out", "--engine", "reference")
MISTAKES = [
    ("horizon = 60", "horizon = 0", ["`horizon`", "got 0.", "Use 1 or more."]),
    ("horizon = 60", "horizon = -5", ["`horizon`", "got -5."]),
    ("horizon = 60", "horizon = inf", ["`horizon`", "got inf."]),
    ("horizon = 60", "horizon = " + "9" * 5000, ["`SPEC` must be TOML", "Correct that line."]),
    ("horizon = 60", "", ["`horizon` is missing", "Add horizon"]),
    ("horizon = 60", "horizen = 60", ["`horizen` is not a known key", "mean 'horizon'?"]),
    ("seed = 3", "seed = true", ["`seed`", "got True."]),
    ("[0.3, 0.9, 1.0]", "[0.0, 0.9, 1.0]", ["some.observe[0]`", "got 0.0.", "leave it out."]),
    ("[0.3, 0.9, 1.0]", "[1.5, 0.9, 1.0]", ["some.observe[0]`", "got 1.5."]),
    ("[0.3, 0.9, 1.0]", "[nan, 0.9, 1.0]", ["some.observe[0]`", "got nan."]),
    ("[0.3, 0.9, 1.0]", "[inf, 0.9, 1.0]", ["some.observe[0]`", "got inf."]),
    ("[0.3, 0.9, 1.0]", '["0.3", 0.9, 1.0]', ["some.observe[0]`", "got '0.3'."]),
    ("[0.3, 0.9, 1.0]", "[true, 0.9, 1.0]", ["some.observe[0]`", "got True."]),
    ("[0.3, 0.9, 1.0]", "[0.3, 0.9]", ["some", "3 entries", "got 2 entries.", "Match"]),
    ("[0.3, 0.9, 1.0]", "0.3", ["some.observe` must be a list", "got 0.3."]),
    ("regularization = 2.0", "regularization = 0", ["plain.regularization`", "got 0.", "Use 1.0."]),
    ("regularization = 2.0", "lambda = 1", ["policies.plain.lambda`", "Known keys"]),
    ('reward = "bernoulli"', "noise = -1", ["offers.noise`", "got -1.", "Use 0 for no noise."]),
    ('kind = "ucb"\n', 'kind = "ubc"\n', ["policies.plain.kind`", "Did you mean 'ucb'?"]),
    ('{ kind = "ucb" }', '"ucb"', ["policies.wrong.base` must be a table", "got 'ucb'."]),
    ('{ kind = "ucb" }', '{ kind = "ucb", x = 1 }', ["policies.wrong.base.x`", "known key"]),
    ("[policies.plain]", '[policies."a\\nb"]', ["`policies` must have printable names"]),
    ("[policies.plain]", "[policies.plain", ["`SPEC` must be TOML", "line 15"]),
]


@pytest.mark.parametrize(
    ("old", "new", "words"), MISTAKES, ids=[f"{i}-{m[1][:20]!r}" for i, m in enumerate(MISTAKES)]
)
def test_mistakes_in_the_spec(run, tmp_path, old, new, words):
    assert old in TOML
    (tmp_path / "bad.toml").write_text(TOML.replace(old, new, 1))
    complains(run, tmp_path, *STUDY, words=words)
    assert not (tmp_path / "out").exists()


def test_specs_that_cannot_be_read(run, tmp_path):
    complains(run, tmp_path, *STUDY, words=["Cannot read bad.toml: No such file", "Check the path"])
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe horizon")
    complains(run, tmp_path, *STUDY, words=["`SPEC` must be a UTF-8 text file", "Save it as UTF-8"])
    complains(run, tmp_path, "study", tmp_path, words=["Cannot read", "Is a directory"])
    assert not (tmp_path / "out").exists()


def test_a_new_study_in_a_file_is_refused_by_the_name_of_its_argument(run, tmp_path):
    (tmp_path / "notes").write_text("mine")
    words = ["`folder of SPEC` must be a folder; got 'notes'.", "Choose another name."]
    complains(run, tmp_path, "new", "notes/study.toml", words=words)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--engine", "gpu"), ["`--engine` must be one of", "got 'gpu'."]),
        (("--engine", "refrence"), ["Did you mean 'reference'?"]),
        (("--workers", "0"), ["`--workers`", "got 0.", "Leave it out"]),
        (("--workers", "-3"), ["`--workers`", "got -3."]),
        (("--workers", "100000"), ["`--workers`", "at most 1024"]),
    ],
)
def test_mistakes_in_options(run, tmp_path, option, words):
    complains(run, tmp_path, "study", "good.toml", "--out", "out", *option, words=words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments", [("--nonsense",), ("nonsense",), ("study", "--workers", "two"), ("report",)]
)
def test_usage(run, tmp_path, arguments):
    before = files(tmp_path)
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    assert err.startswith("halfseen: ")
    assert err.endswith(" --help.\n")
    assert files(tmp_path) == before


GOOD = ("study", "good.toml", "--engine", "reference", "--out")


def test_folders_that_are_taken(run, tmp_path):
    assert run(*GOOD, "out")[0] == 0
    (tmp_path / "good.toml").write_text(TOML.replace("seed = 3", "seed = 4"))
    complains(run, tmp_path, *GOOD, "out", words=["`--out`", "another study's results", "'out'"])
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("meow")
    complains(run, tmp_path, *GOOD, "photos", words=["`--out`", "holds other files", "'photos'"])
    complains(run, tmp_path, *GOOD, "good.toml", words=["out` must be a folder", "'good.toml'"])
    complains(run, tmp_path, *GOOD, "good.toml/out", words=["out` must be a folder"])
    complains(run, tmp_path, *GOOD, "x" * 300, words=["File name too long", "another name"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.toml", "out", "photos"]


def test_a_disk_that_fills_up(run, tmp_path, monkeypatch):
    save, folders = storage.save_array, []

    def full(path, array, **options):
        folders.append(path.parent)
        if len(set(folders)) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        save(path, array, **options)

    with monkeypatch.context() as patch:
        patch.setattr(storage, "save_array", full)
        code, out, err = run(*GOOD, "out")
    assert (code, out) == (2, "")
    assert err.startswith("halfseen: Cannot write out/cells/")
    assert "No space left on device. No partial file was left" in err
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 1
    complains(
        run, tmp_path, "report", "out", words=["unfinished study", "resumes where it stopped"]
    )
    code, resumed, _ = run(*GOOD, "out", "--json")
    assert code == 0
    fresh = run(*GOOD, "fresh", "--json")[1]
    assert json.loads(resumed)["summary"] == json.loads(fresh)["summary"]


def test_results_of_another_precision_are_not_mixed(run, tmp_path):
    """What a GPU left in single precision is not gone on with in double, nor the other way."""
    design = parse_spec(TOML)
    found = halfseen.simulate(design, engine="reference")
    for facts in found.facts.values():
        facts["precision"] = "single"
    found.save(tmp_path / "out")
    next((tmp_path / "out" / "cells").iterdir()).rename(tmp_path / "gone")
    words = ["`precision` must be single, that of the results in out; got 'double'.", "Use single"]
    complains(run, tmp_path, *GOOD, "out", words=words)
    complains(run, tmp_path, *GOOD, "out", "--summary", words=words)
    assert run(*GOOD, "fresh")[0] == 0
    before = files(tmp_path)
    reserved = reserve_folder(tmp_path / "fresh", design, "single", design.fingerprints())
    with pytest.raises(halfseen.InvalidInput, match="`precision` must be double, that of"):
        reserved.__enter__()
    assert files(tmp_path) == before


def test_reports_of_nothing(run, tmp_path):
    complains(run, tmp_path, "report", "none", words=["none holds no study", "halfseen study"])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "study.json").write_text("{")
    complains(run, tmp_path, "report", "out", words=["out/study.json is damaged"])


def test_a_study_that_does_not_fit_in_memory(run, tmp_path):
    text = TOML.replace("replications = 4", "replications = 2147483648\ncheckpoints = 10000")
    (tmp_path / "bad.toml").write_text(text.replace("horizon = 60", "horizon = 100000000000000"))
    complains(run, tmp_path, *STUDY, words=["must fit in memory", "Lower replications"])
    assert not (tmp_path / "out").exists()


def test_what_a_study_prints(run, tmp_path):
    code, out, err = run(*GOOD, "out")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["problem", "censorship", "policy", "regret"]
    assert len(lines) == 2 + 4 + 2
    assert lines[-2].startswith("Simulated in ")
    assert lines[-1] == "Report: out/report.html"
    assert (tmp_path / "out" / "report.html").exists()
    again = run("report", "out")
    assert again == (0, out.replace("Simulated in", "Simulated earlier, in"), "")


def test_a_study_without_a_report(run, tmp_path):
    code, out, err = run(*GOOD, "out", "--no-report")
    assert (code, err) == (0, "")
    assert "Report" not in out
    assert not (tmp_path / "out" / "report.html").exists()
    assert json.loads(run(*GOOD, "out", "--no-report", "--json")[1])["report"] is None


def test_numbers_on_the_command_line_take_the_place_of_those_of_the_spec(run):
    options = ("--horizon", "40", "--replications", "3", "--seed", "9", "--json")
    content = json.loads(run(*GOOD, "out", *options)[1])
    changed = TOML.replace("horizon = 60", "horizon = 40").replace("seed = 3", "seed = 9")
    changed = re.sub("replications = .*", "replications = 3", changed)
    assert content["digest"] == parse_spec(changed).digest()


@pytest.mark.parametrize("option", ["--horizon", "--replications"])
def test_numbers_on_the_command_line_are_checked(run, tmp_path, option):
    complains(run, tmp_path, *GOOD, "out", option, "0", words=[f"`{option}` must be a whole", "0"])


def test_a_run_that_plays_nothing_says_so(run):
    run(*GOOD, "out")
    code, _, err = run(*GOOD, "out")
    assert code == 0
    assert err == "Nothing was left to play: all 4 cells are in out.\n"


def test_a_new_study_is_commented_and_runs(run, tmp_path):
    for arguments, kind in ((("mine.toml",), "arms"), (("lin.toml", "--linear"), "linear")):
        code, out, err = run("new", *arguments)
        assert (code, err) == (0, "")
        assert out == f"Wrote {arguments[0]}. Run it: halfseen study {arguments[0]}\n"
        text = (tmp_path / arguments[0]).read_text()
        assert text.count("#") > 5
        assert next(iter(parse_spec(text).problems.values())).kind == kind
    options = ("--engine", "reference", "--horizon", "20", "--replications", "2", "--out", "o")
    assert run("study", "mine.toml", *options)[0] == 0
    complains(run, tmp_path, "new", "mine.toml", words=["must not exist yet", "Choose another"])


def test_a_mistyped_built_in_study_is_named(run, tmp_path):
    complains(run, tmp_path, "study", "ams", words=["'ams'", "Did you mean 'arms'?"])


def test_json(run):
    code, out, err = run(*GOOD, "out", "--json")
    assert (code, err) == (0, "")
    content = json.loads(out)
    study = parse_spec(TOML)
    assert content["digest"] == study.digest()
    assert content["folder"] == "out"
    assert content["report"] == "out/report.html"
    assert content["seconds"] > 0
    assert [r["policy"] for r in content["summary"]] == ["plain", "wrong"] * 2
    assert json.loads(run("report", "out", "--json")[1]) == content


ODD = "50% [red]x[/] :smile: λ [/"


def odd_names(tmp_path):
    study = small_study(policies={ODD: halfseen.UCB(), "[/bold]": halfseen.RandomChoice()})
    (tmp_path / "odd.toml").write_text(to_toml(study), encoding="utf-8")


def test_names_are_not_markup(run, tmp_path, monkeypatch):
    odd_names(tmp_path)
    arguments = ("study", "odd.toml", "--out", "out", "--engine", "reference")
    assert ODD in run(*arguments)[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    code, out, err = run("report", "out")
    assert (code, err) == (0, "")
    assert ODD in out
    assert "[/bold]" in out
    assert "Regret after 60 rounds" in out


@pytest.mark.parametrize("width", ["200", "80", "60", "30"])
def test_a_terminal_of_any_width_shows_every_number_as_a_pipe_does(run, monkeypatch, width):
    run(*GOOD, "out")
    piped = run("report", "out")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", width)
    out = run("report", "out")[1]
    assert "…" not in out
    table = [line.split() for line in piped.split("\nSimulated")[0].splitlines()]
    shown = Counter(re.sub(r"\x1b\[[0-9;]*m", "", out).split())
    numbers = Counter(word for line in table[2:] for word in line if word[0].isdigit())
    assert numbers <= shown, numbers - shown
    assert set(table[0]) - {"problem"} <= set(shown)


def test_progress_bars_do_not_read_markup(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with console.progress_bar() as progress:
        progress(1, 2, ODD)
    assert "50%" in sys.stderr.getvalue()


@pytest.mark.slow
def test_output_that_cannot_show_a_name(run, tmp_path):
    odd_names(tmp_path)
    run("study", "odd.toml", "--out", "out", "--engine", "reference")
    code = (
        "import sys, types; from pathlib import Path\n"
        "stub = types.ModuleType('halfseen.report')\n"
        "stub.write_report = lambda result, folder: Path(folder) / 'report.html'\n"
        "stub.report_is_current = lambda result, folder: False\n"
        "sys.modules['halfseen.report'] = stub\n"
        "from halfseen.cli import main; main()\n"
    )
    for extra in ((), ("--json",)):
        ended = subprocess.run(
            [sys.executable, "-c", code, "report", "out", *extra],
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
            cwd=tmp_path,
            capture_output=True,
            timeout=60,
        )
        assert ended.returncode == 0, ended.stderr
        text = ended.stdout.decode("ascii")
    assert json.loads(text)["summary"][0]["policy"] == ODD


def test_version_and_help(run):
    assert run("--version") == (0, f"{halfseen.__version__}\n", "")
    code, out, _ = run("--help")
    assert code == 0
    assert "study" in out
    assert "report" in out
    assert run("study", "--help")[0] == 0


def test_the_built_in_study_is_valid():
    study = cli.study_named("arms")
    assert study.horizon == 20_000
    assert any(c.sees_everything for c in study.censorships.values())
    assert parse_spec(to_toml(study)) == study


def test_commands_import_modules_that_register_kinds(run, tmp_path, own_kinds):
    (tmp_path / "our_kinds.py").write_text(
        "from dataclasses import dataclass\nimport numpy as np\n"
        "from halfseen import Censorship, register\n\n"
        "@register\n@dataclass(frozen=True)\nclass Halving(Censorship):\n"
        '    kind = "halving-arms"\n\n'
        "    def probabilities(self, actions):\n        return 0.5 ** np.arange(actions)\n"
    )
    spec = TOML.replace('kind = "per-arm"\nobserve = [0.3, 0.9, 1.0]', 'kind = "halving-arms"')
    (tmp_path / "own.toml").write_text(spec)
    complains(run, tmp_path, "study", "own.toml", words=["censorships.some.kind", "halving-arms"])
    complains(run, tmp_path, "study", "own.toml", "--import", "no_kinds", words=["--import"])
    own = ("--import", "our_kinds")
    assert run("study", "own.toml", "--engine", "reference", *own)[0] == 0
    assert run("report", "study", *own)[0] == 0
    assert run("bounds", "own.toml", *own)[0] == 0


def test_an_empty_number_of_rounds_to_a_winner_is_explained(run, tmp_path):
    plain = TOML.split("[policies.wrong]")[0]
    (tmp_path / "race.toml").write_text('stop = "winner"\n' + plain)
    out = run("study", "race.toml", "--out", "race", "--engine", "reference")[1]
    assert "the median; empty where at most half of the replications have one" in out
    assert "rounds to winner" not in run("study", "good.toml", "--out", "plain")[1].lower()
