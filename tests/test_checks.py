"""What users type is checked once, and refused in one sentence."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen import checks
from halfseen.errors import HalfseenError, InvalidInput, shorten

HUGE = pytest.param(16**9000, id="huge")
NOT_NUMBERS = ["0.5", b"1", None, True, False, np.True_, [1.0], {}, 1j, object()]
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float64("nan"), 10**400, -(10**400), HUGE]


@pytest.mark.parametrize("value", NOT_NUMBERS + NOT_FINITE)
def test_number_refuses(value):
    with pytest.raises(InvalidInput, match=r"^`UCB\.bound` must be a (finite )?number.*; got "):
        checks.number("UCB.bound", value)


@pytest.mark.parametrize("value", [0.25, np.float32(0.25), Fraction(1, 4)])
def test_number_accepts_real_numbers(value):
    found = checks.number("x", value)
    assert type(found) is float
    assert found == 0.25


@pytest.mark.parametrize(
    ("limits", "inside", "outside", "words"),
    [
        ({"above": 0.0}, 1e-300, 0.0, "above 0"),
        ({"at_least": 0.0}, 0.0, -1e-300, "at least 0"),
        ({"below": 1.0}, 0.999, 1.0, "below 1"),
        ({"at_most": 1.0}, 1.0, 1.0 + 1e-15, "at most 1"),
        ({"above": 0.0, "at_most": 1.0}, 1.0, 0.0, "above 0 and at most 1"),
    ],
)
def test_number_limits(limits, inside, outside, words):
    assert checks.number("x", inside, **limits) == inside
    with pytest.raises(InvalidInput, match=f"must be a finite number {words}; got"):
        checks.number("x", outside, **limits)


@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True, None, math.nan, math.inf, 6, HUGE])
def test_whole_refuses(value):
    with pytest.raises(InvalidInput, match="`n` must be a whole number of at least 1 and at most"):
        checks.whole("n", value, at_least=1, at_most=5)


@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float64(3.0)])
def test_whole_accepts(value):
    found = checks.whole("n", value, at_least=1)
    assert type(found) is int
    assert found == 3


@pytest.mark.parametrize("value", ["0.5", b"1", 0.5, None, {0.5: 1}, {0.5}, frozenset([0.5])])
def test_vector_refuses_what_is_not_a_list(value):
    with pytest.raises(InvalidInput, match="`v` must be a list of numbers"):
        checks.vector("v", value)


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, *NOT_FINITE, np.zeros((2, 2))])
def test_vector_names_the_entry(bad):
    with pytest.raises(InvalidInput, match=r"`v\[1\]` must be"):
        checks.vector("v", [1.0, bad])


def test_vector_lengths():
    assert checks.vector("v", np.array([1, 2])) == (1.0, 2.0)
    assert checks.vector("v", (x for x in (1, 2)), length=2) == (1.0, 2.0)
    assert checks.vector("v", [], may_be_empty=True) == ()
    with pytest.raises(InvalidInput, match="`v` must not be empty"):
        checks.vector("v", [])
    with pytest.raises(InvalidInput, match="must have 3 entries, one per arm; got 2 entries"):
        checks.vector("v", [1, 2], length=3)


@given(st.floats())
def test_observation_probabilities_are_above_0_and_at_most_1(value):
    if 1e-300 <= value <= 1.0:
        assert checks.observation_probabilities("p", [value]) == (value,)
        assert checks.observation_probability("p", value) == value
        return
    with pytest.raises(InvalidInput, match=r"`p\[0\]`.*leave it out"):
        checks.observation_probabilities("p", [value])
    with pytest.raises(InvalidInput, match=r"`p`.*leave it out"):
        checks.observation_probability("p", value)


def test_one_of_suggests_the_nearest():
    assert checks.one_of("kind", "ucb", ["ucb", "random"]) == "ucb"
    with pytest.raises(InvalidInput, match=r"got 'randon'. Did you mean 'random'\?"):
        checks.one_of("kind", "randon", ["ucb", "random"])
    for value in (None, 3, 16**9000, ["ucb"], "zzz"):
        with pytest.raises(InvalidInput, match="Choose one of those"):
            checks.one_of("kind", value, ["ucb", "random"])


@pytest.mark.parametrize("value", [-1, 1.5, "1", True, 2**128, HUGE])
def test_seed_refuses(value):
    with pytest.raises(InvalidInput, match="`seed` must be a whole number"):
        checks.seed("seed", value)


def test_seed_takes_128_bits():
    assert checks.seed("seed", 2**128 - 1) == 2**128 - 1


@pytest.mark.parametrize("value", [0, 1, "yes", "false", None])
def test_yes_or_no_refuses(value):
    with pytest.raises(InvalidInput, match="`baseline` must be true or false"):
        checks.yes_or_no("baseline", value)


def test_inside_names_the_owner():
    with (
        pytest.raises(InvalidInput, match=r"^`Owner\.part` must be"),
        checks.inside("Owner"),
    ):
        checks.number("Thing.part", "x")


def test_an_error_is_a_value_error_and_keeps_its_parts():
    error = InvalidInput("UCB.bound", "must be a number", "x", "Give a number.")
    assert isinstance(error, ValueError)
    assert isinstance(error, HalfseenError)
    assert (error.field, error.requirement, error.value, error.fix) == (
        "UCB.bound",
        "must be a number",
        "x",
        "Give a number.",
    )
    assert str(error) == "`UCB.bound` must be a number; got 'x'. Give a number."


def test_an_error_is_one_line_and_cannot_steer_a_terminal():
    error = InvalidInput("problems.a\n\x1b[31mb", "is missing", "x\ny", "Add\tit.")
    assert str(error) == r"`problems.a\n\x1b[31mb` is missing; got 'x\ny'. Add\tit."


@pytest.mark.slow
def test_shorten_never_fails():
    class Bad:
        def __repr__(self):
            raise RuntimeError("no")

    deep = []
    for _ in range(100_000):
        deep = [deep]
    for value in (16**9000, Bad(), deep):
        assert "cannot be written out" in shorten(value)
    assert len(shorten("x" * 1000)) == 80
    assert shorten(0.5) == "0.5"
