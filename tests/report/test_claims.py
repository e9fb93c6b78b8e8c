"""The page of verdicts, its table and its charts."""

import json
import re

import pytest

from halfseen.claims import Comparison, Evidence, Finding, Measured, claims, verify
from halfseen.claims.claim import Curve, Line
from halfseen.report.claims import counts, figure, latex, verdict_table, write_verification
from report.page_rules import check_page

pytestmark = pytest.mark.slow  # pages that are drawn whole

NAMES = ("notation", "tails", "elliptical-potential-one", "single-monitoring", "log-scaling")


@pytest.fixture(scope="module")
def findings():
    return verify(NAMES)


@pytest.fixture(scope="module")
def page(findings, tmp_path_factory):
    return write_verification(findings, tmp_path_factory.mktemp("verify"))


def test_the_page_tells_every_claim_and_draws_every_chart(page, browser):
    window = browser.new_page(viewport={"width": 1200, "height": 900})
    problems = []
    window.on("pageerror", lambda error: problems.append(str(error)))
    window.goto(page.as_uri())
    window.wait_for_function("document.documentElement.dataset.drawn === 'yes'")
    assert problems == []
    text = window.inner_text("body")
    assert "5 claims: 1 holds, 3 hold corrected, 1 refuted as printed. All as recorded." in text
    for name in NAMES:
        assert window.query_selector(f"#{name}") is not None
        assert claims()[name].says in text
    drawn = window.evaluate("document.querySelectorAll('.chart svg.marks').length")
    assert drawn == 3
    assert window.evaluate("document.documentElement.scrollWidth - window.innerWidth") == 0
    window.close()


def test_every_part_is_in_the_navigation_and_nothing_is_said_twice(page):
    check_page(page, "The paper’s claims about censorship, and which of them hold")


def test_files_beside_the_page(page, findings):
    folder = page.parent
    written = json.loads((folder / "verify.json").read_text("utf-8"))
    assert [claim["verdict"] for claim in written] == [f.verdict for f in findings]
    assert sorted(p.stem for p in (folder / "charts").glob("*.svg")) == [
        "elliptical-potential-one",
        "single-monitoring",
        "tails",
    ]


def test_the_latex_table_needs_no_package(findings):
    text = latex(findings)
    assert text.isascii()
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 1 + len(findings)
    assert len({line.count(" & ") for line in rows}) == 1
    assert not re.search(r"(?<!\\)[_^%#$]", text)


def test_the_table_shows_what_tells_most(findings):
    records = {record["claim"]: record for record in verdict_table(findings)}
    assert records["single-monitoring"]["claimed"] == "= 2.22 (to 0.1)"
    assert records["single-monitoring"]["corrected"].startswith("= 19.5")
    assert records["log-scaling"]["corrected"] == ""


def test_next_to_a_corrected_statement_stands_what_was_measured_for_it(findings, page):
    records = {record["claim"]: record for record in verdict_table(findings)}
    assert records["notation"]["measured"].startswith("2.")  # of what is printed
    assert records["notation"]["corrected"] == "= 1 (to 0.02)"
    assert records["notation"]["measured for correction"].startswith("1.0")
    assert records["log-scaling"]["measured for correction"] == ""
    for finding in findings:
        right = finding.telling_corrected
        if right is not None and finding.verdict == "holds corrected":
            assert not right.refuted
            assert records[finding.claim.name]["measured for correction"] == right.measured.text
            assert right.measured.text in page.read_text("utf-8").replace("\u00a0", " ")


def test_the_page_says_how_tight_bounds_are_and_which_instances_were_searched(findings, page):
    text = page.read_text("utf-8")
    one = next(f for f in findings if f.claim.name == "elliptical-potential-one")
    assert one.evidence.searched == 80
    assert "instance of 80 searched reaches 1 of the bound" in text
    assert "(closest of 80 searched)" in text
    records = {record["claim"]: record for record in verdict_table(findings)}
    assert records["elliptical-potential-one"]["tightest"] == "1"
    assert records["notation"]["tightest"] == ""
    written = json.loads((page.parent / "verify.json").read_text("utf-8"))
    tight = {claim["name"]: (claim["tightest"], claim["searched"]) for claim in written}
    assert tight["elliptical-potential-one"] == (one.evidence.closest.strain, 80)
    assert tight["notation"] == (None, 0)


def test_a_bound_that_nothing_comes_near_is_called_far_from_tight():
    evidence = Evidence((Comparison("p = 0.1", Measured(2.0), "at most", 100.0, searched=7),))
    finding = Finding(claims()["censoring-arms"], evidence, 0.0)
    words = "Far from tight: the closest instance of 7 searched reaches 0.02 of the bound"
    assert finding.tightness == f"{words} (p = 0.1)."


def test_an_unexpected_verdict_stands_out(findings):
    odd = Finding(claims()["tails"], Evidence((Comparison("", Measured(0), "at most", 1),)), 0.0)
    [record] = verdict_table([odd])
    assert record["verdict"] == "holds (not refuted as printed)"
    assert counts([odd, odd]) == "2 claims: 2 hold"


def test_claims_are_named_where_there_is_room():
    lines = (
        Line("seen", [1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0]),
        Line("low", [1, 2, 3, 4], [0.5, 0.6, 0.7, 3.9], claimed=True),
        Line("high", [1, 2, 3, 4], [5.0, 6.0, 7.0, 8.0], claimed=True),
        Line("falls", [1, 2, 3, 4], [0.4, 0.3, 0.2, 0.1], claimed=True),
    )
    curve = Curve("A title", "rounds", "value", lines)
    evidence = Evidence((Comparison("", Measured(0), "at most", 1),), curve=curve)
    drawn = figure(Finding(claims()["tails"], evidence, 0.0))
    sides = {row["policy"]: (row["round"], row["side"]) for row in drawn.rows if row["side"]}
    assert sides == {
        "low": (3, "above left"),
        "high": (3, "above left"),
        "falls": (3, "below left"),
    }
