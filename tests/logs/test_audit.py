"""The audit of a log: its numbers, its words, and the ends of its range."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from halfseen import UCB, ArmedBandit, InvalidInput, Study, audit, simulate
from halfseen.logs.sentences import ASSUMPTION


@pytest.fixture(scope="module")
def found():
    rows = {
        "a": ["x"] * 100 + ["y"] * 100,
        "r": [1.0] * 20 + [None] * 80 + [2.0] * 80 + [None] * 20,
    }
    return audit(rows, action="a", reward="r")


def test_numbers(found):
    assert (found.rows, found.seen, found.arms) == (200, 100, ("x", "y"))
    whole = found.effective_dimension
    assert whole.value == pytest.approx(6.25)
    assert whole.low < 6.25 < whole.high
    first = found.rates.records()[0]
    assert first["rate"] == 0.2
    assert first["low"] == pytest.approx(0.1266556)
    assert first["contributes"] == 5.0
    assert first["worth of 1% more"] == pytest.approx(1 / 0.2 - 1 / 0.21)
    assert first["mean reward"] == 1.0


def test_words(found):
    text = str(found)
    assert "You see 50% of outcomes (100 of 200, 2 arms)." in text
    assert "3.12 times as many decisions" in text
    assert "More feedback is worth most on “x” (probability over 99%)" in text
    assert ASSUMPTION in text


def test_the_censorship_fits_a_study(found):
    study = Study(
        ArmedBandit([0.5, 0.4]), found.censorship, UCB(), horizon=20, replications=2, baseline=False
    )
    assert simulate(study).summary().records()[0]["effective dimension"] == pytest.approx(6.25)


def test_json_has_no_infinities():
    found = audit({"a": [1, 2], "r": [1.0, None]}, action="a", reward="r")
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["effective_dimension"]["value"] is None
    assert content["rates"][0]["contributes"] is None
    assert content["warnings"][0]["kind"] == "never-seen"
    assert len(found.to_dict(most=1)["rates"]) == 1


def test_nothing_missing_and_everything_missing():
    whole = audit({"a": [1, 2] * 5, "r": [1.0, 3.0] * 5}, action="a", reward="r")
    assert "costs you nothing" in str(whole)
    assert whole.effective_dimension.value == 2
    none = audit({"a": [1, 2], "r": [None, None]}, action="a", reward="r")
    assert "Nothing can be learned" in str(none)
    assert math.isinf(none.effective_dimension.value)
    assert all(0 < p < 1 for p in none.censorship.observe)


def test_one_arm():
    found = audit({"a": [1, 1], "r": [1.0, None]}, action="a", reward="r")
    assert found.effective_dimension.value == 2.0
    assert "More feedback" not in str(found)


def test_an_arm_never_seen_borrows_its_rate():
    found = audit({"a": [1] * 9 + [2], "r": [1.0] * 9 + [None]}, action="a", reward="r")
    assert found.observe[0] == 1.0
    assert 0 < found.observe[1] < 1
    assert "Of the arms that were seen nothing is missing." in str(found)
    assert "No reward was ever seen of “2”" in str(found)


def test_an_arm_never_seen_does_not_void_the_headline():
    rows = {"a": [1] * 40 + [2] * 40 + [3] * 2, "r": ([1.0, None] * 40) + [None] * 2}
    found = audit(rows, action="a", reward="r")
    assert "takes 2 times as many decisions of the arms that were seen" in found.answers[1]
    assert "In the worst case over all problems" in found.answers[1]
    assert "No reward was ever seen of “3”" in found.answers[1]
    assert found.to_dict()["effective_dimension"]["of_arms_seen"]["factor"] == 2.0
    assert found.to_dict()["never_seen"] == ["3"]


def test_relabelling_changes_nothing_and_more_rows_narrow():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 5, 2000), "o": rng.random(2000) < 0.4})
    first = audit(frame, action="a", observed="o").effective_dimension
    other = audit(frame.assign(a=4 - frame.a), action="a", observed="o").effective_dimension
    assert other.value == pytest.approx(first.value)
    assert other.low == pytest.approx(first.low, rel=0.01)
    more = audit(pd.concat([frame] * 4), action="a", observed="o").effective_dimension
    assert first.low < more.low < more.high < first.high


@pytest.mark.slow
def test_very_many_arms():
    frame = pd.DataFrame({"a": np.arange(20_000), "o": np.arange(20_000) % 2 == 0})
    found = audit(frame, action="a", observed="o")
    assert len(found.rates) == 20_000
    assert "The 40 arms of 20,000 that cost most" in str(found)


def test_level():
    with pytest.raises(InvalidInput, match="level"):
        audit({"a": [1], "r": [1]}, action="a", reward="r", level=1.0)


def test_a_voided_text_says_so_before_every_number_and_names_no_best_arm():
    log = {"a": ["x", "y"] * 300, "r": [1.0, None, 1.0, 1.0, None, None] * 100}
    text = str(audit(log, action="a", reward="r"))
    assert "Until this is resolved, every number below is invalid and marked void." in text
    blocks = text.split("\n\n")
    assert all(line.startswith("void: ") for line in blocks[2].splitlines())
    assert blocks[3].startswith("void:\n")
    assert "best" not in text
    assert "safest" not in text
    assert "void" not in str(audit({**log, "r": [1.0, None, 0.0] * 200}, action="a", reward="r"))


def test_long_names_keep_their_quotes_and_one_arm_is_not_several():
    names = ["x" * 60, "y" * 60, "z" * 60, "w" * 60]
    log = {"arm": [*names, "seen"] * 20, "reward": [None, None, None, None, 1.0] * 20}
    found = audit(log, action="arm", reward="reward")
    sentence = next(answer for answer in found.answers if "No reward was ever seen of" in answer)
    assert sentence.count("“") == sentence.count("”") == 3
    assert "and 1 more" in sentence
    assert not any("them" in str(warning) for warning in found.warnings)


def test_a_level_above_99_percent_is_not_called_100():
    log = {"a": ["x", "y"] * 50, "r": [1, None, None, 0] * 25}
    found = audit(log, action="a", reward="r", level=0.999)
    assert "99.9% interval" in found.answers[1]


def test_few_decisions_are_said_to_tell_nothing():
    one = audit({"a": ["x"], "r": [1.0]}, action="a", reward="r")
    assert one.answers[1] == "1 decision is too few to estimate what missing feedback costs."
    some = audit({"a": ["x", "y"] * 4, "r": [1.0, None] * 4}, action="a", reward="r")
    assert some.answers[1] == "8 decisions are too few to estimate what missing feedback costs."
    enough = audit({"a": ["x", "y"] * 20, "r": [1.0, 0.0] * 20}, action="a", reward="r")
    assert enough.answers[1] == "Missing feedback costs you nothing."


def test_the_table_shows_means_in_80_columns():
    log = {"a": ["x", "yes"] * 400, "r": [12345.25, 0.0, None, 7.5] * 200}
    said = str(audit(log, action="a", reward="r")).splitlines()
    head = next(i for i, line in enumerate(said) if line.startswith("arm"))
    assert "mean" in said[head].split()
    assert "12,345.25" in said[head + 2] + said[head + 3]
    assert max(map(len, said[head : head + 4])) <= 80
    without = audit({"a": ["x", "y"] * 20, "o": [True, False] * 20}, action="a", observed="o")
    assert " mean " not in str(without).split("\n\n")[1]
