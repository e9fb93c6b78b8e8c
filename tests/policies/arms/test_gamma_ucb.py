"""Policies for rewards that are missing not at random."""

import math

import numpy as np
import pytest

from halfseen import ArmedBandit, GammaUCB, InvalidInput, PerArm, Study
from halfseen.policies.arms.base import COUNT, PULLED, TOTAL
from halfseen.problems import Setting

NO_STREAM = (0, 0, 0, 0)


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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GammaUCB(0.5), "`GammaUCB.gamma` must be a finite number at least 1"),
        (lambda: GammaUCB(math.nan), "`GammaUCB.gamma` must be"),
        (lambda: GammaUCB(objective="best"), "`GammaUCB.objective` must be one of upper, lower"),
        (lambda: GammaUCB(exponent=0), "`GammaUCB.exponent` must be"),
        (
            lambda: Study(ArmedBandit([0.6, 0.5]), PerArm([0.5, 0.5]), GammaUCB(), horizon=10),
            "GammaUCB` must be played with rewards of 0 or 1; got 'gaussian rewards'",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()
