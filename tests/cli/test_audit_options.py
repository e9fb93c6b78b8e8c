"""The options of `halfseen audit` about what is empty and what is not back yet."""

import json

import pytest

from cli.test_cli_theory import run


@pytest.fixture
def clicks(tmp_path):
    """A log that only keeps clicks, and when they came."""
    path = tmp_path / "clicks.csv"
    rows = []
    for i in range(400):
        day, back = 1 + i // 20, f"2026-01-{2 + i // 20 + i % 7:02d}" if i % 5 == 0 else ""
        rows.append(f"{'ab'[i % 2]},{1 if back else ''},2026-01-{day:02d},{back}")
    path.write_text("arm,click,day,back\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def audited(monkeypatch, capsys, log, *options):
    """Return the exit code and the JSON of an audit with a page, or its error; no pictures."""
    monkeypatch.setattr("halfseen.report.core.drawing.write_images", lambda *_: {})
    named = ("--action", "arm", "--reward", "click", "--out", log.parent / "out", "--json")
    code, out, err = run(monkeypatch, capsys, "audit", log, *named, *options)
    return code, json.loads(out) if code == 0 else err


def test_only_clicks_are_the_first_warning_and_empty_can_mean_0(monkeypatch, capsys, clicks):
    code, found = audited(monkeypatch, capsys, clicks)
    assert code == 0
    assert found["warnings"][0]["kind"] == "one-value"
    assert found["warnings"][0]["voids"]
    page = (clicks.parent / "out" / "report.html").read_text()
    assert page.index("Every reward in this log is 1.") < page.index('id="answer"')
    _, mended = audited(monkeypatch, capsys, clicks, "--empty-means", "0")
    assert mended["seen"] == 400
    assert mended["rates"][0]["mean_reward"] == pytest.approx(0.2)


def test_windows_and_now(monkeypatch, capsys, clicks):
    times = ("--time", "day", "--feedback-time", "back", "--window", "3", "--now", "2026-02-10")
    code, found = audited(monkeypatch, capsys, clicks, *times)
    assert code == 0
    maturity = found["maturity"]
    assert (maturity["unit"], maturity["window"], maturity["stated"]) == ("days", 3.0, True)
    assert maturity["share"] == pytest.approx(0.2 * 3 / 7, abs=0.01)  # 1, 2 or 3 of 7 days
    code, said = audited(monkeypatch, capsys, clicks, "--window", "3")
    assert code == 2
    assert "`--window` needs `--time`" in said
    code, said = audited(monkeypatch, capsys, clicks, "--since", "2026-02-01")
    assert code == 2
    assert "`--since` needs `--time`; got '2026-02-01'. Name the column of times with --t" in said
    code, said = audited(monkeypatch, capsys, clicks, *times, "--empty-means", "0")
    assert code == 2
    assert "`--empty-means`" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [("plan", "--traffic", "20", "--days", "8"), ("invest", "--budget", "9")]
)
def test_plan_and_invest_on_a_log_take_the_same_times_and_say_what_voids(
    monkeypatch, capsys, clicks, command
):
    more = ("--cost", "100") if command[0] == "invest" else ()
    asked = (*command, *more, "--log", clicks, "--action", "arm", "--reward", "click")
    code, out, _ = run(monkeypatch, capsys, *asked)
    assert code == 0
    assert out.startswith("Warning: Every reward in this log is 1.")
    _, out, _ = run(monkeypatch, capsys, *asked, "--empty-means", "0", "--json")
    assert json.loads(out)["warnings"] == []
    code, _, err = run(monkeypatch, capsys, *asked, "--window", "3")
    assert (code, "`--window` needs `--time`" in err) == (2, True)
    code, _, err = run(monkeypatch, capsys, *command, *more, "--now", "2026-02-10")
    assert (code, "`--log` must be given" in err) == (2, True)


def test_invest_on_a_log_does_not_take_rewards_on_their_way_for_missing(
    monkeypatch, capsys, clicks
):
    asked = ("invest", "--budget", "9", "--cost", "100", "--log", clicks, "--json")
    named = ("--action", "arm", "--reward", "click", "--time", "day", "--feedback-time", "back")
    shares = []
    for window in ("3", "7"):
        times = ("--window", window, "--now", "2026-02-10")
        code, out, err = run(monkeypatch, capsys, *asked, *named, *times)
        assert code == 0, err
        shares.append(sum(arm["seen_now"] for arm in json.loads(out)["arms"]) / 2)
    assert shares == pytest.approx([0.2 * 3 / 7, 0.2], abs=0.01)


def test_an_arm_with_a_comma_in_its_name_can_be_dropped(monkeypatch, capsys, tmp_path):
    log = tmp_path / "comma.csv"
    log.write_text("arm,click\n" + '"x,y",1\na,0\na,\n' * 20, encoding="utf-8")
    code, found = audited(monkeypatch, capsys, log, "--drop-arms", '"x,y"')
    assert code == 0, found
    assert [rate["arm"] for rate in found["rates"]] == ["a"]


def test_invest_takes_costs_by_name(monkeypatch, capsys, tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("a,r\nred,1\nred,\nblue,1\nblue,\n", encoding="utf-8")
    asked = ("invest", "--budget", "5", "--log", str(path), "--action", "a", "--reward", "r")
    named = run(monkeypatch, capsys, *asked, "--cost", "red=100, blue=10", "--json")
    assert named[0] == 0
    assert named == run(monkeypatch, capsys, *asked, "--cost", "10,100", "--json")
    assert run(monkeypatch, capsys, *asked, "--cost", "red=100, blue=x")[0] == 2
