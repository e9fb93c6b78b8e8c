"""Whatever a log holds, an audit answers or says in a sentence why not."""

import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import audit
from logs.test_counts import attempted

NUMBERS = st.none() | st.integers(-5, 5) | st.floats(-1e3, 1e3) | st.sampled_from([0, 1])
ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5)
)
TIMES = st.none() | st.integers(0, 9) | st.floats() | st.datetimes() | st.text(max_size=3)
NAMES = ["a", "r", "o", "t", "b", "p", "g", "u", "i", "x", "y"]
ROLES = {
    "action": "a",
    "reward": "r",
    "observed": "o",
    "time": "t",
    "feedback_time": "b",
    "propensity": "p",
    "context": "g",
    "unit": "u",
    "id": "i",
}


def answered(frame, columns):
    """Audit it, write everything about it, and return what was said if it could not be."""
    found, said = attempted(lambda: audit(frame, **columns))
    assert "\n" not in said
    if found is None:
        return None
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found)
    assert found.rows + found.counts.unnamed == len(frame)
    for caution in found.warnings:
        assert str(caution).endswith(".")
    return found


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_tables_that_make_sense(data):
    flags = st.none() | st.booleans()
    row = st.tuples(
        st.sampled_from(["x", "y", "", None]),
        *(NUMBERS, flags, st.integers(0, 9), st.integers(0, 99), st.floats(0, 1)),
        *(st.sampled_from("gh"), st.integers(0, 3), st.integers(0, 9), NUMBERS, NUMBERS),
    )
    rows = data.draw(st.lists(row, min_size=1, max_size=30))
    frame = pd.DataFrame(rows, columns=NAMES).astype({"r": float, "x": float, "y": float})
    roles = {"reward": "r"} | {
        role: ROLES[role] for role in data.draw(st.sets(st.sampled_from(list(ROLES))))
    }
    features = data.draw(st.sampled_from([[], ["x"], ["x", "y"]]))
    found = answered(frame, roles | {"features": features})
    usable = frame.a.notna().any() if "action" in roles else features
    if usable and not features:
        assert found is not None


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_tables_that_do_not(data):
    row = st.tuples(ANYTHING, ANYTHING, ANYTHING, TIMES, TIMES, *[ANYTHING] * 6)
    rows = data.draw(st.lists(row, max_size=8))
    frame = pd.DataFrame(rows, columns=NAMES, dtype=object)
    roles = {role: ROLES[role] for role in data.draw(st.sets(st.sampled_from(list(ROLES))))}
    answered(frame, roles | {"features": data.draw(st.sampled_from([[], ["x", "y"]]))})
