"""Whatever a spec holds, reading it gives a study or a sentence; never anything else."""

import copy
import math
import re

import pytest
from example_studies import SPEC, TOML
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import HalfseenError, Study
from halfseen.studies.spec import parse_spec, study_from

KEYS = [
    *("horizon", "seed", "alphas", "baseline", "problems", "censorships", "policies"),
    *("offers", "some", "plain", "wrong", "kind", "means", "reward", "noise", "actions", "base"),
    *("observe", "arms", "available", "rounds", "regularization", "bound"),
]
NUMBERS = st.sampled_from(
    [
        *(0, -1, 1, 2**63, 10**400, True, False, 0.0, -0.0, 0.5, 1e-17, 5e-324, 1e308, -1e308),
        *(math.nan, math.inf, -math.inf),
    ]
) | st.builds(pow, st.just(-16), st.sampled_from([9000, 9001]))  # too long to be written out
WORDS = st.sampled_from(
    [
        *("ucb", "arms", "per-arm", "uniform", "fixed", "random", "sequence", "impute-zero", "all"),
        *("bernoulli-thompson", "rademacher", "", "\ud800", "\x00", "a\nb"),
    ]
)
LEAVES = NUMBERS | WORDS | st.text(max_size=5) | st.none() | st.floats() | st.integers()
KEY = st.sampled_from(KEYS) | st.text(max_size=4)
GARBAGE = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEY, inner, max_size=4),
    max_leaves=12,
)


def deep(depth, link):
    value = "ucb"
    for _ in range(depth):
        value = {"kind": "impute-zero", link: value} if link else [value]
    return value


DEEP = st.builds(
    deep, st.sampled_from([3, 90, 400, 990, 3000]), st.sampled_from(["base", "actions", ""])
)


def places(content, path=()):
    """Yield the path of every entry of nested dictionaries and lists."""
    entries = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in list(entries):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


@st.composite
def mutated(draw):
    content = copy.deepcopy(SPEC)
    for _ in range(draw(st.integers(1, 4))):
        found = list(places(content))
        if not found:
            break
        *way, last = draw(st.sampled_from(found))
        place = content
        for step in way:
            place = place[step]
        what = draw(st.sampled_from(["drop", "replace", "replace", "add", "swap", "deepen"]))
        if what == "drop":
            del place[last]
        elif what == "add" and isinstance(place, dict):
            place[draw(KEY)] = draw(GARBAGE)
        elif what == "swap":
            place[last] = copy.deepcopy(draw(st.sampled_from([SPEC, SPEC["problems"], [SPEC]])))
        elif what == "deepen":  # too deep to be mutated any further
            place[last] = draw(DEEP)
            break
        else:
            place[last] = draw(GARBAGE)
    return content


def refused_or_built(read, content):
    try:
        outcome = read(content)
    except HalfseenError as error:
        outcome = error
    assert isinstance(outcome, Study) or (str(outcome) and str(outcome).isprintable())


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(mutated())
def test_mutated_dictionaries(content):
    refused_or_built(study_from, content)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(GARBAGE)
def test_garbage(content):
    refused_or_built(study_from, content)


SNIPPETS = st.sampled_from(
    [
        *(
            "[",
            "]",
            "{",
            "}",
            "=",
            '"',
            "\n",
            "'''",
            "#",
            ".",
            ",",
            "nan",
            "inf",
            "-",
            "1979-05-27",
        ),
        *("07:32:00", "0x" + "f" * 5000, "9" * 5000, "1e999", "true", "[" * 2000, "{a=" * 500),
        *("[[policies]]", "[policies.plain.base]", "\r", "\x00", "\x7f", '"\\ud800"', "\ud800"),
    ]
)


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(st.data())
def test_mutated_text(data):
    text = TOML
    for _ in range(data.draw(st.integers(1, 4))):
        values = [match.span(1) for match in re.finditer(r"= (.*)", text)]
        if values and data.draw(st.booleans()):
            start, end = data.draw(st.sampled_from(values))
        else:
            start = data.draw(st.integers(0, len(text)))
            end = min(len(text), start + data.draw(st.integers(0, 20)))
        text = text[:start] + data.draw(SNIPPETS | st.text(max_size=6)) + text[end:]
    refused_or_built(parse_spec, text)
