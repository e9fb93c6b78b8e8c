"""How measurements are judged."""

import math

import pytest

from halfseen.claims import Claim, Comparison, Evidence, Finding, Measured
from halfseen.claims.claim import CORRECTED, HOLDS, REFUTED, UNDECIDED, claim


def compared(relation, claimed, low, high, tolerance=0.0):
    return Comparison("", Measured(0.5 * (low + high), low, high), relation, claimed, tolerance)


@pytest.mark.parametrize(
    ("relation", "claimed", "low", "high", "tolerance", "refuted"),
    [
        ("at most", 3.0, 3.1, 4.0, 0.0, True),
        ("at most", 3.0, 2.9, 4.0, 0.0, False),
        ("at most", 3.0, 3.1, 4.0, 0.1, False),
        ("at least", 3.0, 2.0, 2.9, 0.0, True),
        ("at least", 3.0, 2.0, 3.1, 0.0, False),
        ("equals", 3.0, 2.0, 2.9, 0.0, True),
        ("equals", 3.0, 3.1, 3.2, 0.0, True),
        ("equals", 3.0, 2.9, 3.1, 0.0, False),
        ("equals", 3.0, 3.1, 3.2, 0.05, False),
        ("equals", -3.0, -3.2, -3.1, 0.01, True),
        ("at most", -0.25, -0.9, -0.9, 0.0, False),
        ("at most", -0.25, -0.2, -0.2, 0.0, True),
        ("at most", 0.0, 1.0, 1.0, 0.0, True),
    ],
)
def test_refuted_beyond_the_interval_only(relation, claimed, low, high, tolerance, refuted):
    one = compared(relation, claimed, low, high, tolerance)
    assert one.refuted is refuted
    assert (one.strain > 1.0) is (refuted or (tolerance > 0.0 and relation != "equals"))


def test_rounding_is_no_contradiction():
    assert not Comparison("", Measured(1.0 + 1e-15), "at most", 1.0).refuted
    assert Comparison("", Measured(1.0 + 1e-9), "at most", 1.0).refuted


def test_no_other_relation():
    with pytest.raises(ValueError, match="unknown relation"):
        Comparison("", Measured(1.0), "about", 1.0)


RIGHT = (compared("at most", 1.0, 0.4, 0.6),)
WRONG = (compared("at most", 0.1, 0.4, 0.6),)
VAGUE = (compared("equals", 1.0, 0.1, 9.0),)


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [
        (RIGHT, (), HOLDS),
        (RIGHT, WRONG, HOLDS),
        (WRONG, (), REFUTED),
        (WRONG, RIGHT, CORRECTED),
        (WRONG, WRONG, REFUTED),
        (WRONG + RIGHT, RIGHT, CORRECTED),
        (VAGUE, (), UNDECIDED),
        (WRONG, VAGUE, UNDECIDED),
        (VAGUE + WRONG, RIGHT, CORRECTED),
    ],
)
def test_the_verdict_follows_from_the_comparisons(printed, corrected, verdict):
    assert Evidence(printed, corrected).verdict() == verdict


def test_a_wrong_constant_turns_the_verdict():
    evidence = Evidence(WRONG, RIGHT)
    assert evidence.verdict(distort=10.0) == HOLDS
    assert evidence.verdict(distort=0.2) == REFUTED


@claim("told", place="Lemma", family="arms", says="It is so.", how="Look.", erratum="there")
def told(lab):
    """Return nothing new."""
    return Evidence(RIGHT + WRONG, RIGHT)


def test_a_finding_tells_the_worst_and_knows_what_was_recorded():
    assert isinstance(told, Claim)
    finding = Finding(told, told.run(None), 0.1)
    assert finding.telling is WRONG[0]
    assert finding.telling_corrected is RIGHT[0]
    assert finding.verdict == CORRECTED
    assert not finding.as_recorded
    plain = finding.to_dict()
    assert plain["erratum"] == "docs/errata.md#there"
    assert plain["printed"][1]["refuted"] is True
    assert Finding(told, Evidence(RIGHT), 0.0).telling_corrected is None


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (1551.3, 1520.0, 1582.6, "1,551 ± 31"),
        (0.0, 0.0, 0.01, "0 [0, 0.01]"),
        (2.5, math.nan, math.nan, "2.5"),
        (1.0, 1.0 - 1e-9, 1.0 + 1e-9, "1 [1, 1]"),
    ],
)
def test_numbers_are_written_with_the_digits_they_have(value, low, high, text):
    assert Measured(value, low, high).text == text
