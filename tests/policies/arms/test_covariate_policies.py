"""Policies that are told a covariate, and the censorship that has one."""

import math

import numpy as np
import pytest

from halfseen import (
    Agent,
    ArmedBandit,
    GammaUCB,
    HoeffdingUCB,
    HopefulUCB,
    InvalidInput,
    PerArm,
    ProxyUCB,
    RewardDependent,
    StratifiedUCB,
    Study,
    WithCovariate,
    simulate,
)
from halfseen.draws import ENVIRONMENT
from halfseen.engine.loops.late_arms import joint_outcome
from halfseen.policies.arms.base import COUNT, PULLED, TOTAL
from halfseen.policies.arms.proxy_ucb import missing_odds, proxied
from halfseen.policies.arms.stratified_ucb import FIRST, stratified
from halfseen.problems import Setting
from halfseen.studies.spec import parse_spec
from halfseen.studies.toml_text import to_toml

NO_STREAM = (0, 0, 0, 0)
BINARY = ArmedBandit([0.6, 0.5], reward="bernoulli")
SAYS_MUCH = [[0.8, 0.2], [0.2, 0.8]]  # P(M | R = 0), P(M | R = 1)
SAYS_NOTHING = [[0.5, 0.5], [0.5, 0.5]]


def state_of(*values):
    """Return the state of one arm: of each value of M its rounds, seen rewards and their sum."""
    state = np.zeros((1, FIRST + 3 * len(values)))
    for m, triple in enumerate(values):
        state[0, FIRST + 3 * m : FIRST + 3 * m + 3] = triple
    played, seen, total = np.sum(values, axis=0)
    state[0, [PULLED, COUNT, TOTAL]] = played, seen, total
    return state


def index_of(policy, state, horizon=math.e):
    table = policy.table(Setting(np.full(1, 0.5), 1.0, horizon, "bernoulli"))
    return policy.kernels().index(state, 0, 1, NO_STREAM, table)


def test_the_stratified_mean_its_variance_and_factor_match_the_golden_values():
    state = state_of((60, 48, 14), (40, 8, 7))
    expected = (0.525, 0.455364583333, 0.0375)
    assert stratified(state, 0) == pytest.approx(expected, rel=1e-11)
    plain, narrow = StratifiedUCB(), StratifiedUCB(form="variance")
    beta = 2.0  # k log T
    assert index_of(plain, state) == pytest.approx(0.525 + math.sqrt(beta / 2 * 0.0375), rel=1e-11)
    width = math.sqrt(2 * beta * 0.455364583333 / 100) + 3 * beta / 100
    assert index_of(narrow, state) == pytest.approx(0.525 + width, rel=1e-11)


def test_a_value_played_and_never_seen_makes_the_stratified_index_infinite():
    assert index_of(StratifiedUCB(), state_of((5, 3, 1), (2, 0, 0))) == math.inf
    assert index_of(StratifiedUCB(), state_of((5, 3, 1), (0, 0, 0))) < math.inf
    assert index_of(StratifiedUCB(), state_of((0, 0, 0), (0, 0, 0))) == math.inf


def test_the_proxy_mean_its_variance_and_odds_match_the_golden_values():
    state = state_of((56, 38, 8), (64, 30, 20))  # seen [[30, 8], [10, 20]], missing (18, 34)
    assert missing_odds(state, 0)[:2] == pytest.approx((0.169230769231, 1.61538461538), rel=1e-11)
    assert proxied(state, 0) == pytest.approx((0.610256410256, 1.22851471898), rel=1e-11)
    beta = 2.0
    wide = math.sqrt(2 * beta * 1.22851471898 / 120) + 3 * beta / 120
    highest = (28 + 52) / 120 + math.sqrt(beta / 240)
    assert index_of(ProxyUCB(), state) == pytest.approx(min(0.610256410256 + wide, highest))


def test_a_proxy_with_more_values_than_rewards_recovers_the_truth_from_exact_shares():
    laws, seen, mean = [[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]], (0.8, 0.3), 0.6
    paid = (1 - mean, mean)
    values = []
    for m in range(3):
        shown = [paid[r] * laws[r][m] * seen[r] for r in (0, 1)]
        values.append((sum(paid[r] * laws[r][m] for r in (0, 1)), sum(shown), shown[1]))
    assert proxied(state_of(*values), 0)[0] == pytest.approx(0.6, rel=1e-12)


@pytest.mark.parametrize(
    "values", [((50, 20, 8), (50, 20, 8)), ((50, 50, 20), (50, 20, 19)), ((50, 0, 0), (50, 0, 0))]
)
def test_where_the_proxy_does_not_identify_the_mean_nothing_is_assumed(values):
    state = state_of(*values)
    assert math.isnan(proxied(state, 0)[0])
    assert index_of(ProxyUCB(), state) == index_of(HopefulUCB(), state)


def test_covariate_reward_and_feedback_follow_their_joint_law():
    world = WithCovariate([SAYS_MUCH, SAYS_NOTHING], [[[0.8, 0.3], [0.6, 0.1]], 0.5])
    table, size = world.joint_table(BINARY), 4000
    draws = [joint_outcome(table, 0, k, (7, 8, 0, ENVIRONMENT)) for k in range(size)]
    chi_square = 0.0
    for m in (0, 1):
        for r in (0, 1):
            share = (0.4, 0.6)[r] * SAYS_MUCH[r][m]
            for seen in (True, False):
                p = world.observe[0][m][r]
                expected = size * share * (p if seen else 1 - p)
                found = sum(1 for x, d, z in draws if (x, z) == (r, m) and (d == 0.0) == seen)
                chi_square += (found - expected) ** 2 / expected
    assert chi_square < 24.3  # 0.999 quantile with 7 degrees of freedom


def test_who_is_not_told_the_covariate_plays_the_reward_dependent_world():
    told = WithCovariate([SAYS_MUCH, SAYS_NOTHING], [[[0.8, 0.3], [0.6, 0.1]], [0.9, 0.3]])
    untold = RewardDependent([{0: 0.8 * 0.8 + 0.2 * 0.6, 1: 0.2 * 0.3 + 0.8 * 0.1}, 0.6])
    assert told.rates(BINARY) == pytest.approx(untold.rates(BINARY), rel=1e-14)
    assert told.without_covariate.seen_means(BINARY) == pytest.approx(untold.seen_means(BINARY))
    assert told.by_reward
    assert "missing not at random" in told.in_words()
    assert not WithCovariate([SAYS_MUCH] * 2, [0.5, 0.2]).by_reward


@pytest.mark.slow
@pytest.mark.parametrize("policy", [StratifiedUCB(), ProxyUCB()], ids=["strata", "proxy"])
@pytest.mark.parametrize(
    "censorship",
    [
        WithCovariate([SAYS_MUCH, SAYS_NOTHING], [[[0.8, 0.3], [0.6, 0.1]], 0.5]),
        pytest.param(PerArm([0.5, 0.5]), marks=pytest.mark.slow),
    ],
    ids=["told", "untold"],
)
def test_reference_and_cpu_play_the_same_trajectory(policy, censorship):
    study = Study(BINARY, censorship, policy, horizon=200, replications=3, baseline=False)
    reference, cpu = (simulate(study, engine=engine).data for engine in ("reference", "cpu"))
    for name in ("regret", "pulls", "observations"):
        assert np.array_equal(reference[name].values, cpu[name].values)


SPEC = """
horizon = 100
problems.offers = { kind = "arms", means = [0.6, 0.5], reward = "bernoulli" }
policies.strata = { kind = "stratified-ucb", levels = 2, form = "variance" }
policies.proxy = { kind = "proxy-ucb" }

[censorships.told]
kind = "with-covariate"
covariate = [[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]
observe = [[[0.8, 0.3], 0.5], 0.5]
"""


def test_a_spec_holds_a_covariate_and_comes_back_from_toml():
    read = parse_spec(SPEC)
    expected = WithCovariate([SAYS_MUCH, SAYS_NOTHING], [[[0.8, 0.3], 0.5], 0.5])
    assert read.censorships["told"] == expected
    again = parse_spec(to_toml(read))
    assert again.censorships == read.censorships
    assert again.policies == read.policies
    assert again.digest() == read.digest()


def played(censorship, policy, problem=BINARY):
    return Study(problem, censorship, policy, horizon=10)


HALF = WithCovariate([SAYS_MUCH] * 2, [0.5, 0.5])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WithCovariate([], []), "covariate` must be a list with one entry per arm"),
        (lambda: WithCovariate([[[1.0]]], [1]), r"covariate\[0\]` must have a list for each rew"),
        (
            lambda: WithCovariate([[[0.5, 0.4], [1, 0]]], [1]),
            r"covariate\[0\]\[0\]` must sum to 1",
        ),
        (
            lambda: WithCovariate([SAYS_MUCH, [[1.0], [1.0]]], [1, 1]),
            r"covariate\[1\]` must have 2 probabilities given each reward",
        ),
        (lambda: WithCovariate([SAYS_MUCH], [1, 1]), "observe` must have 1 entries, one per arm"),
        (lambda: WithCovariate([SAYS_MUCH], [[0.5]]), r"observe\[0\]` must have 2 entries"),
        (lambda: WithCovariate([SAYS_MUCH], [2]), r"observe\[0\]` must be a finite number"),
        (lambda: WithCovariate([SAYS_MUCH], [[1, 2]]), r"observe\[0\]\[1\]` must be a finite"),
        (lambda: played(WithCovariate([SAYS_MUCH], [1]), ProxyUCB()), "must have 2 entries, one"),
        (lambda: played(HALF, HoeffdingUCB(), ArmedBandit([0, 1])), "needs arms with rewards of 0"),
        (lambda: played(HALF, ProxyUCB(levels=1)), "ProxyUCB.levels` must be at least 2"),
        (lambda: ProxyUCB(levels=0), "`ProxyUCB.levels` must be a whole number"),
        (lambda: StratifiedUCB(form="x"), "`StratifiedUCB.form` must be one of hoeffding, var"),
        (lambda: played(PerArm([1, 1]), ProxyUCB(), ArmedBandit([0, 1])), "with rewards of 0 or 1"),
        (lambda: Agent(ProxyUCB(), arms=2, horizon=10), "follow the age of decisions or need a"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


POLICIES = {
    "UCB": HoeffdingUCB(),
    "nothing assumed": HopefulUCB(),
    "upper": GammaUCB(2.5),
    "lower": GammaUCB(2.5, objective="lower"),
    "strata": StratifiedUCB(),
    "strata, variance": StratifiedUCB(form="variance"),
    "proxy": ProxyUCB(),
}
CAUSE = [[0.8, 0.2], [2 / 15, 13 / 15]]  # M = 1 in 60%, reward .2 or .87 given M: mean .6
CAUSE_2 = [[0.7, 0.3], [0.3, 0.7]]
HIDDEN_ONES, SHOWN_ONES = {0: 0.298, 1: 0.15}, {0: 0.15, 1: 0.298}  # odds ratio 2.4
WORLDS = {
    "random": WithCovariate([SAYS_MUCH] * 2, [0.5, 0.5]),
    "covariate": WithCovariate([CAUSE, CAUSE_2], [[0.8, 0.2], 0.5]),
    "reward": WithCovariate([SAYS_MUCH] * 2, [[[0.8, 0.3]] * 2, 0.5]),
    "best rarely seen": RewardDependent([HIDDEN_ONES, 0.8]),
    "worst rarely seen": RewardDependent([0.8, SHOWN_ONES]),
}


@pytest.mark.parametrize("chances", [[[0.2, 0.9]] * 2, [[[0.2, 0.5], [0.9, 0.0]], 0.4]])
def test_what_is_seen_without_the_covariate(chances):
    told = WithCovariate([SAYS_MUCH, SAYS_NOTHING], chances)
    hidden = told.seen_by(HoeffdingUCB())
    assert told.seen_by(StratifiedUCB()) is told
    assert told.informs
    assert hidden.rates(BINARY) == pytest.approx(told.rates(BINARY))
    assert hidden.by_reward == told.by_reward
    assert hidden.informs == told.by_reward
