"""A study is checked when it is made, and its digest tells studies apart."""

import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from example_studies import (
    BINARY_POLICIES,
    EVERY_ACTION_SET,
    EVERY_POLICY,
    MEANS,
    broad_study,
    small_study,
)

from halfseen import (
    UCB,
    ArmedBandit,
    BernoulliThompson,
    Delayed,
    Fixed,
    FixedArms,
    HalfseenError,
    ImputeMean,
    ImputeZero,
    InvalidInput,
    PerArm,
    Study,
    Uniform,
)


@pytest.mark.parametrize("horizon", [0, -5, 1.5, math.nan, math.inf, "10", True, None, 2**48 + 1])
def test_horizon_is_refused(horizon):
    with pytest.raises(InvalidInput, match=r"`Study\.horizon` must be a whole number of at least"):
        small_study(horizon=horizon)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("replications", [0, -1, 2.5, "3", None, 2**31 + 1]),
        ("seed", [-1, 0.5, "x", None, 2**128]),
        ("checkpoints", [0, 1.5, "x", None, 10**7]),
        (
            "alphas",
            [0.5, "1", [0.0], [-1.0], [math.nan], [math.inf], ["x"], {0.5}, [10**400]],
        ),
        ("baseline", ["no", 0, 1, None]),
        ("problems", [None, [], {}, "x", UCB(), {"a": UCB()}, {"a": None}]),
        ("policies", [None, [], {}, "ucb", UCB, {"a": "ucb"}, {"a": UCB}]),
        ("censorships", [None, 0.5, {}, {"a": 0.5}]),
    ],
)
def test_fields_are_refused_by_name(field, values):
    for value in values:
        with pytest.raises(InvalidInput, match=rf"^`Study\.{field}"):
            small_study(**{field: value})


@pytest.mark.parametrize("name", ["", " ", "\t", "a\nb", "\x1b[31m", "\x00", "\ud800", 3, None])
def test_names_are_printable(name):
    for group, noun in (
        ("problems", ArmedBandit(MEANS, reward="bernoulli")),
        ("censorships", Uniform(0.5)),
        ("policies", UCB()),
    ):
        with pytest.raises(InvalidInput, match=rf"^`Study\.{group}` must have printable names"):
            small_study(**{group: {name: noun}})


def test_combinations_are_checked_with_their_place():
    with pytest.raises(InvalidInput, match=r"^`censorships\.c on problems\.p: PerArm\.observe`"):
        small_study(problems={"p": ArmedBandit(MEANS)}, censorships={"c": PerArm([0.5])})
    with pytest.raises(InvalidInput, match=r"^`policies\.t on problems\.p: reward` must be 'bern"):
        small_study(problems={"p": ArmedBandit(MEANS)}, policies={"t": BernoulliThompson()})


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "1", True])
def test_regularization_is_above_0(value):
    with pytest.raises(InvalidInput, match=r"^`UCB\.regularization` must be a .*above 0; got"):
        UCB(regularization=value)


def test_imputing_policies_do_not_nest():
    for wrapper in (ImputeZero, ImputeMean):
        for base in (ImputeZero(), ImputeMean(), None, "ucb", UCB):
            with pytest.raises(InvalidInput, match=r"base` must be a policy that leaves missing"):
                wrapper(base=base)


def test_the_baseline_is_added_once_and_never_over_another_name():
    assert list(small_study().censorships) == ["some", "everything seen"]
    assert list(small_study(baseline=False).censorships) == ["some"]
    assert list(small_study(censorships=PerArm([1, 1, 1])).censorships) == ["per-arm"]
    taken = small_study(censorships={"everything seen": Uniform(0.5)})
    assert list(taken.censorships) == ["everything seen", "everything seen'"]
    assert taken.censorships["everything seen'"] == Uniform(1.0)


@pytest.mark.parametrize("horizon", [1, 2, 7, 1000, 2**48])
@pytest.mark.parametrize("checkpoints", [1, 2, 50])
def test_recorded_rounds_rise_to_the_horizon(horizon, checkpoints):
    rounds = small_study(horizon=horizon, checkpoints=checkpoints).rounds_recorded
    assert rounds.dtype == np.int64
    assert rounds[-1] == horizon
    assert rounds[0] >= 1
    assert np.all(np.diff(rounds) > 0)
    assert len(rounds) <= checkpoints


def test_a_study_is_frozen():
    with pytest.raises(AttributeError):
        small_study().horizon = 5


BANDIT = ArmedBandit(MEANS, noise=0.25)
BINARY = {*BINARY_POLICIES, "conversion-ucb", "stratified-ucb", "proxy-ucb"}
CHANGES = [
    {"horizon": 61},
    {"replications": 5},
    {"seed": 4},
    {"checkpoints": 6},
    {"alphas": [0.5]},
    {"alphas": [0.5, 1.5]},
    {"alphas": []},
    {"censorships": {"c": PerArm([0.3, 0.9, 0.5])}},
    {"censorships": {"c": Uniform(0.3)}},
    {"policies": {"p": UCB(regularization=2.0)}},
    {"policies": {"p": UCB(bound=2.0)}},
    {"censorships": {"c": Delayed(Fixed(3), window=5)}},
    {"censorships": {"c": Delayed(Fixed(3), window=6)}},
    {"censorships": {"c": Delayed(Fixed(2), window=5)}},
    *({"policies": {"p": policy}} for kind, policy in EVERY_POLICY.items() if kind not in BINARY),
    *(
        {"problems": {"b": changed}}
        for changed in (
            ArmedBandit([0.6, 0.5, 0.3], noise=0.25),
            replace(BANDIT, noise=0.5),
            replace(BANDIT, reward="uniform"),
            replace(BANDIT, reward="rademacher"),
            ArmedBandit(MEANS, reward="bernoulli"),
            *(replace(BANDIT, actions=actions) for actions in EVERY_ACTION_SET.values()),
            replace(BANDIT, actions=FixedArms([0, 1])),
        )
    ),
]


def test_digests_change_with_everything_that_decides_numbers():
    base = {"problems": {"b": BANDIT}, "censorships": {"c": PerArm([0.3, 0.9, 1.0])}}
    base |= {"policies": {"p": UCB()}}
    studies = [small_study(**(base | change)) for change in ({}, *CHANGES)]
    digests = [study.digest() for study in studies]
    cells = [study.fingerprints().cells[0, 0, 0] for study in studies]
    assert len(set(digests)) == len(set(cells)) == len(studies)
    assert small_study(**base).digest() == digests[0]


def test_cells_keep_their_digest_when_others_join():
    alone = small_study(policies={"plain": UCB()})
    renamed = small_study(policies={"other": ImputeZero(), "another name": UCB()})
    assert alone.fingerprints().cells[0, 0, 0] == renamed.fingerprints().cells[0, 0, 1]
    assert alone.digest() != renamed.digest()


@pytest.mark.slow
def test_digests_do_not_depend_on_the_process():
    code = "from example_studies import broad_study; print(broad_study().digest())"
    here = os.pathsep.join(
        [os.path.dirname(os.path.dirname(__file__)), os.environ.get("PYTHONPATH", "")]
    )
    for seed in ("0", "7"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": here}
        printed = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert printed.stdout.strip() == broad_study().digest()


def test_digests_take_numpy_numbers_for_what_they_are():
    plain = small_study(policies=UCB(regularization=2.0, bound=1.0))
    numpy = small_study(policies=UCB(regularization=np.float64(2), bound=np.float32(1)))
    assert plain.digest() == numpy.digest()
    assert isinstance(small_study(policies=UCB(np.int64(2))).digest(), str)


def test_every_refusal_is_a_halfseen_error():
    assert issubclass(InvalidInput, HalfseenError)
    with pytest.raises(HalfseenError):
        Study(None, None, None, horizon=None)
