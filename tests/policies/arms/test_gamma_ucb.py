"""Policies for rewards that are missing not at random."""

import math

import numpy as np
import pytest

from halfseen import ArmedBandit, GammaUCB, InvalidInput, PerArm, Study, simulate
from halfseen.policies.arms.base import COUNT, PULLED, TOTAL
from halfseen.problems import Setting
from halfseen.testing import check_policy

NO_STREAM = (0, 0, 0, 0)
UNIFORM = ArmedBandit([0.6, 0.5], noise=0.2, reward="uniform")


def index_of(policy, pulled, count, total, horizon=100):
    setting = Setting(np.full(1, 0.5), 1.0, horizon, "bernoulli")
    state = np.zeros((1, 3))
    state[0, [PULLED, COUNT, TOTAL]] = pulled, count, total
    return policy.kernels().index(state, 0, 1, NO_STREAM, policy.table(setting))


@pytest.mark.parametrize("gamma", [1.0, 2.0, 5.0, math.inf])
@pytest.mark.parametrize("objective", ["upper", "lower"])
def test_the_index_is_the_extreme_of_the_mean_over_all_weights_gamma_allows(gamma, objective):
    budget = math.log(100)  # k log T / 2 with k = 2
    share = 300 / 1000 + math.sqrt(budget / 1000)
    sign = -1.0 if objective == "upper" else 1.0
    seen = 1000 / 1600 + sign * math.sqrt(budget / 1600)
    widest = 1e12 if math.isinf(gamma) else gamma
    odds = np.geomspace(1.0 / widest, widest, 2001) * share / (1.0 - share)
    means = seen * share + (1.0 - seen) * odds / (1.0 + odds)
    expected = means.max() if objective == "upper" else means.min()
    found = index_of(GammaUCB(gamma, objective), 1600.0, 1000.0, 300.0)
    assert found == pytest.approx(expected, rel=1e-10)


def test_without_width_the_index_tends_to_the_bounds_of_the_golden_case():
    # p = .4, s = .7 without assumptions: [.28, .88]
    big = 1e16
    for objective, expected in (("upper", 0.88), ("lower", 0.28)):
        policy = GammaUCB(math.inf, objective)
        assert index_of(policy, big, 0.4 * big, 0.28 * big) == pytest.approx(expected, abs=1e-6)


def test_an_arm_never_played_comes_first_and_one_never_seen_may_pay_one():
    for objective in ("upper", "lower"):
        assert index_of(GammaUCB(2.0, objective), 0.0, 0.0, 0.0) == math.inf
        assert index_of(GammaUCB(2.0, objective), 5.0, 0.0, 0.0) == 1.0
        assert index_of(GammaUCB(math.inf, objective), 5.0, 1.0, 1.0) == 1.0


def learned(policy, rewards, pulled, horizon=100):
    """Return the index of an arm whose seen rewards are given."""
    setting = Setting(np.full(1, 0.5), 1.0, horizon, "uniform", unit_interval=True)
    kernels, table = policy.kernels(), policy.table(setting)
    state = np.zeros((1, kernels.statistics))
    for reward in rewards:
        kernels.learn(state, 0, reward, table)
    state[0, PULLED] = pulled
    return kernels.index(state, 0, 1, NO_STREAM, table)


SAMPLE = (0.1, 0.2, 0.2, 0.5, 0.7, 0.9, 1.0)


def test_golden_expectile_of_seven_rewards_with_its_width():
    policy = GammaUCB(2.0, exponent=0.1, bins=10)
    # k log T = .1; so many plays that nothing was seen: the index is that of the missing rewards
    found = learned(policy, SAMPLE, pulled=1e30, horizon=math.e)
    assert found == pytest.approx(0.697081686911, abs=1e-12)


@pytest.mark.parametrize("gamma", [1.0, 2.0, 5.0, math.inf])
@pytest.mark.parametrize("objective", ["upper", "lower"])
@pytest.mark.parametrize("exponent", [1e-9, 0.1, 0.5])
def test_the_expectile_solves_its_equation(gamma, objective, exponent):
    found = learned(GammaUCB(gamma, objective, exponent, bins=10), SAMPLE, 1e30, math.e)
    up, down = (1.0, 1.0 / gamma) if objective == "upper" else (1.0 / gamma, 1.0)
    v = np.linspace(0.0, 1.0, 20_001)
    gap = np.array(SAMPLE)[:, None] - v
    excess = np.mean(np.where(gap > 0, up, down) * gap, axis=0)
    excess += (up * (1 - v) + down * v) * math.sqrt(exponent / 14)
    assert found == pytest.approx(v[excess >= -1e-15].max(), abs=1e-4)


@pytest.mark.parametrize("objective", ["upper", "lower"])
@pytest.mark.parametrize("gamma", [1.0, 3.0, math.inf])
def test_bins_say_the_same_of_rewards_of_0_and_1(gamma, objective):
    for zeros, ones in ((30, 12), (0, 9), (14, 0)):
        found = learned(GammaUCB(gamma, objective, 0.5, bins=4), [0.0] * zeros + [1.0] * ones, 60)
        plain = index_of(GammaUCB(gamma, objective, 0.5), 60.0, zeros + ones, ones)
        assert found == pytest.approx(plain, rel=1e-13)


@pytest.mark.parametrize("objective", ["upper", "lower"])
def test_rewards_within_a_bin_never_lower_the_bound(objective):
    rng = np.random.default_rng(5)
    for _ in range(50):
        rewards = rng.beta(0.7, 1.5, size=40)
        coarse, fine = (
            learned(GammaUCB(4.0, objective, 0.1, bins=bins), rewards, 90) for bins in (20, 1000)
        )
        assert fine - 1e-6 <= coarse <= fine + 0.01


@pytest.mark.slow
def test_every_engine_plays_bounded_rewards_alike():
    policies = {name: GammaUCB(3.0, name, 0.1, bins=20) for name in ("upper", "lower")}
    study = Study(UNIFORM, PerArm([0.4, 0.8]), policies, horizon=200, replications=3)
    slow, fast = (simulate(study, engine=engine) for engine in ("reference", "cpu"))
    np.testing.assert_array_equal(slow.data.pulls, fast.data.pulls)
    np.testing.assert_array_equal(slow.data.regret, fast.data.regret)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["upper", "lower"])
def test_bins_keep_the_contract(objective):
    check_policy(GammaUCB(3.0, objective, 0.1, bins=20))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GammaUCB(0.5), "`GammaUCB.gamma` must be a finite number at least 1"),
        (lambda: GammaUCB(math.nan), "`GammaUCB.gamma` must be"),
        (lambda: GammaUCB(objective="best"), "`GammaUCB.objective` must be one of upper, lower"),
        (lambda: GammaUCB(exponent=0), "`GammaUCB.exponent` must be"),
        (
            lambda: Study(ArmedBandit([0.6, 0.5]), PerArm([0.5, 0.5]), GammaUCB(), horizon=10),
            r"GammaUCB` must be played with rewards in \[0, 1\]; got 'gaussian rewards",
        ),
        (
            lambda: Study(UNIFORM, PerArm([0.5, 0.5]), GammaUCB(), horizon=10),
            "GammaUCB.bins` must be given where rewards are not only 0 or 1; got 'None with uni",
        ),
        (lambda: GammaUCB(bins=0), "`GammaUCB.bins` must be a whole number of at least 1"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()
