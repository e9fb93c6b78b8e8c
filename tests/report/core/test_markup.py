"""Text on pages is shown as it is, what cannot be seen included."""

import pytest

from halfseen import audit
from halfseen.report.core.markup import escape, table, unbroken


def test_tabs_and_returns_are_shown_as_a_terminal_would_get_them():
    assert escape("\t=2 \r=3") == r"\t=2 \r=3"
    assert '<td class="word">a\\nb</td>' in table(("x",), [("a\nb",)])


@pytest.mark.slow
def test_arms_that_differ_in_control_characters_look_different_on_the_page(tmp_path):
    names = ["\t=2", "\r=3", "\n=4", " =5"]
    rows = {"a": names * 3, "r": [1.0, 2.0, 3.0, 4.0] * 2 + [None] * 4}
    page = audit(rows, action="a", reward="r").report(tmp_path / "out").read_text("utf-8")
    for shown in (r"\t=2", r"\r=3", r"\n=4", " =5"):
        assert f">{shown}</td>" in page


def test_options_and_dates_are_not_broken_at_their_hyphens():
    said = unbroken("Name it with --feedback-time, or leave out <x> (--until 2026-01-31).")
    whole = [f'<span class="unbroken">{each}</span>' for each in ("--feedback-time", "2026-01-31")]
    assert all(each in said for each in whole)
    assert "&lt;x&gt;" in said
    assert "span" not in unbroken("a--b, x---y, 12026-01-31 and --")
