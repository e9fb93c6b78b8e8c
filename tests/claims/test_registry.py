"""The list of claims, and that the documents record the same verdicts."""

import re
from pathlib import Path

import pytest

from halfseen import InvalidInput
from halfseen.claims import claims, verify
from halfseen.claims.claim import VERDICTS

DOCS = Path(__file__).parents[2] / "docs"


def test_every_claim_is_told_whole():
    for claim in claims().values():
        assert re.fullmatch(r"[a-z0-9-]+", claim.name)
        assert claim.says.endswith(".")
        assert claim.how.endswith(".")
        assert claim.expected in VERDICTS
        assert bool(claim.right) == (claim.expected == "holds corrected")
        assert claim.expected == "holds" or claim.erratum


def test_every_erratum_is_on_the_page():
    anchors = set(re.findall(r'<a id="([a-z-]+)">', (DOCS / "errata.md").read_text("utf-8")))
    named = {claim.erratum for claim in claims().values() if claim.erratum}
    assert named == anchors


def test_the_documents_record_the_same_verdicts():
    text = (DOCS / "claims.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.+?) \| ([a-z ]+) \| (.*)\|$", text, re.M)
    recorded = {name: (place, verdict, link.strip()) for name, place, verdict, link in rows}
    assert list(recorded) == list(claims())
    for claim in claims().values():
        link = f"[erratum](errata.md#{claim.erratum})" if claim.erratum else ""
        assert recorded[claim.name] == (claim.place, claim.expected, link)


def test_names_choose_and_a_misspelt_one_is_refused():
    assert [f.claim.name for f in verify(["notation"])] == ["notation"]
    with pytest.raises(InvalidInput, match="Did you mean 'notation'"):
        verify(["notatoin"])
    with pytest.raises(InvalidInput, match="at least one"):
        verify([])


@pytest.mark.slow
def test_progress_counts_claims():
    told = []
    verify(["notation", "censoring-arms"], progress=lambda *step: told.append(step))
    assert told == [(0, 2, "notation"), (1, 2, "censoring-arms")]


def test_places_in_the_paper_are_numbers_that_readers_can_find_not_labels_of_its_source():
    statement = re.compile(r"\b(?:theorem|proposition|lemma|corollary|claim|remark)s? (\S+)", re.I)
    listed = re.findall(
        r"\b([1-9A-D](?:\.\d+)*)\b",
        (DOCS / "claims.md")
        .read_text("utf-8")
        .partition("## Numbers in the paper")[2]
        .partition("## ")[0],
    )
    for claim in claims().values():
        assert "“" not in claim.place, claim.place
        for number in statement.findall(claim.place):
            if number != "after":
                assert number.rstrip(",") in listed, claim.place
