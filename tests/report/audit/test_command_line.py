"""The command on an audit's page is complete: typed again, it makes the same audit."""

import io
import json
import shlex
import sys
from pathlib import Path

import pytest
from cli.test_cli_theory import run

from halfseen import audit, audit_by
from halfseen.logs.option_names import in_command, options_written
from halfseen.report.audit.command_line import command_line

pytestmark = pytest.mark.usefixtures("blank_pictures")


@pytest.mark.slow
def test_the_command_of_a_page_makes_the_page_again(monkeypatch, capsys, tmp_path):
    log = tmp_path / "my log.csv"
    lines = [f"{'abc'[i % 3]};{i % 7},5;{i};{'x' if i % 5 else 'y'}" for i in range(60)]
    lines += [f"a;;{i};x" for i in range(60, 80)]
    log.write_text("offer;sold;day;land\n" + "\n".join(lines) + "\n")
    options = {"where": "land = 'x'", "since": "3", "until": "75", "drop_arms": ("c",)}
    with options_written(in_command):
        found = audit(log, action="offer", reward="sold", time="day", decimal=",", **options)
    page = found.report(tmp_path / "first").read_text()
    command = command_line(found, tmp_path / "second", {"traffic": None, "imputations": False})
    assert "halfseen audit" in page
    assert "--drop-arms c" in page
    words = shlex.split(command)
    code, _, err = run(monkeypatch, capsys, *words[1:])
    assert code == 0, err
    again = json.loads((tmp_path / "second" / "audit.json").read_text())
    assert again == json.loads((tmp_path / "first" / "audit.json").read_text())


def test_no_address_is_repeated_and_tables_in_memory_have_no_path(tmp_path):
    log = {"offer": ["a", "b"], "sold": [1.0, None]}
    found = audit(log, action="offer", reward="sold", level=0.9)
    command = command_line(found, tmp_path, {"traffic": 100.0, "imputations": True})
    assert command.startswith("halfseen audit LOG --action offer --reward sold --traffic 100.0")
    assert "--imputations --out" in command


def test_the_command_of_a_log_from_standard_input_says_where_to_put_it(monkeypatch, tmp_path):
    lines = b'offer,sold\na,1\nb,\n"x,y",2\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    found = audit("-", action="offer", reward="sold", drop_arms=["b", "x,y"])
    more = {"compare": Path("last.json"), "fail_if": ["factor>2", "seen<0.5"], "study": None}
    command = command_line(found, tmp_path, more)
    assert shlex.split(command) == [
        *("halfseen", "audit", "-", "--action", "offer", "--reward", "sold"),
        *("--drop-arms", 'b,"x,y"', "--compare", "last.json"),
        *("--fail-if", "factor>2", "--fail-if", "seen<0.5", "--out", str(tmp_path), "<", "LOG"),
    ]


@pytest.mark.slow
def test_the_command_of_a_page_by_segments_names_the_comparison_and_the_limits(tmp_path):
    log = {"offer": ["a", "b"] * 20, "sold": [1.0, None, 0.0, 1.0] * 10, "land": ["x", "y"] * 20}
    found = audit_by(log, "land", action="offer", reward="sold")
    more = {"compare": Path("last.json"), "fail_if": ["factor>2"], "study": None}
    page = found.report(tmp_path / "out", options=more).read_text()
    assert "--by land --compare last.json --fail-if &#x27;factor&gt;2&#x27; --out" in page
