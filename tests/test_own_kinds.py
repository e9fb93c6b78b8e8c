"""Kinds of your own work in studies, specs, theory and on disk, on every engine."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from halfseen import (
    GLMUCB,
    UCB,
    UCB1,
    AnyFunction,
    ArmActions,
    ArmedBandit,
    Censorship,
    FiniteActions,
    GeneralizedLinearBandit,
    InvalidInput,
    LinearActions,
    LinearBandit,
    LinUCB,
    Policy,
    Problem,
    RandomActions,
    Result,
    RewardLaw,
    SequenceOfActions,
    StudentT,
    Study,
    Uniform,
    UnitBall,
    register,
    simulate,
    theory,
)
from halfseen.censorship import Profile
from halfseen.studies.spec import parse_spec, study_from
from halfseen.studies.toml_text import to_toml

ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-0.8, 0.6]])


@dataclass(frozen=True)
class Fading(Censorship):
    """Long actions, and arms with a large number, are seen less."""

    kind: ClassVar[str] = "fading"
    rate: float

    def probabilities(self, actions):
        if isinstance(actions, int):
            return self.rate ** np.arange(1, actions + 1)
        return self.rate ** (1.0 + np.abs(actions).sum(axis=1))


def ramp(projection, table):
    return 0.5 + table[0] * projection


@dataclass(frozen=True)
class Ramp(Censorship):
    """Feedback rises linearly along the first coordinate."""

    kind: ClassVar[str] = "ramp"
    slope: float

    def profile(self, dimension):
        return Profile(ramp, np.eye(dimension)[0], np.array([self.slope]))

    def probabilities(self, actions):
        return 0.5 + self.slope * np.asarray(actions)[:, 0]


@dataclass(frozen=True)
class Halved(Censorship):
    """Half of what another censorship lets through is seen."""

    kind: ClassVar[str] = "halved"
    inner: Censorship

    def probabilities(self, actions):
        return 0.5 * self.inner.probabilities(actions)


@dataclass(frozen=True)
class Mixed(Censorship):
    """Each decision falls to one of several censorships, with given weights."""

    kind: ClassVar[str] = "mixed"
    parts: tuple[Censorship, ...]
    weights: np.ndarray
    shown_as: tuple[str, ...] | None = None

    def probabilities(self, actions):
        return self.weights @ [part.probabilities(actions) for part in self.parts]


@dataclass(frozen=True)
class InSeries(Censorship):
    """Feedback must pass several censorships, which have names."""

    kind: ClassVar[str] = "in-series"
    by_name: dict[str, Censorship]

    def probabilities(self, actions):
        return np.prod([part.probabilities(actions) for part in self.by_name.values()], axis=0)


@dataclass(frozen=True)
class Renamed(Policy):
    """Another policy by another name."""

    kind: ClassVar[str] = "renamed"
    inner: Policy = UCB()  # noqa: RUF009

    def kernels(self):
        return self.inner.kernels()

    def table(self, setting):
        return self.inner.table(setting)


@dataclass(frozen=True)
class EqualGaps(Problem):
    kind: ClassVar[str] = "equal-gaps"
    arms: int
    gap: float

    def bandit(self):
        return ArmedBandit([0.9] + [0.9 - self.gap] * (self.arms - 1))


@dataclass(frozen=True)
class HeavyGap(Problem):
    kind: ClassVar[str] = "heavy-gap"
    law: "RewardLaw | None" = None

    def bandit(self):
        return ArmedBandit([0.9, 0.5], noise=0.1, reward=self.law or "gaussian")


@dataclass(frozen=True)
class Neighbours(ArmActions):
    kind: ClassVar[str] = "neighbours"
    width: int

    def subsets(self, arms):
        return [[(arm + k) % arms for k in range(self.width)] for arm in range(arms)]


@dataclass(frozen=True)
class Axes(LinearActions):
    kind: ClassVar[str] = "axes"
    same_every_round: ClassVar[bool] = True
    dimension: int

    @property
    def count(self):
        return self.dimension

    @property
    def fixed(self):
        return np.eye(self.dimension)


@dataclass(frozen=True)
class Box(LinearActions):
    kind: ClassVar[str] = "box"
    count: int
    dimension: int
    side: float = 0.5

    def offer(self, rng, clock):
        return rng.uniform(-self.side, self.side, size=(self.count, self.dimension))


OWN = (Fading, Ramp, Halved, Mixed, InSeries, Renamed, EqualGaps, HeavyGap, Neighbours, Axes, Box)


@pytest.fixture(autouse=True)
def known(own_kinds):
    for kind in OWN:
        register(kind)


ARMS = ArmedBandit([0.6, 0.5, 0.2])
STUDIES = {
    "censorship of arms": (ARMS, Fading(0.7), UCB()),
    "problem": (EqualGaps(3, 0.4), Fading(0.7), UCB()),
    "kinds in fields": (HeavyGap(StudentT(4.0)), Halved(Fading(0.7)), UCB()),
    "kinds in a tuple": (
        ARMS,
        Mixed((Fading(0.7), Uniform(0.5)), np.array([0.2, 0.8]), ("a", "b")),
        UCB(),
    ),
    "kinds by name": (ARMS, InSeries({"way": Fading(0.7), "back": Uniform(0.5)}), UCB()),
    "policy in a policy": (ARMS, Uniform(0.5), Renamed(UCB1())),
    "set of arms": (ArmedBandit(ARMS.means, actions=Neighbours(2)), Uniform(0.5), UCB()),
    "censorship of a finite set": (
        LinearBandit([0.5, -0.3], actions=FiniteActions(ROWS)),
        Fading(0.7),
        LinUCB(),
    ),
    "censorship of a sequence": (
        LinearBandit([0.5, -0.3], actions=SequenceOfActions(ROWS.reshape(2, 2, 2))),
        Fading(0.7),
        LinUCB(),
    ),
    "censorship of drawn actions": (
        LinearBandit([0.5, -0.3], actions=RandomActions(3, 2)),
        Fading(0.7),
        LinUCB(),
    ),
    "profile on the ball": (LinearBandit([0.5, -0.3]), Ramp(0.4), LinUCB()),
    "fixed vectors": (LinearBandit([0.5, -0.3], actions=Axes(2)), Uniform(0.5), LinUCB()),
    "offered vectors": (LinearBandit([0.5, -0.3], actions=Box(3, 2)), Ramp(0.4), LinUCB()),
    "generalized linear": (
        GeneralizedLinearBandit([0.5, -0.3], actions=Axes(2)),
        Fading(0.7),
        GLMUCB(),
    ),
}


def study_of(name):
    return Study(*STUDIES[name], horizon=40, replications=2, checkpoints=3, baseline=False)


@pytest.mark.parametrize("name", STUDIES)
def test_own_kinds_are_played_described_and_stored(name, tmp_path):
    study = study_of(name)
    played = simulate(study, engine="reference", out=tmp_path / "study")
    assert parse_spec(to_toml(study)) == study
    assert study_from(study.to_dict()) == study
    again = Result.load(tmp_path / "study")
    assert again.study == study
    for key, array in played.tracks.items():
        assert np.array_equal(array, again.tracks[key])


@pytest.mark.parametrize(
    "name",
    [
        "censorship of arms",
        "set of arms",
        pytest.param("profile on the ball", marks=pytest.mark.slow),
    ],
)
def test_compiled_loops_play_own_kinds_as_plain_python_does(name):
    study = study_of(name)
    plain, fast = (simulate(study, engine=engine).tracks for engine in ("reference", "cpu"))
    for key, array in plain.items():
        assert np.array_equal(array, fast[key]), key


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ({"rate": "often"}, r"`censorships\.ours\.rate` must be a number; got 'often'"),
        ({"rate": True}, r"`censorships\.ours\.rate` must be a number; got True"),
    ],
)
def test_a_field_of_another_type_than_annotated_is_named(written, sentence):
    content = study_of("censorship of arms").to_dict()
    content["censorships"] = {"ours": {"kind": "fading"} | written}
    with pytest.raises(InvalidInput, match=sentence):
        study_from(content)


def test_an_unknown_kind_inside_others_is_found_where_it_is():
    content = study_of("kinds by name").to_dict()
    content["censorships"]["in-series"]["by_name"]["back"]["kind"] = "unifrom"
    with pytest.raises(InvalidInput, match=r"by_name\.back\.kind` must be a known .* 'uniform'"):
        study_from(content)


def test_a_function_inside_others_is_not_taken_for_a_kind_that_a_spec_can_hold():
    inner = AnyFunction(lambda action: 0.5)
    bandit = LinearBandit([0.5, -0.3], actions=FiniteActions(ROWS))
    study = Study(bandit, Mixed((inner, Uniform(0.5)), np.array([0.2, 0.8])), LinUCB(), horizon=9)
    assert list(study.functions) == ["censorships.mixed.parts[0].function"]


def test_a_problem_is_played_as_the_bandit_it_makes():
    made = study_of("problem")
    bandit = EqualGaps(3, 0.4).bandit()
    plain = Study(bandit, Fading(0.7), UCB(), horizon=40, replications=2, checkpoints=3)
    first, second = (simulate(study, engine="reference").tracks for study in (made, plain))
    assert np.array_equal(first["regret"][:, 0], second["regret"][:, 0])
    assert made.bandits["equal-gaps"] == bandit


def test_a_profile_sees_what_the_listed_probabilities_see():
    bandit = LinearBandit([0.5, -0.3], actions=SequenceOfActions(ROWS.reshape(2, 2, 2)))

    @dataclass(frozen=True)
    class Listed(Ramp):
        def profile(self, dimension):
            return None

    first, second = (
        simulate(Study(bandit, c, LinUCB(), horizon=60, replications=3), engine="reference").tracks
        for c in (Ramp(0.4), Listed(0.4))
    )
    assert np.array_equal(first["observations"][:, 0], second["observations"][:, 0])


def test_theory_that_needs_probabilities_takes_own_censorships():
    bounds = theory.regret_bounds(ARMS, Fading(0.7), UCB(), 100_000)
    same = theory.regret_bounds(ARMS, Uniform(0.7), UCB(), 100_000)
    assert bounds.smallest.value > same.smallest.value
    bandit = LinearBandit([0.5, -0.3], actions=FiniteActions(ROWS))
    assert theory.regret_bounds(bandit, Fading(0.7), LinUCB(), 1000).smallest.value > 0.0
    assert theory.instance_dimension(ARMS, Fading(0.5)) == pytest.approx(4 / 0.1 + 8 / 0.4)


class Shapeless(Fading):
    def probabilities(self, actions):
        return np.full(actions + 1, 0.5)


class Impossible(Fading):
    def probabilities(self, actions):
        return np.linspace(0.5, 1.5, actions)


class Wordy(Fading):
    def probabilities(self, actions):
        return ["often"] * actions


@pytest.mark.parametrize(
    ("censorship", "sentence"),
    [
        (Shapeless(0.5), r"Shapeless\.probabilities` must return 3 numbers"),
        (
            Impossible(0.5),
            r"probabilities\[2\]` must be above 0 and at most 1; got 1.5",
        ),
        (Wordy(0.5), r"Wordy\.probabilities` must return 3 numbers"),
    ],
)
def test_wrong_probabilities_are_refused_with_a_sentence(censorship, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Study(ARMS, censorship, UCB(), horizon=10)


def test_own_kinds_that_do_not_fit_are_refused_with_a_sentence():
    with pytest.raises(InvalidInput, match="must have a `profile` on the unit ball"):
        Study(LinearBandit([0.5, -0.3], actions=UnitBall(2)), Fading(0.5), LinUCB(), horizon=9)
    with pytest.raises(InvalidInput, match=r"Neighbours\.subsets\[0\]|actions\.subsets\[0\]"):
        ArmedBandit([0.5, 0.4], actions=Neighbours(3))
    bandit = LinearBandit([0.5, -0.3], actions=Narrow(3, 2))
    with pytest.raises(InvalidInput, match=r"offer in round 1` must return an array of shape"):
        Study(bandit, Uniform(0.5), LinUCB(), horizon=9)


class Narrow(Box):
    def offer(self, rng, clock):
        return np.zeros((1, 2))


class Plain(Censorship):
    kind = "plain"

    def probabilities(self, actions):
        return np.ones(actions)


def test_a_censorship_that_is_no_dataclass_is_refused_with_a_sentence():
    with pytest.raises(InvalidInput, match="a dataclass with a name, `kind`"):
        Study(ARMS, {"plain": Plain()}, UCB(), horizon=10)


@dataclass(frozen=True)
class Listed(Censorship):
    p: np.ndarray
    kind: ClassVar[str] = "listed, for tests"

    def probabilities(self, actions):
        return self.p


def test_own_kinds_that_hold_arrays_and_their_studies_and_results_can_be_compared():
    def study(p):
        return Study(ARMS, Listed(np.array([0.5, 0.6, p])), UCB(), horizon=10, replications=2)

    assert Listed(np.ones(2)) == Listed(np.ones(2)) != Listed(np.zeros(2))
    assert Listed(np.ones(2)) != Fading(0.5)
    assert study(0.7) == study(0.7) != study(0.8)
    results = [simulate(study(p), engine="reference") for p in (0.7, 0.7, 0.8)]
    assert results[0] == results[1] != results[2]
    assert len({Uniform(0.5), Uniform(0.5), UCB(), UCB()}) == 2


class Long(Box):
    def offer(self, rng, clock):
        return np.full((self.count, self.dimension), 3.0)


def test_own_actions_that_are_too_long_are_not_told_of_a_parameter_they_lack():
    bandit = LinearBandit([0.5, -0.3], actions=Long(3, 2))
    with pytest.raises(InvalidInput, match=r"length of at most 1.*Divide every action by its len"):
        Study(bandit, Uniform(0.5), LinUCB(), horizon=9)
