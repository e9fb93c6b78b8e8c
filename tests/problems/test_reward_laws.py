"""Laws of rewards: each draws what it claims, on every engine, and your own extend them."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats

from halfseen import (
    UCB,
    UCB1,
    ArmedBandit,
    Exponential,
    InvalidInput,
    PerArm,
    Poisson,
    Result,
    RewardLaw,
    StudentT,
    Study,
    Uniform,
    register,
    simulate,
    theory,
)
from halfseen.draws import ENVIRONMENT, uniform
from halfseen.engine.loops.feedback import feedback
from halfseen.problems import REWARD_LAWS
from halfseen.problems.reward_laws import Gaussian
from halfseen.problems.rewards import law_named
from halfseen.studies.spec import parse_spec, study_from
from halfseen.studies.toml_text import to_toml

DRAWS = 20_000
STREAM = (3, 5, 0, 3)


def laplace(table, arm, count, stream):
    """Return mean plus noise times a Laplace number of variance 1."""
    u = uniform(stream, count, arm) - 0.5
    return table[arm, 0] - table[arm, 1] * math.copysign(math.log1p(-2.0 * abs(u)), u) / 2**0.5


@dataclass(frozen=True)
class Laplace(RewardLaw):
    kind: ClassVar[str] = "laplace"
    draw = staticmethod(laplace)


@dataclass(frozen=True)
class Shifted(RewardLaw):
    """Uniform on an interval of a width of its own."""

    kind: ClassVar[str] = "shifted"
    width: float
    draw = staticmethod(
        lambda table, arm, count, stream: (
            table[arm, 0] + table[arm, 1] * (uniform(stream, count, arm) - 0.5)
        )
    )

    def table(self, means, noise):
        return np.column_stack([means, noise * self.width])


@pytest.fixture(autouse=True)
def known(own_kinds):
    register(Laplace)
    register(Shifted)


def sample(law, mean, noise=1.0):
    table = law.table(np.array([mean]), np.array([noise]))
    return np.array([law.draw(table, 0, count, STREAM) for count in range(DRAWS)])


@pytest.mark.parametrize(
    ("law", "mean", "noise", "truth"),
    [
        ("gaussian", 0.5, 2.0, stats.norm(0.5, 2.0)),
        ("uniform", 0.5, 2.0, stats.uniform(0.5 - 2.0 * 3**0.5, 4.0 * 3**0.5)),
        ("exponential", 2.5, 1.0, stats.expon(scale=2.5)),
        (StudentT(1.5), 1.0, 0.5, stats.t(1.5, 1.0, 0.5)),
        (StudentT(3.0), -1.0, 2.0, stats.t(3.0, -1.0, 2.0)),
        (Laplace(), 1.0, 0.5, stats.laplace(1.0, 0.5 / 2**0.5)),
    ],
)
def test_draws_have_their_law(law, mean, noise, truth):
    drawn = sample(law_named("reward", law), mean, noise)
    # A right law fails with probability 1e-3; the draws are fixed.
    assert stats.kstest(drawn, truth.cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("kind", "mean"), [("poisson", 0.7), ("poisson", 40.0), ("bernoulli", 0.3)]
)
def test_counts_have_their_law(kind, mean):
    drawn = sample(REWARD_LAWS[kind](), mean)
    truth = stats.poisson(mean) if kind == "poisson" else stats.bernoulli(mean)
    cuts = np.unique(truth.ppf([0.1, 0.3, 0.5, 0.7, 0.9]))
    below = (drawn[:, None] <= cuts).mean(axis=0)
    spread = np.sqrt(truth.cdf(cuts) * (1.0 - truth.cdf(cuts)) / DRAWS)
    assert np.all(np.abs(below - truth.cdf(cuts)) <= 4.0 * spread + 1e-12)


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "uniform", "rademacher"])
def test_kernel_of_a_law_the_loops_know_draws_what_they_draw(kind):
    law = REWARD_LAWS[kind]()
    table = law.table(np.array([0.4]), np.array([0.7]))
    constants = np.array([[0.4, 0.7, 0.5, 0.0, 0.0]])
    stream = (3, 5, 0, ENVIRONMENT)
    for count in range(50):
        assert (
            law.draw(table, 0, count, stream)
            == feedback(constants, 0, count, law.loop_number, stream)[0]
        )


def test_moments_of_student_t():
    for degrees, order in ((3.0, 1.5), (1.5, 1.2), (5.0, 2.0)):
        truth = 2.0 * stats.t(degrees, scale=2.0).expect(lambda x, k=order: x**k, lb=0.0, ub=np.inf)
        assert StudentT(degrees).moment(order, 2.0) == pytest.approx(truth, rel=1e-4)
    with pytest.raises(InvalidInput, match="below the degrees of freedom"):
        StudentT(2.0).moment(2.0)


def test_policies_are_told_the_largest_standard_deviation_where_it_depends_on_the_mean():
    assert ArmedBandit([4.0, 9.0], reward="poisson").scale.tolist() == [3.0, 3.0]
    assert ArmedBandit([4.0, 9.0], reward=Exponential()).scale.tolist() == [9.0, 9.0]
    assert ArmedBandit([0.0], 2.0, reward=StudentT(4.0)).scale == pytest.approx([2.0 * 2**0.5])
    assert ArmedBandit([0.0], 2.0, reward=StudentT(1.5)).scale.tolist() == [2.0]


@pytest.mark.parametrize("law", ["poisson", "exponential"])
def test_laws_of_numbers_above_0_refuse_other_means_and_any_noise(law):
    with pytest.raises(InvalidInput, match=r"ArmedBandit\.means"):
        ArmedBandit([-0.1], reward=law)
    with pytest.raises(InvalidInput, match=f"is fixed by {law.capitalize()} rewards"):
        ArmedBandit([0.5], noise=0.5, reward=law)


def test_exponential_means_are_above_0():
    with pytest.raises(InvalidInput, match=r"ArmedBandit\.means\[0\]` must be .* above 0; got 0"):
        ArmedBandit([0.0, 1.0], reward="exponential")
    assert ArmedBandit([0.0, 1.0], reward="poisson").means == (0.0, 1.0)


@pytest.mark.parametrize("degrees", [1.0, 0.0, math.nan, "3", 1e7])
def test_student_t_needs_degrees_of_freedom_above_1(degrees):
    with pytest.raises(InvalidInput, match=r"^`StudentT\.degrees"):
        StudentT(degrees)


def study_of(law, **changes):
    problem = ArmedBandit([1.0, 0.5, 12.0], reward=law)
    policies = {"ucb": UCB(), "ucb1": UCB1()}
    return Study(problem, PerArm([0.3, 0.9, 0.6]), policies, horizon=80, replications=3, **changes)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["poisson", Laplace(), Shifted(2.0)])
def test_every_engine_plays_a_law_alike(law):
    study = study_of(law)
    plain = simulate(study, engine="reference").tracks
    fast = simulate(study, workers=2).tracks
    for name, array in plain.items():
        assert np.array_equal(array, fast[name]), name


def test_rewards_and_waits_are_independent():
    study = study_of("poisson")
    (_, cell), *_ = study.cells()
    world = cell.world()
    drawn = np.array(
        [
            cell.feedback(world.arm_constants, 2, count, world.law, (*world.key, 0, ENVIRONMENT))
            for count in range(DRAWS)
        ]
    )
    # Uncorrelated ones exceed 4 standard errors with probability 6e-5.
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 4.0 / math.sqrt(DRAWS)


@pytest.mark.parametrize("law", ["poisson", "laplace", StudentT(2.5), Shifted(2.0)])
def test_a_spec_holds_laws_with_their_parameters(law):
    study = study_of(law)
    assert study_from(study.to_dict()) == study
    assert parse_spec(to_toml(study)) == study


def test_a_spec_refuses_an_unknown_law_or_parameter():
    text = """
    horizon = 10
    problems.offers = { kind = "arms", means = [0.5], reward = %s }
    censorships.half = { kind = "uniform", observe = 0.5 }
    policies.UCB = { kind = "ucb" }
    """
    for reward, sentence in {
        '"poison"': "Did you mean 'poisson'",
        '{ kind = "student-t", degree = 3 }': "Did you mean 'degrees'",
        '{ kind = "student-t", degrees = 0.5 }': r"`problems\.offers\.reward\.degrees`",
        '"shifted"': "must come with its parameters",
    }.items():
        with pytest.raises(InvalidInput, match=sentence):
            parse_spec(text % reward)


def test_stored_numbers_are_keyed_by_the_code_of_a_law(tmp_path):
    def twice(table, arm, count, stream):
        return 2.0 * table[arm, 0] * uniform(stream, count, arm)

    def thrice(table, arm, count, stream):
        return 3.0 * table[arm, 0] * uniform(stream, count, arm)

    digests = set()
    for kernel in (twice, thrice):

        @dataclass(frozen=True)
        class Own(RewardLaw):
            kind: ClassVar[str] = "own"
            draw = staticmethod(kernel)

        digests.add(study_of(Own()).digest())
    assert len(digests) == 2
    assert study_of(StudentT(2.5)).digest() != study_of(StudentT(3.5)).digest()
    result = simulate(study_of(Laplace()), engine="reference", out=tmp_path / "study")
    again = Result.load(tmp_path / "study")
    assert again.study == result.study
    assert np.array_equal(again.tracks["regret"], result.tracks["regret"])


@pytest.mark.parametrize("law", [object(), 3, None])
def test_what_is_not_a_law_is_refused(law):
    with pytest.raises(InvalidInput, match=r"^`ArmedBandit\.reward` must be one of gaussian"):
        ArmedBandit([0.5], reward=law)


def test_the_class_of_a_law_is_refused_and_told_to_be_called():
    with pytest.raises(InvalidInput, match=r"must be an object, not a class.* Write Poisson\(\)"):
        ArmedBandit([0.5], reward=Poisson)


def test_a_law_without_a_kernel_or_not_a_dataclass_is_refused():
    class NoKernel(RewardLaw):
        kind = "none"

    with pytest.raises(InvalidInput, match="must be a dataclass with a name, `kind`, and a kernel"):
        ArmedBandit([0.5], reward=NoKernel())


def test_bounds_for_light_tails_are_not_claimed_for_heavy_ones():
    problem = ArmedBandit([0.5, 0.0], reward=StudentT(3.0))
    bounds = theory.regret_bounds(problem, PerArm([0.5, 0.9]), UCB(), 1000)
    assert [bound.name for bound in bounds if bound.applies] == ["trivial"]
    assert "proved for sub-Gaussian rewards" in bounds["instance"].reason


def arm_one_pays(table, arm, count, stream):
    return 10.0 * arm


def test_a_law_derived_from_a_built_in_one_draws_its_own_rewards():
    """The loops drew those of the law it was derived from, and no check told."""

    @dataclass(frozen=True)
    class Own(Gaussian):
        kind: ClassVar[str] = "own"
        draw = staticmethod(arm_one_pays)

    @dataclass(frozen=True)
    class Described(Gaussian):
        kind: ClassVar[str] = "described"

        def in_words(self):
            return "normal rewards, as before"

    @dataclass(frozen=True)
    class Numbered(RewardLaw):
        kind: ClassVar[str] = "numbered"
        draw = staticmethod(arm_one_pays)
        loop_number = 1

    @dataclass(frozen=True)
    class Levels(RewardLaw):
        kind: ClassVar[str] = "levels"
        draw = staticmethod(arm_one_pays)
        number: int = 4

    assert Own.loop_number is None
    assert Numbered.loop_number is None
    assert Levels().number == 4
    assert Levels().loop_number is None
    assert Described.loop_number == Gaussian.loop_number
    problem = ArmedBandit([0.5, 0.4], noise=0.1, reward=Own())
    study = Study(problem, Uniform(1.0), UCB(), horizon=20, replications=1, baseline=False)
    played = simulate(study, engine="reference").data["pulls"].values.reshape(-1, 2)[-1]
    assert played[1] > 15
