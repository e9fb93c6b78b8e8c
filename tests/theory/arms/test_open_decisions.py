"""Messages under way, and what they add to bounds."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import zeta

from halfseen import (
    UCB,
    ArmedBandit,
    Delayed,
    EmpiricalDelay,
    Fixed,
    GeometricDelay,
    InvalidInput,
    ParetoDelay,
    PerArm,
    Study,
    simulate,
)
from halfseen.theory import (
    effective_dimension,
    expected_under_way,
    lower_bounds,
    most_under_way,
    regret_bounds,
)
from halfseen.theory.arms.open_decisions import late_messages

SLOW, QUICK = ParetoDelay(0.7, 20, arrive=0.6), GeometricDelay(5, arrive=0.9)
LAWS = [GeometricDelay(50), SLOW, EmpiricalDelay([0, 3, 90], arrive=0.8)]
I2 = [SLOW, QUICK, QUICK]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_mean_under_way_is_the_mean_delay_of_what_arrives(law):
    window = 200
    delays = np.arange(window + 1)
    chances = np.diff(law.arrived_by(delays), prepend=0.0)
    found = expected_under_way(law, 10_000, window=window)
    assert found == pytest.approx(float(np.sum(delays * chances)), rel=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("horizon", [10, 10_000, 10**6])
def test_most_under_way_solves_its_equation(law, horizon):
    mean, level = expected_under_way(law, horizon, window=400), 3.0 * math.log(horizon)
    root = brentq(lambda q: q * math.log(q / mean) - q + mean - level, mean, mean + 1e4, xtol=1e-12)
    expected = min(root, horizon, 400.0, law.longest)
    assert most_under_way(law, horizon, window=400) == pytest.approx(expected, rel=1e-9)


def test_what_is_no_delay_law_is_refused_with_a_sentence():
    with pytest.raises(InvalidInput, match="`law` must be a delay law"):
        most_under_way(Delayed(GeometricDelay(7)), 1000)


def test_nothing_is_under_way_without_delays():
    assert most_under_way(Fixed(0), 1000) == 0.0
    assert most_under_way(Fixed(3), 1000) == 3.0
    assert most_under_way(GeometricDelay(5), 1000, window=0) == 0.0


def test_messages_under_way_stay_below_the_bound_in_every_round():
    law, window, horizon = GeometricDelay(50), 500, 10_000
    rng = np.random.default_rng(3)
    delays = rng.geometric(1.0 / 51.0, size=(200, horizon)) - 1
    rounds = np.arange(horizon)
    most = 0
    for row in delays:
        comes = row <= window
        ends = np.bincount((rounds + row)[comes], minlength=2 * horizon)[:horizon]
        most = max(most, int((np.cumsum(comes) - np.cumsum(ends)).max()))
    assert 50.0 < most <= most_under_way(law, horizon, window=window)


def test_effective_dimension_of_delays_is_the_sum_of_inverse_chances_to_arrive():
    found = effective_dimension(Delayed(I2, window=200).probabilities(3))
    assert found == pytest.approx(4.269868077, rel=1e-9)


ARMS = ArmedBandit([0.6, 0.5, 0.4], reward="bernoulli")


def test_late_feedback_adds_gaps_times_messages_under_way():
    late = Delayed(I2, window=200)
    seen = late.probabilities(3)
    plain = regret_bounds(ARMS, PerArm(seen), UCB(), 10_000)
    found = regret_bounds(ARMS, late, UCB(), 10_000)
    under_way = late_messages(late, 3, 10_000)
    added = {
        "instance": np.sum(ARMS.gaps * under_way / seen),
        "own gaps": np.sum(ARMS.gaps * under_way / seen),
        "joint": np.sum(0.2 * under_way / seen),
        "best arm dropped": np.sum((0.2 * under_way / seen)[1:]),
        "paper's instance": 2.0 * np.sum(ARMS.gaps * under_way / seen),
    }
    for name, value in added.items():
        expected = plain[name].value + value + 3 * 0.2 / 10_000
        assert found[name].value == pytest.approx(expected, rel=1e-12)
        assert found[name].terms["late feedback"] == pytest.approx(value, rel=1e-12)
    assert found["trivial"].value == plain["trivial"].value


def test_no_delay_leaves_every_bound_as_it_is():
    plain = regret_bounds(ARMS, PerArm([1.0] * 3), UCB(), 1000)
    found = regret_bounds(ARMS, Delayed(Fixed(0)), UCB(), 1000)
    assert [bound.value for bound in plain] == [bound.value for bound in found]


def test_nothing_but_the_trivial_bound_is_claimed_where_missing_depends_on_the_reward():
    pair = Delayed([[Fixed(0), GeometricDelay(300)], Fixed(0), Fixed(0)], window=100)
    for late in (pair, Delayed(Fixed(3), sends="conversions")):
        found = regret_bounds(ARMS, late, UCB(), 1000)
        assert [bound.name for bound in found if bound.applies] == ["trivial"]
        assert found["joint"].reason == "rewards are missing not at random"
        with pytest.raises(InvalidInput, match="must delay every reward independently"):
            late_messages(late, 3, 1000)
    low = lower_bounds(ARMS, pair, 1000, 100)
    assert (low.asymptotic, low.finite, low.minimax) == (None, None, None)
    assert "must not depend on the reward" in low.reasons["minimax"]


@pytest.mark.slow
def test_measured_regret_stays_below_the_smallest_bound():
    late = Delayed(GeometricDelay(50), window=500)
    study = Study(ARMS, late, UCB(), horizon=5_000, replications=20, baseline=False)
    found = simulate(study).tracks["regret"][..., -1]
    assert found.mean() < regret_bounds(ARMS, late, UCB(), 5_000).smallest.value


@pytest.mark.parametrize("window", [None, 10**13])
def test_a_horizon_too_long_to_list_has_bounds(window):
    late = Delayed(GeometricDelay(5), window=window)
    assert expected_under_way(GeometricDelay(5), 10**13, window=window) == pytest.approx(5.0)
    assert math.isfinite(regret_bounds(ARMS, late, UCB(), 10**13).smallest.value)


@pytest.mark.parametrize("horizon", [10**6, 3 * 10**6, 10**9, 10**13])
def test_ages_taken_together_overstate_the_mean_by_less_than_a_ten_thousandth(horizon):
    found = expected_under_way(ParetoDelay(1.2, 20), horizon)
    exact = 20**1.2 * (zeta(1.2, 21) - zeta(1.2, 21 + horizon))
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-4)
