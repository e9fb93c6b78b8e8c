"""Every row of the errata: what is printed, what is right, and that they differ."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from halfseen.censorship import Uniform
from halfseen.policies import UCB
from halfseen.problems import ArmedBandit
from halfseen.theory import (
    adaptive_potential,
    censoring_failure_probability,
    effective_dimension,
    fluid_potential,
    monitoring_constant,
    offline_potential,
    papers_potential,
    regret_bounds,
    single_monitoring_potential,
)
from halfseen.theory.arms.bound_terms import World, thresholds

ERRATA = Path(__file__).parents[3] / "docs" / "errata.md"


def test_p_is_the_probability_of_being_observed():
    """Read as printed, p = 0.9 censored, the bound on the potential is violated threefold."""
    censored, horizon = 0.9, 2000
    exact = adaptive_potential([1 - censored], horizon, 0.5, 1.0)
    printed = fluid_potential([censored], horizon, 0.5, 1.0)
    right = fluid_potential([1 - censored], horizon, 0.5, 1.0)
    assert printed < 0.4 * exact
    assert exact <= right < 1.02 * exact


def test_regret_grows_with_the_root_of_the_dimension():
    """Four times the dimension doubles the leading term; d_eff sqrt(T) would quadruple it."""
    horizon = 1e14
    ratio = fluid_potential([0.05], horizon, 0.5, 1.0) / fluid_potential([0.2], horizon, 0.5, 1.0)
    printed, right = 4.0, 2.0
    assert ratio == pytest.approx(right, rel=1e-5)
    assert ratio != pytest.approx(printed, rel=0.1)


def test_orders_of_the_two_potentials():
    """The text gives V_1/2 the order d_eff log T and V_1 the order sqrt(d_eff T)."""
    observe, horizon = [0.5, 0.2], 1e12
    dimension = effective_dimension(observe)
    root, log = math.sqrt(dimension * horizon), dimension * math.log(horizon)
    half, one = (fluid_potential(observe, horizon, alpha, 1.0) for alpha in (0.5, 1.0))
    assert half / root == pytest.approx(2.0, rel=1e-3)
    assert one / log == pytest.approx(1.0, rel=0.1)
    assert half / log > 1000
    assert one / root < 1e-3


def test_estimator_divides_the_sum_by_its_own_count():
    """Printed: rewards r + tau, tau the round; and a count one round older than the sum."""
    rewards, lam = np.full(50, 0.3), 1.0
    rounds = np.arange(1, 51)
    printed = (rewards + rounds).sum() / (len(rewards) + lam)
    right = rewards.sum() / (len(rewards) + lam)
    assert printed > 20
    assert abs(right - 0.3) <= lam * 0.3 / (len(rewards) + lam) + 1e-15

    policy = UCB(regularization=lam)
    table = policy.table(ArmedBandit([0.3], noise=0.0).setting(50))
    state = np.array([[50.0, rewards.sum()]])
    index = UCB.index(state, 0, 51, None, table)
    assert index == pytest.approx(right + lam * 0.3 / (50 + lam))
    stale = rewards.sum() / (49 + lam)
    assert stale == pytest.approx(0.3)
    assert right < 0.297


def test_failure_term_needs_the_factor_of_the_horizon():
    """On the bad event every round may cost lambda^-alpha, as when nothing is ever observed."""
    p, horizon, lam, alpha = 0.9, 1000, 0.5, 0.5
    assert horizon >= 24 * math.log(horizon) / p + 1  # so that path is in the bad event
    worst = sum((0 + lam) ** -alpha for _ in range(horizon))
    printed, right = lam**-alpha, horizon * lam**-alpha
    assert worst == pytest.approx(right)
    assert worst > 999 * printed


def test_display_at_order_one_half_is_violated():
    """p = (1, 1): the potential is certain, 2 sum_{n<=T/2} n^-1/2, and above the printed bound."""
    observe, horizon, lam, d = [1.0, 1.0], 10**6, 1.0, 2
    dimension, log = effective_dimension(observe), math.log(horizon)
    rest = (24 * dimension * log + d) / math.sqrt(lam) + 16 * dimension / horizon**2
    bracket = math.sqrt(horizon / dimension + 2 * lam) - math.sqrt(2 * lam)
    printed = math.sqrt(2) * dimension * bracket + rest
    right = 2 * math.sqrt(2) * dimension * bracket + rest
    exact = 2 * (1 / np.sqrt(np.arange(1, horizon // 2 + 1))).sum()
    assert exact == pytest.approx(fluid_potential(observe, horizon, 0.5, lam), rel=1e-12)
    assert exact == pytest.approx(2825.5, abs=0.05)
    assert printed == pytest.approx(2661.1, abs=0.05)
    assert printed < exact < right
    assert papers_potential(observe, horizon, 0.5, lam) == pytest.approx(right, rel=0.01)


def test_display_at_order_one_lost_the_dimension():
    """The proposition itself, at alpha = 1 and delta = 1/2, has T/d_eff inside the logarithm."""
    observe, horizon, lam = [0.1, 0.3], 10**5, 2.0
    dimension = effective_dimension(observe)
    general = 2 * dimension * (math.log(horizon / dimension + 2 * lam) - math.log(2 * lam))
    printed = 2 * dimension * math.log(horizon / (2 * lam) + 1)
    right = 2 * dimension * math.log(1 + horizon / (2 * lam * dimension))
    assert general == pytest.approx(right)
    assert printed > 1.3 * right
    start = sum(math.ceil(24 * math.log(horizon) / p) for p in observe) / lam
    failure = sum(1 / -math.expm1(-p / 8) for p in observe) / horizon**2 / lam
    corrected = papers_potential(observe, horizon, 1.0, lam)
    assert corrected == pytest.approx(start + right + failure)


def test_instance_bound_counts_one_more_observation():
    """The inequality holds in rounds that play the arm, so N is at most Theta + 1, not Theta.

    Means -1 and 1, no noise, everything observed: the two arms tie at first, the worse one is
    played, and its count is 1 although Theta is 0.
    """
    means, lam, horizon = np.array([-1.0, 1.0]), 1.0, 50
    counts, sums = np.zeros(2), np.zeros(2)
    for _ in range(horizon):
        arm = int(np.argmax((sums + lam * 1.0) / (counts + lam)))
        counts[arm] += 1
        sums[arm] += means[arm]
    world = World(
        observe=np.ones(2),
        noise=np.zeros(2),
        gaps=np.array([2.0, 0.0]),
        regularization=lam,
        bound=1.0,
        horizon=horizon,
    )
    printed = thresholds(world)[0]
    assert counts[0] == 1
    assert printed == 0.0
    assert counts[0] <= math.floor(printed) + 1


def test_instance_bound_pays_twice_for_failing_optimism():
    """P(optimism fails) <= 2d/T^2 costs 2d gap/T; printed is half of it."""
    problem, horizon = ArmedBandit([0.9, 0.4, 0.1]), 100
    found = regret_bounds(problem, Uniform(0.5), UCB(), horizon)["paper's instance"]
    printed, right = 3 * 0.8 / horizon, 2 * 3 * 0.8 / horizon
    assert found.terms["optimism fails"] == pytest.approx(right)
    assert found.terms["optimism fails"] > 1.9 * printed


@pytest.mark.parametrize(("observe", "at"), [((0.02, 0.5), 0.03), ((0.1, 0.5), 0.1)])
def test_single_monitoring_gains_more_than_printed(observe, at):
    """The exact gain of two arms, all first and second allocations tried, T = 1000."""
    horizon, alpha = 1000, 1.0
    offline = offline_potential(observe, horizon, alpha, 1.0).value
    look = single_monitoring_potential(observe, horizon, alpha, 1.0, at)
    gain = (look.value - offline) * horizon**alpha
    constant = monitoring_constant(observe, alpha, at)
    assert gain == pytest.approx(constant.value, rel=0.02)
    assert gain > 2 * constant.papers_claim


def test_heteroskedastic_display_is_violated():
    """Large noise scales the potential, and the printed cost of the first rounds does not scale."""
    observe, noise, horizon, lam = [1.0, 1.0], [1000.0, 1000.0], 4, 1.0
    exact = adaptive_potential(observe, horizon, 0.5, lam, weights=noise)
    per_arm = 2 * math.sqrt(2) * (math.sqrt(horizon / 2 + 2 * lam) - math.sqrt(2 * lam))
    main = 1000 * 2 * per_arm
    printed = main + (24 * 2 * math.log(horizon) + 2) / math.sqrt(lam)
    assert exact == pytest.approx(2 * 1000 * (1 + 1 / math.sqrt(2)))
    assert printed == pytest.approx(3382.3, abs=0.05)
    assert printed < exact < papers_potential(observe, horizon, 0.5, lam, weights=noise)


def test_censoring_event_constant_is_two():
    """The paper's 4 d_eff / delta^2 is right but twice what its own integral comparison gives."""
    observe, horizon, delta = [0.5, 0.25], 1000, 0.5
    printed = 4 * effective_dimension(observe) / delta**2 * horizon ** (-12 * delta**2)
    found = censoring_failure_probability(observe, horizon, delta=delta)
    tails = sum(
        math.exp(-(delta**2) * p * k / 2)
        for p in observe
        for k in range(math.ceil(24 * math.log(horizon) / p + 1), 20000)
    )
    assert tails <= found == pytest.approx(printed / 2)


def test_the_page_names_these_tests_and_no_others():
    section = ERRATA.read_text().split("\n## Arms\n")[1].split("\n## ")[0]
    named = set(re.findall(r"`(test_\w+)`", section))
    here = {name for name in globals() if name.startswith("test_")}
    assert named == here - {"test_the_page_names_these_tests_and_no_others"}
