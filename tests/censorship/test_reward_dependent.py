"""Censorship that depends on the reward."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from halfseen import (
    UCB,
    ArmedBandit,
    FiniteActions,
    HopefulUCB,
    InvalidInput,
    LinearBandit,
    LinUCB,
    PerArm,
    Result,
    RewardDependent,
    RewardLaw,
    Study,
    simulate,
)
from halfseen.draws import ENVIRONMENT, uniform
from halfseen.engine.cells.late_cell import arm_cell
from halfseen.report.study.answers import assumption
from halfseen.studies.spec import parse_spec
from halfseen.studies.toml_text import to_toml
from halfseen.theory import lower_bounds, regret_bounds

BINARY = ArmedBandit([0.6, 0.5], reward="bernoulli")
NORMAL = ArmedBandit([0.6, 0.5], noise=1.0)
HIDDEN = [{0: 0.8, 1: 0.3}, 0.5]


def high_ones(reward, arm):
    return 0.9 if reward > 0.5 else 0.1 + 0.1 * arm


def test_rates_and_seen_means_are_the_weighted_sums():
    hidden = RewardDependent(HIDDEN)
    assert hidden.rates(BINARY) == pytest.approx([0.6 * 0.3 + 0.4 * 0.8, 0.5], rel=1e-15)
    assert hidden.seen_means(BINARY) == pytest.approx([0.18 / 0.5, 0.5], rel=1e-15)
    by_function = RewardDependent(high_ones)
    assert by_function.rates(BINARY) == pytest.approx([0.58, 0.55], rel=1e-15)
    signs = ArmedBandit([0.5, 0.2], noise=0.1, reward="rademacher")
    assert RewardDependent([{0.4: 0.2, 0.6: 1.0}, 1]).rates(signs) == pytest.approx([0.6, 1.0])


def test_sampled_rates_of_a_logistic_are_near_the_integral():
    x = np.linspace(-8.0, 8.0, 20_001)
    density = np.exp(-0.5 * x**2) / np.exp(-0.5 * x**2).sum()
    found = RewardDependent({"intercept": -1.0, "slope": 2.0}).rates(NORMAL)
    for mean, rate in zip(NORMAL.means, found, strict=True):
        assert rate == pytest.approx((density / (1 + np.exp(1 - 2 * (mean + x)))).sum(), abs=0.03)


@pytest.mark.parametrize(
    ("problem", "observe"),
    [(BINARY, HIDDEN), (BINARY, high_ones), (NORMAL, high_ones)],
    ids=["table", "function", "normal"],
)
def test_seen_rewards_and_waits_follow_their_joint_law(problem, observe):
    censorship, size = RewardDependent(observe), 4000
    cell = arm_cell(problem, censorship, UCB(), 1000, 3, np.array([1000]), np.ones(1))
    world, kernel = cell.world(), cell.feedback
    stream = (*world.key, 0, ENVIRONMENT)
    drawn = np.array([kernel(world.arm_constants, 0, k, world.law, stream) for k in range(size)])
    above = 0.6 if problem is BINARY else 0.5 * math.erfc(-0.1 / math.sqrt(2.0))
    shown = {False: 0.8, True: 0.3} if observe is HIDDEN else {False: 0.1, True: 0.9}
    weights = {False: (1.0 - above) * shown[False], True: above * shown[True]}
    rate = sum(weights.values())
    chi_square = 0.0
    for large in (False, True):
        same = (drawn[:, 0] > 0.5) == large
        for wait in (1, 2, 3, 4):
            late = wait == 4
            found = np.sum(same & ((drawn[:, 1] >= 4) if late else (drawn[:, 1] == wait)))
            share = (1 - rate) ** (wait - 1) * weights[large] / (rate if late else 1.0)
            chi_square += (found - size * share) ** 2 / (size * share)
    assert chi_square < 24.3  # 0.999 quantile with 7 degrees of freedom


def tracks(study, engine):
    result = simulate(study, engine=engine)
    return [result.data[name].values for name in ("regret", "pulls", "observations")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "observe"),
    [(BINARY, HIDDEN), (NORMAL, high_ones), (NORMAL, {"intercept": 0.0, "slope": 1.0})],
    ids=["table", "function", "logistic"],
)
@pytest.mark.parametrize("engine", ["cpu", pytest.param("dask", marks=pytest.mark.slow)])
def test_reference_cpu_and_dask_play_the_same_trajectory(problem, observe, engine):
    study = Study(
        problem, RewardDependent(observe), UCB(), horizon=200, replications=4, baseline=False
    )
    for mine, other in zip(tracks(study, "reference"), tracks(study, engine), strict=True):
        assert np.array_equal(mine, other)


@pytest.mark.slow
def test_the_same_chance_for_every_reward_is_per_arm():
    same = [{0: 0.3, 1: 0.3}, {0: 0.7, 1: 0.7}]
    studies = [
        Study(BINARY, c, {"u": UCB(), "h": HopefulUCB()}, horizon=300, replications=5, seed=2)
        for c in ({"x": RewardDependent(same)}, {"x": PerArm([0.3, 0.7])})
    ]
    for mine, other in zip(*(tracks(study, "cpu") for study in studies), strict=True):
        assert np.array_equal(mine, other)


@pytest.mark.slow
def test_ucb_settles_on_the_arm_with_the_larger_seen_mean():
    study = Study(BINARY, RewardDependent(HIDDEN), UCB(), horizon=20_000, replications=10)
    pulls = simulate(study, engine="cpu").data.pulls.values[0, 0, 0, :, -1]
    assert np.all(pulls[:, 1] > 0.8 * 20_000)


def test_nothing_but_the_trivial_bound_is_claimed_and_the_sentence_says_why():
    hidden = RewardDependent(HIDDEN)
    bounds = regret_bounds(BINARY, hidden, UCB(), 1000)
    assert [bound.name for bound in bounds if bound.applies] == ["trivial"]
    assert "rewards are missing not at random" in bounds["joint"].reason
    assert lower_bounds(BINARY, hidden, 1000, 100).asymptotic is None
    assert "missing not at random" in hidden.in_words()
    assert "0.8, 0.3 for rewards 0, 1; 0.5 for every reward" in hidden.in_words()
    assert "Python function" in RewardDependent(high_ones).in_words()
    assert "slope 2" in RewardDependent({"intercept": 1, "slope": 2}).in_words()


SPEC = """
horizon = 100
problems.offers = { kind = "arms", means = [0.6, 0.5], reward = "bernoulli" }
policies.UCB = { kind = "ucb" }
censorships.hidden = { kind = "reward-dependent", observe = [{ 0 = 0.8, 1 = 0.3 }, 0.5] }
censorships.all = { kind = "reward-dependent", observe = { 0 = 0.8, 1 = 0.3 } }
censorships.curve = { kind = "reward-dependent", observe = { intercept = -1, slope = 2 } }
"""


def test_a_spec_holds_tables_and_logistics_and_comes_back_from_toml():
    read = parse_spec(SPEC)
    assert read.censorships["hidden"] == RewardDependent(HIDDEN)
    assert read.censorships["all"] == RewardDependent({0: 0.8, 1: 0.3})
    assert not read.censorships["all"].by_place
    again = parse_spec(to_toml(read))
    assert again.censorships == read.censorships
    assert again.digest() == read.digest()


def test_a_study_with_a_function_is_keyed_by_its_code():
    def study(observe):
        return Study(BINARY, RewardDependent(observe), UCB(), horizon=10).digest()

    assert study(lambda reward, arm: 0.5) == study(lambda reward, arm: 0.5)
    assert study(lambda reward, arm: 0.5) != study(lambda reward, arm: 0.25)
    with pytest.raises(InvalidInput, match="must be described by numbers to be written as TOML"):
        to_toml(Study(BINARY, RewardDependent(high_ones), UCB(), horizon=10))


def played(observe, problem=BINARY):
    return Study(problem, RewardDependent(observe), UCB(), horizon=10)


def on_vectors():
    actions = FiniteActions([[1.0, 0.0], [0.0, 1.0]])
    problem = LinearBandit([0.6, 0.5], 0.1, actions)
    return Study(problem, RewardDependent(0.5), LinUCB(), horizon=10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RewardDependent("x"), "observe` must say how likely a reward is seen"),
        (lambda: RewardDependent(None), "observe` must say how likely a reward is seen"),
        (lambda: RewardDependent([]), "observe` must not be empty"),
        (lambda: RewardDependent({}), "observe` must not be empty"),
        (lambda: RewardDependent(1.5), "observe` must be a finite number"),
        (lambda: RewardDependent([{0: 0.5, 1: 1.5}]), r"observe\[0\]\[1\]` must be a finite num"),
        (lambda: RewardDependent({"a": 0.5}), "observe` must name rewards by numbers; got 'a'"),
        (lambda: RewardDependent({0: 0.5, "0": 0.2}), "observe` must name every reward once"),
        (lambda: RewardDependent({"slope": 1}), "must have an intercept and a slope"),
        (lambda: RewardDependent(math.exp), "observe` must be a plain Python function"),
        (lambda: played([0.5]), "RewardDependent.observe` must have 2 entries, one per arm"),
        (lambda: played({0: 0.5}), "arm 0` must have a probability for a reward of 1"),
        (lambda: played({0: 0.5, 1: 0.5, 2: 0.5}), "must name rewards of this arm, 0 or 1; got 2"),
        (lambda: played(HIDDEN, NORMAL), "arm 0` must be a function or have an intercept and a sl"),
        (lambda: played([0.0, 0.5]), "arm 0` must let some rewards be seen; got 0"),
        (lambda: played(lambda r, a: 2.0), r"RewardDependent.observe\(0, 0\)` must be a finite"),
        (on_vectors, "must not be RewardDependent on vectors"),
        (lambda: RewardDependent(0.5).probabilities(2), "must not depend on the reward here"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


def two_values(table, arm, count, stream):
    return 2.0 * table[arm, 0] if uniform(stream, count, arm) < 0.5 else 0.0


@dataclass(frozen=True)
class Coin(RewardLaw):
    kind = "coin of a test"
    takes_noise = False
    draw = staticmethod(two_values)

    def values(self, mean, noise):
        return (0.0, 0.5), (2.0 * mean, 0.5)


def test_a_law_of_ones_own_with_finitely_many_values_takes_a_table():
    problem = ArmedBandit([0.5, 1.0], reward=Coin())
    table = RewardDependent([{0: 0.5, 1: 0.0}, {0: 0.5, 2: 1.0}])
    assert table.rates(problem).tolist() == [0.25, 0.75]
    assert table.seen_means(problem) == pytest.approx([0.0, 4.0 / 3.0])
    study = Study(problem, table, UCB(), horizon=50, replications=2, baseline=False)
    seen = simulate(study, engine="reference").data.observations.values
    assert np.all(seen[..., -1, :] > 0)


def test_a_report_says_that_no_bound_holds_where_the_reward_decides_what_is_seen():
    study = Study(BINARY, {"ones hidden": RewardDependent(HIDDEN)}, UCB(), horizon=10)
    assert assumption(study).startswith("Under “ones hidden” whether a reward is seen depends on")
    assert "does not depend on the reward" in assumption(
        Study(BINARY, PerArm([1, 1]), UCB(), horizon=9)
    )


def test_a_stored_study_comes_back(tmp_path):
    study = Study(BINARY, RewardDependent(HIDDEN), UCB(), horizon=50, replications=2)
    stored = simulate(study, engine="reference", out=tmp_path / "study")
    again = Result.load(tmp_path / "study")
    assert again.study == study
    assert np.array_equal(again.data.regret.values, stored.data.regret.values)


@pytest.mark.parametrize("observe", [[[0, 1], [1, 0.5]], [[0.3, 0.8], [0.8, 0.8]]])
def test_lists_of_two_numbers_may_mean_two_things_and_are_refused(observe):
    with pytest.raises(InvalidInput, match="pairs of reward and probability, or the probabilities"):
        RewardDependent(observe)


@pytest.mark.parametrize(
    "observe", [{0: 0.8, 1: 0.3}, HIDDEN, {"intercept": 0.5, "slope": -1.0}, [0.2, 0.3], 0.4]
)
def test_tables_are_dictionaries_on_disk(observe):
    hidden = RewardDependent(observe)
    study = Study(BINARY, hidden, UCB(), horizon=10, replications=1, seed=0)
    assert hidden in parse_spec(to_toml(study)).censorships.values()
