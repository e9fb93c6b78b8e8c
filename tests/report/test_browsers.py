"""Pages are opened in whatever browser there is; only away from CI may there be none."""

import stat
from pathlib import Path

import pytest

from report.browsers import NAMES, NONE_FOUND, find_browser, main, may_skip


def put(folder, name):
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


@pytest.mark.parametrize("name", ["chromium-browser", "google-chrome", "microsoft-edge"])
def test_browsers_are_found_under_their_usual_names(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("report.browsers.NAMES", [n for n in NAMES if not Path(n).is_absolute()])
    monkeypatch.setattr("report.browsers.installed_by_playwright", lambda: None)
    assert find_browser() is None
    program = put(tmp_path, name)
    assert find_browser() == program


@pytest.mark.parametrize(("value", "allowed"), [("true", False), ("1", False), ("", True)])
def test_continuous_integration_never_skips_pages(value, allowed, monkeypatch):
    monkeypatch.setenv("CI", value)
    assert may_skip() is allowed
    monkeypatch.delenv("CI")
    assert may_skip()


def test_without_a_browser_one_is_installed(monkeypatch, capsys):
    monkeypatch.setattr("report.browsers.NAMES", [])
    own = iter([None, "/somewhere/chrome"])
    monkeypatch.setattr("report.browsers.installed_by_playwright", lambda: next(own))
    monkeypatch.setattr("report.browsers.install_browser", lambda: True)
    assert main() == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("value", "code"), [("true", 1), ("", 0)])
def test_where_none_can_be_installed_one_line_says_so(value, code, monkeypatch, capsys):
    monkeypatch.setenv("CI", value)
    monkeypatch.setattr("report.browsers.NAMES", [])
    monkeypatch.setattr("report.browsers.installed_by_playwright", lambda: None)
    monkeypatch.setattr("report.browsers.install_browser", lambda: False)
    assert main() == code
    assert capsys.readouterr().out == NONE_FOUND + "\n"
