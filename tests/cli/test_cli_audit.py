"""`halfseen audit`, as a user runs it."""

import json

import pytest

from cli.test_cli_theory import run

pytestmark = pytest.mark.usefixtures("blank_pictures")


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("offer,sold\n" + "a,1\na,\nb,2\n" * 20)
    return path


def test_for_people(monkeypatch, capsys, log, tmp_path):
    options = ("--action", "offer", "--reward", "sold", "--out", tmp_path / "out")
    code, out, err = run(monkeypatch, capsys, "audit", log, *options)
    assert (code, err) == (0, "")
    assert "You see 67% of outcomes (40 of 60, 2 arms)." in out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "You see 67% of outcomes" in page
    assert (tmp_path / "out" / "rates.csv").read_text().startswith("arm,rows,seen,rate")
    assert (tmp_path / "out" / "charts" / "audit-rates.svg").exists()


@pytest.fixture
def no_pictures(monkeypatch):
    """Write pages without SVG and PNG files, which take seconds."""
    monkeypatch.setattr("halfseen.report.core.drawing.write_images", lambda *_: {})


def test_for_programs(monkeypatch, capsys, log, tmp_path, no_pictures):
    options = ("--action", "offer", "--reward", "sold", "--out", tmp_path / "out", "--json")
    code, out, _ = run(monkeypatch, capsys, "audit", log, *options)
    content = json.loads(out)
    assert code == 0
    assert content["effective_dimension"]["value"] == 3.0
    assert content["report"].endswith("report.html")


def test_a_wrong_column_ends_in_a_sentence_and_leaves_nothing(monkeypatch, capsys, log, tmp_path):
    options = ("--action", "offr", "--reward", "sold", "--out", tmp_path / "out")
    code, out, err = run(monkeypatch, capsys, "audit", log, *options)
    assert (code, out) == (2, "")
    assert err.startswith("halfseen: `--action` must be a column of the log (offer, sold)")
    assert "Did you mean 'offer'?" in err
    assert not (tmp_path / "out").exists()


def test_its_own_folder_is_renewed_and_no_other(monkeypatch, capsys, log, tmp_path):
    folder = tmp_path / "out"
    options = ("--action", "offer", "--reward", "sold", "--out", folder)
    assert run(monkeypatch, capsys, "audit", log, *options)[0] == 0
    first = json.loads((folder / "audit.json").read_text())
    assert first["rows"] == 60
    assert (folder / "charts" / "audit-parts.png").exists()
    log.write_text("offer,sold\n" + "a,1\na,\n" * 20)
    (folder / "charts" / "mine.png").write_text("kept")
    assert run(monkeypatch, capsys, "audit", log, *options)[0] == 0
    assert json.loads((folder / "audit.json").read_text())["rows"] == 40
    assert "40 decisions, 1 arm" in (folder / "report.html").read_text()
    # What the new audit does not draw is gone; what it never wrote stays.
    assert not (folder / "charts" / "audit-parts.png").exists()
    assert (folder / "charts" / "mine.png").exists()

    foreign = tmp_path / "letters"
    foreign.mkdir()
    (foreign / "report.html").write_text("mine")
    code, out, err = run(monkeypatch, capsys, "audit", log, *options[:-1], foreign)
    assert (code, out) == (2, "")
    assert "`--out` must be a new or empty folder, not one that holds other files" in err
    assert [path.name for path in foreign.iterdir()] == ["report.html"]
    assert (foreign / "report.html").read_text() == "mine"
    code, _, err = run(monkeypatch, capsys, "audit", log, *options[:-1], log)
    assert code == 2
    assert "out` must be a folder" in err


def test_plan_invest_and_window(monkeypatch, capsys, tmp_path):
    options = ("--means", "1,0", "--observe", "0.5,0.5", "--traffic", "20", "--days", "10")
    code, out, _ = run(monkeypatch, capsys, "plan", *options, "--json")
    assert code == 0
    assert [w["world"] for w in json.loads(out)["worlds"]] == ["your feedback", "everything seen"]

    code, out, _ = run(
        monkeypatch, capsys, "invest", "--observe", "0.1,0.9", "--cost", "100", "--budget", "20"
    )
    assert code == 0
    assert "from 11.11 to 4.444" in out

    path = tmp_path / "log.csv"
    lines = [f"{i % 2},{i % 3 % 2},{i},{i + 1 + i % 5}" for i in range(50)]
    path.write_text("a,r,t,b\n" + "\n".join(lines) + "\n")
    options = ("--action", "a", "--reward", "r", "--time", "t", "--feedback-time", "b")
    code, out, _ = run(
        monkeypatch, capsys, "window", path, *options, "--learns", "on-arrival", "--json"
    )
    assert code == 0
    assert json.loads(out)["best_wait"] > 0


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text(
        "a,r,s\n" + "".join(f"{i % 2},{'' if i % 3 else i % 7},é\n" for i in range(60)), "latin-1"
    )
    return ("--log", path, "--action", "a", "--reward", "r", "--encoding", "latin-1")


@pytest.mark.slow
def test_plan_and_invest_on_a_log_use_or_refuse_every_option(monkeypatch, capsys, small):
    plan = ("plan", *small, "--traffic", "20", "--days", "10")
    for more in (("--means", "1,0"), ("--observe", "1,1"), ("--binary",)):
        code, out, err = run(monkeypatch, capsys, *plan, *more)
        assert (code, out) == (2, "")
        assert f"{more[0]}` must be left out with --log" in err
    regrets = []
    for more in ((), ("--noise", "0.01"), ("--noise", "0.01,0.02")):
        code, out, _ = run(monkeypatch, capsys, *plan, *more, "--json")
        assert code == 0
        regrets.append(json.loads(out)["worlds"][0]["regret"])
    assert regrets[1] < regrets[0]
    invest = ("invest", *small, "--budget", "10", "--cost", "100")
    spent = []
    for more in ((), ("--noise", "0.001,5")):
        code, out, _ = run(monkeypatch, capsys, *invest, *more, "--json")
        assert code == 0
        spent.append({arm["arm"]: arm["spend"] for arm in json.loads(out)["arms"]})
    assert spent[1]["0"] == 0.0
    assert spent[0]["0"] > 0.0
    code, _, err = run(monkeypatch, capsys, *invest, "--observe", "1,1")
    assert code == 2
    assert "--observe` must be left out with --log" in err
    code, _, err = run(
        monkeypatch, capsys, *plan[:1], *plan[3:], "--means", "1,0", "--observe", "1,1"
    )
    assert code == 2
    assert "--log` must be given" in err


def test_the_goal_of_a_plan_can_be_chosen(monkeypatch, capsys):
    options = ("--means", "1,0", "--observe", "0.5,0.5", "--traffic", "20", "--days", "10")
    goal = ("--goal-share", "0.8", "--goal-days", "2", "--close", "0.1")
    code, out, _ = run(monkeypatch, capsys, "plan", *options, *goal)
    assert code == 0
    assert "days d to d+1 at least 80% go to an arm within 0.1 of the best" in " ".join(out.split())


@pytest.mark.parametrize(
    "command", ["plan --traffic 9", "invest --cost 1 --budget 1", "invest --observe 1 --budget 1"]
)
def test_rates_must_come_from_somewhere(monkeypatch, capsys, command):
    code, out, err = run(monkeypatch, capsys, *command.split())
    assert (code, out) == (2, "")
    assert "must be given" in err


FILTERS = ("--where", "sold <> 2 OR sold IS NULL")


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("audit", ()),
        ("plan", ("--traffic", "20", "--days", "8")),
        ("invest", ("--cost", "1", "--budget", "1")),
    ],
)
def test_rows_left_out_are_said_in_text_and_json(monkeypatch, capsys, log, command, more):
    source = (log,) if command == "audit" else ("--log", log)
    arguments = (command, *source, "--action", "offer", "--reward", "sold", *more, *FILTERS)
    code, out, err = run(monkeypatch, capsys, *arguments)
    assert (code, "Left out: 20 of 60 rows" in out) == (0, True), err
    _, out, _ = run(monkeypatch, capsys, *arguments, "--json")
    assert json.loads(out)["left_out"]["rows"] == 20
    code, out, err = run(monkeypatch, capsys, *arguments[:-1], "sold; DROP")
    assert (code, out) == (2, "")
    assert err.startswith("halfseen: `--where` must be one SQL condition")


def test_nothing_is_written_without_out(monkeypatch, capsys, log, tmp_path):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    code, out, _ = run(monkeypatch, capsys, "audit", log, "--action", "offer", "--reward", "sold")
    assert (code, "Report" in out) == (0, False)
    assert sorted(tmp_path.iterdir()) == before


def test_by_segment(monkeypatch, capsys, log, tmp_path, no_pictures):
    arguments = ("audit", log, "--action", "offer", "--reward", "sold", "--by", "offer")
    code, out, _ = run(monkeypatch, capsys, *arguments, "--out", tmp_path / "out")
    assert code == 0
    assert "(all)" in out
    assert ", by offer</h1>" in (tmp_path / "out/report.html").read_text()
    _, out, _ = run(monkeypatch, capsys, *arguments, "--json")
    assert [part["segment"] for part in json.loads(out)["segments"]] == ["a", "b"]
    code, _, err = run(monkeypatch, capsys, *arguments, "--fail-if", "rows>0")
    assert code == 3
    assert [line.split(" is ")[0] for line in err.splitlines()] == [
        f"halfseen: {name}: rows" for name in ("all rows", "a", "b")
    ]
    code, _, err = run(monkeypatch, capsys, *arguments, "--fail-if", "changes>0")
    assert (code, "Name one with --compare" in err) == (2, True)
    since = (*arguments, "--compare", tmp_path / "out", "--fail-if", "changes>0")
    code, out, _ = run(monkeypatch, capsys, *since, "--out", tmp_path / "again")
    assert (code, "Since the earlier audit: Nothing changed" in out) == (0, True)
    assert "Since the last audit" in (tmp_path / "again/report.html").read_text()
    code, _, err = run(monkeypatch, capsys, *arguments, "--traffic", "3")
    assert (code, "cannot come with --by" in err) == (2, True)
