"""The command that evaluates a policy."""

import csv
import json

import jsonschema
import pytest

from halfseen.cli import main
from halfseen.values.policy_value import value_schema

COLUMNS = ["--action", "arm", "--reward", "paid"]


@pytest.fixture
def log(tmp_path):
    """Return a log in which arm a is seen rarely and pays most."""
    path = tmp_path / "log.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["arm", "group", "paid", "chance", "pi", "zero", "short", "cell"])
        for arm, seen, ones, pi in (("a", 40, 24, 0.7), ("b", 180, 72, 0.3)):
            for i in range(200):
                paid = "" if i >= seen else int(i < ones)
                cell = "w" if arm == "a" and i < 20 else "xy"[i >= 100]
                bad = [0.5 if i else 0.0, round(0.9 * pi, 2), cell]
                rows.writerow([arm, "uv"[i % 2], paid, 0.5, pi, *bad])
    return path


def run(capsys, monkeypatch, *arguments):
    """Run the command; return its exit code and what it printed."""
    monkeypatch.setattr("sys.argv", ["halfseen", "value", *map(str, arguments)])
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    found = capsys.readouterr()
    return code, found.out, found.err


def keeps_to_the_schema(content):
    schema = value_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(content)
    assert set(content) <= set(schema["properties"]), "describe new keys in value.schema.json"


@pytest.mark.parametrize(
    "policy", [["--mix", "a=0.7,b=0.3"], ["--target-column", "pi"], ["--target-file", "p.csv"]]
)
def test_value_prints_the_answer(log, capsys, monkeypatch, policy):
    monkeypatch.chdir(log.parent)
    (log.parent / "p.csv").write_text(
        "context,arm,probability\nu,a,0.7\nu,b,0.3\nv,a,.7\nv,b,.3\n", encoding="utf-8"
    )
    more = ["--context", "group"] if "p.csv" in policy else []
    arguments = [log, *COLUMNS, *policy, "--propensity", "chance", *more, "--json"]
    code, out, _ = run(capsys, monkeypatch, *arguments)
    assert code == 0
    found = json.loads(out)
    assert found["value"]["value"] == pytest.approx(0.54)
    assert found["difference"]["value"] == pytest.approx(0.04)
    code, out, _ = run(capsys, monkeypatch, *arguments[:-1])
    assert code == 0
    assert "is worth 0.54 a decision (95% interval" in out


def test_value_writes_a_page(log, capsys, monkeypatch, tmp_path):
    folder = tmp_path / "out"
    code, _, _ = run(capsys, monkeypatch, log, *COLUMNS, "--always", "a", "--out", folder)
    assert code == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    warned, answered = page.index("There are no propensities"), page.index("Always a is worth")
    assert warned < answered  # warnings stand above numbers
    assert "it is 0.00 standard errors away" in page
    assert "--always a --action arm --reward paid" in page
    assert '</header><nav aria-label="Sections"><div><a href="#policies">' in page.replace("\n", "")
    assert json.loads((folder / "value.json").read_text(encoding="utf-8"))["rows"] == 400
    assert sorted(p.name for p in (folder / "charts").glob("*.svg")) == [
        "value-differ.svg",
        "value-estimates.svg",
        "value-policies.svg",
    ]


@pytest.mark.slow
def test_the_page_names_the_file_of_the_policy(log, capsys, monkeypatch):
    monkeypatch.chdir(log.parent)
    rows = "context,arm,probability\nu,a,1\nv,b,1\n"
    (log.parent / "mine.csv").write_text(rows, encoding="utf-8")
    policy = ["--context", "group", "--target-file", "mine.csv", "--against-file", "mine.csv"]
    code, out, _ = run(capsys, monkeypatch, log, *COLUMNS, *policy, "--out", "page")
    assert code == 0
    assert "On this log it is the same policy" in out
    page = (log.parent / "page" / "report.html").read_text(encoding="utf-8")
    assert "--target-file mine.csv --against-file mine.csv --out page" in page
    assert "POLICY.csv" not in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "worth"),
    [
        (["--against-always", "b"], 0.4),
        (["--against", "a=0.25,b=0.75"], 0.45),
        (["--against-column", "pi"], 0.54),
        (["--against-file", "mine.csv"], 0.5),
    ],
)
def test_the_other_policy_is_given_in_every_form_and_the_page_repeats_it(
    log, capsys, monkeypatch, other, worth
):
    monkeypatch.chdir(log.parent)
    (log.parent / "mine.csv").write_text(
        "context,arm,probability\nu,a,1\nv,b,1\n", encoding="utf-8"
    )
    options = ["--always", "a", "--context", "group", "--propensity", "chance", *other]
    code, out, _ = run(capsys, monkeypatch, log, *COLUMNS, *options, "--json", "--out", "page")
    assert code == 0
    assert json.loads(out)["compared"]["value"] == pytest.approx(worth, abs=0.02)
    page = (log.parent / "page" / "report.html").read_text(encoding="utf-8")
    assert f" {' '.join(other)} " in page


@pytest.mark.slow
def test_what_the_command_prints_and_writes_keeps_to_the_schema(log, capsys, monkeypatch, tmp_path):
    folder = tmp_path / "out"
    options = ["--always", "a", "--where", "paid = 1 OR paid IS NULL OR arm = 'a'", "--json"]
    code, out, _ = run(capsys, monkeypatch, log, *COLUMNS, *options, "--out", folder)
    assert code == 0
    for content in (out, (folder / "value.json").read_text(encoding="utf-8")):
        keeps_to_the_schema(json.loads(content))


@pytest.mark.parametrize(
    "options",
    [["--target-column", "pi"], ["--always", "a", "--features", "chance"], ["--mix", "a=.5,b=.5"]],
)
def test_every_kind_of_value_keeps_to_the_schema(log, capsys, monkeypatch, options):
    code, out, _ = run(capsys, monkeypatch, log, *COLUMNS, *options, "--json")
    assert code == 0
    content = json.loads(out)
    keeps_to_the_schema(content)
    for key, wrong in (("rows", "many"), ("estimates", [{}]), ("schema_version", 0)):
        with pytest.raises(jsonschema.ValidationError):
            keeps_to_the_schema(content | {key: wrong})


def test_probabilities_by_arm_may_have_blanks_and_be_those_of_being_seen(log, capsys, monkeypatch):
    options = ["--mix", "a=0.7, b=0.3", "--observe", "a=0.25,b=1", "--estimator", "IPW", "--json"]
    code, out, _ = run(capsys, monkeypatch, log, *COLUMNS, *options)
    assert code == 0
    # 24 of 200 rewards of a are 1, 72 of b
    expected = 0.7 * 24 / 200 / 0.25 + 0.3 * 72 / 200
    assert json.loads(out)["value"]["value"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "must be given once, to say which policy to evaluate"),
        (["--always", "a", "--mix", "a=1"], "must be given once"),
        (["--mix", "a=0.7,b"], "must name each arm once with its probability"),
        (["--mix", "a=0.7,b=0.2"], "a sum of 0.9"),
        (["--always", "c"], "must play arms that the log has"),
        (["--mix", "a=0.5,c=0.5"], "As it is, its value lies between 0.2"),
        (["--always", "a", "--propensity", "zero"], "1 row where it is 0, missing or no"),
        (["--always", "a", "--propensity", "zero"], "if the other propensities are right"),
        (["--always", "b", "--context", "cell"], "arm b in w (never played)"),
        (["--always", "a", "--context", "cell"], "arm a in y (no reward seen)"),
        (["--always", "a", "--context", "cell"], "As it is, its value lies between 0."),
        (["--target-column", "short", "--propensity", "chance"], "a sum of 0.9 over the arms"),
        (["--always", "a", "--propensity", "paid"], "where it is 0, missing or no probability"),
        (["--target-file", "nowhere.csv"], "Cannot read nowhere.csv"),
        (["--target-file", "log.csv"], "must be a CSV file of context, arm, probability"),
        (["--always", "a", "--against", "b=1", "--against-file", "p.csv"], "must be given once"),
        (["--always", "a", "--feedback-time", "pi"], "`--feedback-time` needs `--time`"),
    ],
)
def test_value_ends_with_2_and_a_sentence(log, capsys, monkeypatch, arguments, said):
    monkeypatch.chdir(log.parent)
    code, out, err = run(capsys, monkeypatch, log, *COLUMNS, *arguments, "--out", "new")
    assert (code, out) == (2, "")
    assert said in err
    assert not (log.parent / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--mix", "a=0.7,b=0.5"], "`--mix` must hold probabilities"),
        (["--mix", "a=1.5"], "`--mix[a]` must be"),
        (["--always", "c"], "`--always` must play arms"),
        (["--always", "a", "--against", "a=0.7,b=0.5"], "`--against` must hold probabilities"),
        (["--always", "a", "--against-always", "c"], "`--against-always` must play arms"),
        (["--mix", "a=1", "--propensity", "zero"], "wherever `--mix` may play"),
        (["--mix", ""], "`--mix` must name arms"),
        (["--always", "a", "--observe", "a=.5,b=2"], "`--observe[b]` must be"),
    ],
)
def test_errors_name_the_option_that_gave_the_policy(log, capsys, monkeypatch, arguments, named):
    code, _, err = run(capsys, monkeypatch, log, *COLUMNS, *arguments)
    assert code == 2
    assert named in err
    assert "`target" not in err
    assert "`compare" not in err
    assert "`observe" not in err
