"""Late feedback as a censorship."""

import math

import numpy as np
import pytest

from halfseen import (
    UCB,
    ArmedBandit,
    ConversionUCB,
    Delayed,
    EmpiricalDelay,
    Fixed,
    GeometricDelay,
    InvalidInput,
    LinearBandit,
    LinUCB,
    ParetoDelay,
    QueuedPolicy,
    RandomActions,
    Study,
)
from halfseen.studies.spec import parse_spec
from halfseen.studies.toml_text import to_toml

SLOW, QUICK = ParetoDelay(0.7, 20, arrive=0.6), GeometricDelay(5, arrive=0.9)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (0, 62.97125367),
        (5, 13.27498895),
        (20, 6.491260445),
        (50, 5.056631939),
        (200, 4.269868077),
        (1000, 4.002351987),
    ],
)
def test_effective_dimension_falls_with_the_window_as_the_golden_values_do(window, expected):
    observe = Delayed([SLOW, QUICK, QUICK], window=window).checked(3)
    assert np.sum(1.0 / observe) == pytest.approx(expected, rel=1e-9)


def test_without_a_window_everything_that_ever_arrives_is_seen():
    assert Delayed([SLOW, QUICK]).probabilities(2).tolist() == [0.6, 0.9]
    assert Delayed(Fixed(0)).sees_everything
    assert not Delayed(Fixed(0), sends="conversions").sees_everything
    assert not Delayed(Fixed(1)).sees_everything


def test_the_sentence_says_when_what_is_missing_depends_on_the_reward():
    pair = Delayed([[Fixed(0), GeometricDelay(300)], Fixed(0)], window=100)
    assert pair.by_reward
    assert "missing not at random" in pair.in_words()
    assert "100 rounds are lost" in pair.in_words()
    assert "missing not at random" not in Delayed([Fixed(0), Fixed(2)]).in_words()
    assert Delayed(Fixed(1), sends="conversions").in_words().startswith("Only rewards above 0")


def study(censorship, policy=None, **problem):
    given = {"means": [0.6, 0.5], "reward": "bernoulli"} | problem
    return Study(ArmedBandit(**given), censorship, policy or UCB(), horizon=100)


def linear(censorship):
    actions = RandomActions(3, 2)
    return Study(LinearBandit([0.6, 0.5], 0.1, actions), censorship, LinUCB(), horizon=10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Delayed(3), "`Delayed.laws` must be a delay law"),
        (lambda: Delayed([]), "`Delayed.laws` must not be empty"),
        (lambda: Delayed([Fixed(1), 2]), r"`Delayed.laws\[1\]` must be a delay law"),
        (lambda: Delayed([[Fixed(1), 2]]), r"`Delayed.laws\[0\]\[1\]` must be a delay law"),
        (lambda: Delayed([[Fixed(1)] * 3]), r"`Delayed.laws\[0\]` must be a delay law"),
        (lambda: Delayed(Fixed(1), window=-1), "`Delayed.window` must be a whole number"),
        (lambda: Delayed(Fixed(1), window=1.5), "`Delayed.window` must be a whole number"),
        (lambda: Delayed(Fixed(1), window=math.nan), "`Delayed.window` must be a whole number"),
        (lambda: Delayed(Fixed(1), sends="clicks"), "`Delayed.sends` must be one of all, conv"),
        (lambda: study(Delayed([Fixed(1)] * 3)), "Delayed.laws` must have 2 entries, one per arm"),
        (
            lambda: Delayed([Fixed(1), Fixed(9)], window=3),
            "`Delayed.laws, arm 1` must let some rewards arrive within the window of 3 rounds",
        ),
        (
            lambda: Delayed(Fixed(5), window=3),
            "`Delayed.laws` must let some rewards arrive within the window of 3 rounds; got Fixed",
        ),
        (
            lambda: Delayed(Fixed(1, arrive=0.0), window=3),
            "`Delayed.laws` must let some rewards arrive; got",
        ),
        (
            lambda: study(Delayed(Fixed(1), sends="conversions"), reward="gaussian"),
            "Delayed.sends` must be all for these gaussian rewards",
        ),
        (
            lambda: study(Delayed(Fixed(1), sends="conversions"), reward="uniform", noise=0.4),
            "Delayed.sends` must be all for these uniform rewards",
        ),
        (
            lambda: study(Delayed(GeometricDelay(5)), ConversionUCB()),
            "ConversionUCB` must be played with a window",
        ),
        (
            lambda: study(Delayed(Fixed(5)), ConversionUCB([Fixed(1)] * 3)),
            "ConversionUCB.laws` must be one law, or 2, one per arm",
        ),
        (lambda: ConversionUCB("x"), "`ConversionUCB.laws` must be a delay law"),
        (lambda: ConversionUCB([]), "`ConversionUCB.laws` must not be empty"),
        (lambda: QueuedPolicy(QueuedPolicy()), "`QueuedPolicy.base` must be a policy that learns"),
        (
            lambda: linear(Delayed([Fixed(1), Fixed(2)])),
            "Delayed.laws` must be one law for all actions where actions change",
        ),
        (
            lambda: linear(Delayed(Fixed(1), sends="conversions")),
            "Delayed.sends` must be all for gaussian rewards",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


SPEC = """
horizon = 1000
problems.offers = { kind = "arms", means = [0.6, 0.5], reward = "bernoulli" }
policies.UCB = { kind = "queued", base = { kind = "hoeffding-ucb" } }
policies.known = { kind = "conversion-ucb", laws = { kind = "empirical", delays = [0, 3] } }

[censorships.late]
kind = "delayed"
window = 30
sends = "conversions"
laws = [
  { kind = "geometric", mean = 5 },
  [{ kind = "fixed", rounds = 2 }, { kind = "pareto", exponent = 0.7, scale = 20, arrive = 0.6 }],
]
"""


def test_a_spec_holds_delays_and_comes_back_from_toml():
    read = parse_spec(SPEC)
    late = read.censorships["late"]
    assert late == Delayed(
        [GeometricDelay(5), [Fixed(2), ParetoDelay(0.7, 20, arrive=0.6)]],
        window=30,
        sends="conversions",
    )
    assert read.policies["known"] == ConversionUCB(EmpiricalDelay([0, 3]))
    again = parse_spec(to_toml(read))
    assert again.censorships == read.censorships
    assert again.policies == read.policies
    assert again.digest() == read.digest()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"geometric"', '"geometrical"', r"censorships.late.laws\[0\].kind` must be a known kind"),
        ("mean = 5", "mean = -5", r"censorships.late.laws\[0\].mean` must be a finite number"),
        ("mean = 5", "means = 5", r"censorships.late.laws\[0\].means` is not a known key"),
        ("rounds = 2", "rounds = 0.5", r"laws\[1\]\[0\].rounds` must be a whole number"),
        ("window = 30", "window = -1", "censorships.late.window` must be a whole number"),
    ],
)
def test_a_mistake_in_a_spec_is_named_with_its_place(old, new, message):
    with pytest.raises(InvalidInput, match=message):
        parse_spec(SPEC.replace(old, new))


def test_messages_on_laws_fit_the_window_and_their_number():
    with pytest.raises(InvalidInput, match="must let some rewards arrive; got") as error:
        Delayed(Fixed(1, arrive=0.0))
    assert "None" not in str(error.value)
    four = Delayed([Fixed(rounds) for rounds in range(4)]).in_words()
    assert "and 1 other law." in four
    laws = [Fixed(1), Fixed(2)]
    assert Delayed(np.array(laws)) == Delayed(laws)
