"""Each policy's formula against values worked out by hand or by another route."""

import math

import numpy as np
import pytest
from scipy import stats

from halfseen import (
    UCB,
    UCB1,
    ArmedBandit,
    BernoulliThompson,
    EpsilonGreedy,
    GammaThompson,
    GaussianThompson,
    ImputeMean,
    ImputeZero,
    InvalidInput,
    PerArm,
    RandomChoice,
    RobustUCB,
    StudentT,
    Study,
    Uniform,
    simulate,
)
from halfseen.problems import Setting

SETTING = Setting(noise=np.array([0.5, 2.0]), bound=0.9, horizon=5000, reward="gaussian")
STREAM = (1, 2, 3, 2)


def index(policy, count, total, *, arm=1, clock=100, setting=SETTING):
    state = np.zeros((setting.arms, policy.statistics))
    state[arm, :2] = count, total
    return policy.index(state, arm, clock, STREAM, policy.table(setting))


@pytest.mark.parametrize("lam", [0.01, 1.0, 50.0])
def test_ucb(lam):
    expected = 7.0 / (10 + lam) + math.sqrt(6 * 4 * math.log(5000) / (10 + lam))
    expected += lam * 0.9 / (10 + lam)
    assert index(UCB(lam), 10, 7.0) == pytest.approx(expected, rel=1e-14)


def test_ucb_width_is_what_the_index_adds():
    policy = UCB(0.5, bound=3.0)
    state = np.array([[4.0, 2.0], [9.0, -1.0]])
    table = policy.table(SETTING)
    width = policy.width(state, 0, 1, table)
    assert policy.index(state, 0, 1, STREAM, table) == pytest.approx(2.0 / 4.5 + width)
    assert width == pytest.approx(math.sqrt(1.5 * math.log(5000) / 4.5) + 1.5 / 4.5)


def test_ucb1_is_the_textbook_formula_for_rewards_in_the_unit_interval():
    expected = 0.3 + math.sqrt(2 * math.log(100) / 10)
    assert index(UCB1(), 10, 3.0, arm=0) == pytest.approx(expected)
    assert index(UCB1(), 0, 0.0) == math.inf


def test_robust_ucb_index_and_truncation():
    policy = RobustUCB(order=0.5, moment=3.0, bound=1.0)
    scale, log = 1.0 + 3.0 ** (1 / 1.5), 3 * math.log(5000)
    expected = 0.7 + 4 * scale * (log / 10) ** (1 / 3)
    assert index(policy, 10, 7.0) == pytest.approx(expected)
    table, state = policy.table(SETTING), np.zeros((2, 2))
    level = scale * (1 / log) ** (1 / 1.5)
    policy.learn(state, 0, 0.999 * level, table)
    assert state[0].tolist() == [1.0, 0.999 * level]
    policy.learn(state, 1, -1.001 * level, table)
    assert state[1].tolist() == [1.0, 0.0]


def test_robust_interval_holds_where_the_mean_is_misled():
    """Symmetric Pareto noise with 1.5 moments: the truncated mean stays inside its interval."""
    generator = np.random.default_rng(3)
    tail = 1.6
    moment = tail / (tail - 1.5)  # E|X|^1.5 of a Pareto number with x_min = 1
    policy = RobustUCB(order=0.5, moment=moment, bound=0.5)
    setting = Setting(np.array([1.0]), 0.5, 1000, "gaussian")
    table = policy.table(setting)
    failures = 0
    for _ in range(200):
        sign = generator.choice([-1.0, 1.0], 400)
        rewards = 0.5 + sign * generator.random(400) ** (-1 / tail)
        state = np.zeros((1, 2))
        for reward in rewards:
            policy.learn(state, 0, reward, table)
        gap = abs(state[0, 1] / state[0, 0] - 0.5)
        failures += gap > policy.width(state, 0, 1, table)
    assert failures == 0


def draws(policy, count, total, number=40_000, **keywords):
    return np.array(
        [index(policy, count, total, clock=c, **keywords) for c in range(1, number + 1)]
    )


@pytest.mark.slow
def test_gaussian_thompson_posterior():
    sample = draws(GaussianThompson(prior=3.0), 10, 7.0)
    weight = 1 / (10 + 4 / 9)
    assert sample.mean() == pytest.approx(7 * weight, abs=4 * 2 * math.sqrt(weight / 40_000))
    assert sample.std() == pytest.approx(2 * math.sqrt(weight), rel=0.015)
    prior = draws(GaussianThompson(prior=3.0), 0, 0.0)
    assert prior.std() == pytest.approx(3.0, rel=0.015)


def test_bernoulli_thompson_posterior():
    sample = draws(BernoulliThompson(), 10, 7.0, number=20_000)
    a, b = 8.0, 4.0
    variance = a * b / ((a + b) ** 2 * (a + b + 1))
    assert sample.mean() == pytest.approx(a / (a + b), abs=4 * math.sqrt(variance / 20_000))
    assert sample.var() == pytest.approx(variance, rel=0.04)


def test_bernoulli_thompson_refuses_other_rewards():
    with pytest.raises(InvalidInput, match="GaussianThompson"):
        Study(ArmedBandit([0.5, 0.4]), PerArm([0.5, 0.5]), BernoulliThompson(), horizon=100)


@pytest.mark.parametrize(
    ("law", "count", "total", "posterior"),
    [
        ("poisson", 4, 9.0, stats.gamma(9.5, scale=1 / 4)),
        ("poisson", 4, 0.0, stats.gamma(0.5, scale=1 / 4)),
        ("exponential", 4, 9.0, stats.invgamma(4, scale=9.0)),
        ("exponential", 1, 9.0, stats.invgamma(1, scale=9.0)),
    ],
)
def test_gamma_thompson_posterior(law, count, total, posterior):
    setting = Setting(np.ones(2), 1.0, 5000, law)
    sample = draws(GammaThompson(), count, total, number=5000, setting=setting)
    assert stats.kstest(sample, posterior.cdf).pvalue > 1e-3
    assert index(GammaThompson(), 0, 0.0, setting=setting) == math.inf


def test_gamma_thompson_on_rewards_that_do_not_fit():
    def study(law, policy):
        Study(ArmedBandit([0.5, 0.4], reward=law), Uniform(0.5), policy, horizon=100)

    with pytest.raises(InvalidInput, match="'poisson' or 'exponential' for GammaThompson"):
        study("gaussian", GammaThompson())
    with pytest.raises(InvalidInput, match=r"rules an arm out for ever.*Use UCB\(\)\."):
        study("exponential", ImputeZero(GammaThompson()))
    study("poisson", ImputeZero(GammaThompson()))


@pytest.mark.slow
@pytest.mark.parametrize("law", ["poisson", "exponential"])
def test_gamma_thompson_on_both_engines(law):
    problem = ArmedBandit([2.0, 1.5, 1.0], reward=law)
    study = Study(problem, PerArm([0.2, 0.9, 0.5]), GammaThompson(), horizon=200, replications=3)
    fast, plain = (simulate(study, engine=name).tracks["pulls"] for name in ("cpu", "reference"))
    assert np.array_equal(fast, plain)


def final_share(policy, arm, horizon=4000, means=(0.9, 0.1)):
    problem = ArmedBandit(means, noise=0.0)
    study = Study(problem, PerArm([1.0] * len(means)), policy, horizon=horizon, replications=20)
    return simulate(study).tracks["pulls"][0, 0, 0, :, -1, arm].mean() / horizon


@pytest.mark.slow
def test_epsilon_greedy_explores_as_often_as_it_says():
    assert final_share(EpsilonGreedy(0.2), 1) == pytest.approx(0.1, abs=0.005)
    decayed = sum(0.5 / t**0.5 for t in range(1, 4001)) / 2 / 4000
    assert final_share(EpsilonGreedy(0.5, decay=0.5), 1) == pytest.approx(decayed, abs=0.003)


@pytest.mark.slow
def test_random_choice_is_even():
    assert final_share(RandomChoice(), 2, means=(0.9, 0.1, 0.5)) == pytest.approx(1 / 3, abs=0.006)


def test_imputing_learns_what_was_not_seen():
    state, table = np.array([[4.0, 2.0], [0.0, 0.0]]), np.zeros((2, 1))
    assert ImputeZero().fill(state, 0, table) == 0.0
    assert ImputeMean().fill(state, 0, table) == 0.5
    assert math.isnan(ImputeMean().fill(state, 1, table))


@pytest.mark.slow
def test_imputing_zero_is_the_mistake_it_is_known_to_be():
    """Two Bernoulli arms .6/.5, seen with probability .34/.87: skipping wins by a factor."""
    problem = ArmedBandit([0.6, 0.5], reward="bernoulli")
    policies = {"skip": UCB1(), "zero": ImputeZero(UCB1())}
    study = Study(
        problem, PerArm([0.34, 0.87]), policies, horizon=20_000, replications=30, baseline=False
    )
    regret = simulate(study).tracks["regret"][0, 0, :, :, -1].mean(axis=1)
    assert regret[0] < 150
    assert regret[1] > 1800


def test_heteroskedastic_noise_narrows_the_interval_of_quiet_arms():
    quiet, loud = index(UCB(), 10, 7.0, arm=0), index(UCB(), 10, 7.0, arm=1)
    assert quiet < loud


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: UCB(0.0), "UCB.regularization"),
        (lambda: UCB(math.nan), "UCB.regularization"),
        (lambda: UCB(bound=-1.0), "UCB.bound"),
        (lambda: UCB1(-1.0), "UCB1.exploration"),
        (lambda: RobustUCB(order=0.0), "RobustUCB.order"),
        (lambda: RobustUCB(order=1.5), "RobustUCB.order"),
        (lambda: RobustUCB(moment=-1.0), "RobustUCB.moment"),
        (lambda: GaussianThompson(0.0), "GaussianThompson.prior"),
        (lambda: BernoulliThompson(successes=0.5), "BernoulliThompson.successes"),
        (lambda: EpsilonGreedy(1.5), "EpsilonGreedy.epsilon"),
        (lambda: EpsilonGreedy(decay=-1.0), "EpsilonGreedy.decay"),
        (lambda: ImputeZero(base=ImputeMean()), "ImputeZero.base"),
        (lambda: ImputeMean(base="ucb"), "ImputeMean.base"),
    ],
)
def test_bad_parameters_are_named(build, field):
    with pytest.raises(InvalidInput) as caught:
        build()
    assert caught.value.field == field
    assert f"`{field}`" in str(caught.value)


@pytest.mark.slow
def test_with_heavy_tails_ucb_fails_and_robust_ucb_does_not():
    law, gap, horizon = StudentT(1.6), 4.0, 100_000
    study = Study(
        ArmedBandit([gap / 2, -gap / 2], reward=law),
        PerArm([0.1, 1.0]),
        {"ucb": UCB(), "robust": RobustUCB(order=0.5, moment=law.moment(1.5))},
        horizon=horizon,
        replications=200,
        checkpoints=12,
        baseline=False,
    )
    tracks = simulate(study).tracks
    ucb, robust = tracks["regret"][0, 0, :, :, -1]
    assert (ucb > 0.9 * gap * horizon).mean() == 0.035  # never plays the good arm again
    assert robust.max() < 7_000
    assert ucb.mean() > 2.0 * robust.mean()
    missed = tracks["optimism_failed"][0, 0, :, :, -1].mean(axis=1)
    assert missed[0] > 0.5
    assert missed[1] == 0.0
