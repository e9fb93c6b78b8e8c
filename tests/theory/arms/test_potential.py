import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.theory import (
    effective_dimension,
    fluid_potential,
    joint_potential,
    papers_potential,
)
from theory import brute_force

FIVE = [0.9, 0.1, 0.5, 0.3, 0.05]
probabilities = st.lists(st.floats(0.02, 1.0), min_size=1, max_size=5)
orders = st.sampled_from([0.2, 0.5, 1.0, 1.7])


@pytest.mark.parametrize(
    ("observe", "horizon", "alpha", "value"),
    [
        ([0.3, 0.7], 12, 0.5, 9.5587091484055),
        ([0.3, 0.7], 12, 1.0, 7.968253968254),
        ([0.1, 0.5, 0.9], 1000, 0.5, 210.609505688),
        (FIVE, 5000, 0.5, 802.081983018),
        (FIVE, 5000, 1.0, 200.526652653),
    ],
)
def test_golden(observe, horizon, alpha, value):
    assert fluid_potential(observe, horizon, alpha, 1.0) == pytest.approx(value, rel=1e-11)


def power_cost(weight, regularization, alpha):
    return lambda n: weight * (n + regularization) ** -alpha


def test_filling_by_hand_gives_the_same():
    rng = np.random.default_rng(7)
    for _ in range(150):
        arms, horizon = int(rng.integers(1, 5)), int(rng.integers(1, 60))
        alpha = float(rng.choice([0.3, 0.5, 1.0, 2.0]))
        observe = rng.uniform(0.05, 1.0, arms)
        lam = rng.choice([0.2, 1.0, 3.0, 20.0], arms)
        weights = rng.choice([0.0, 0.5, 1.0, 3.0], arms)
        costs = [power_cost(w, s, alpha) for w, s in zip(weights, lam, strict=True)]
        expected = brute_force.fluid(observe, horizon, costs)
        assert fluid_potential(observe, horizon, alpha, lam, weights=weights) == pytest.approx(
            expected, rel=1e-12, abs=1e-300
        )


def width_cost(gap, root, inverse, regularization):
    def cost(n):
        return min(gap, root / math.sqrt(n + regularization) + inverse / (n + regularization))

    return cost


def test_filling_the_joint_cost_by_hand_gives_the_same():
    rng = np.random.default_rng(8)
    for _ in range(150):
        arms, horizon = int(rng.integers(1, 5)), int(rng.integers(1, 60))
        observe = rng.uniform(0.05, 1.0, arms)
        lam, bound = float(rng.uniform(0.2, 5)), float(rng.choice([0.0, 0.7]))
        noise = rng.choice([0.0, 0.05, 0.3], arms)
        gaps = rng.choice([0.0, 0.4, 1.0], arms)
        root = 2 * math.sqrt(6 * math.log(horizon)) * noise
        costs = [width_cost(g, r, 2 * lam * bound, lam) for g, r in zip(gaps, root, strict=True)]
        expected = brute_force.fluid(observe, horizon, costs)
        found = joint_potential(observe, horizon, lam, noise, bound, gaps)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("alpha", [0.2, 0.5, 1.0, 1.5])
def test_a_trillion_rounds(alpha):
    observe, horizon, lam = [0.3, 0.7, 0.01], 10**12, 0.37
    with mpmath.workdps(40):
        dimension = mpmath.fsum(1 / mpmath.mpf(p) for p in observe)
        cells = int(mpmath.floor(horizon / dimension))
        a, s = mpmath.mpf(alpha), mpmath.mpf(lam)
        if alpha == 1:
            whole = mpmath.digamma(s + cells) - mpmath.digamma(s)
        else:
            whole = mpmath.zeta(a, s) - mpmath.zeta(a, s + cells)
        exact = dimension * whole + (horizon - dimension * cells) * (cells + s) ** -a
    assert fluid_potential(observe, horizon, alpha, lam) == pytest.approx(float(exact), rel=1e-12)


def test_a_trillion_rounds_with_weights():
    """Splitting an arm into its weighted copies leaves a problem without weights to compare with.

    At alpha = 1 and weights w, whole numbers, cells of cost w/(n+lambda) fall in with those of
    regularization lambda/w; both sides are computed with forty digits at one level.
    """
    observe, weights, lam, horizon = [0.5, 0.2], [3.0, 1.0], 0.5, 10**12
    found = fluid_potential(observe, horizon, 1.0, lam, weights=weights)
    with mpmath.workdps(40):
        low, high = mpmath.mpf(10) ** -14, mpmath.mpf(10)

        def cells(level):
            return [max(0, int(mpmath.ceil(w / level - lam))) for w in weights]

        for _ in range(140):
            middle = (low + high) / 2
            time = mpmath.fsum(
                n / mpmath.mpf(p) for n, p in zip(cells(middle), observe, strict=True)
            )
            low, high = (low, middle) if time <= horizon else (middle, high)
        counts = cells(high)
        time = mpmath.fsum(n / mpmath.mpf(p) for n, p in zip(counts, observe, strict=True))
        area = mpmath.fsum(
            w / mpmath.mpf(p) * (mpmath.digamma(lam + n) - mpmath.digamma(lam))
            for w, p, n in zip(weights, observe, counts, strict=True)
        )
        exact = area + (horizon - time) * high
    assert found == pytest.approx(float(exact), rel=1e-12)


@given(st.integers(1, 6), st.floats(0.0, 1e6), orders, st.floats(0.1, 10.0))
@settings(deadline=None)
def test_everything_observed_is_the_uncensored_case(arms, horizon, alpha, lam):
    per_arm = horizon / arms
    counts = np.arange(math.floor(per_arm) if per_arm < 1e4 else 0)
    if per_arm >= 1e4:
        return
    whole = ((counts + lam) ** -alpha).sum()
    part = (per_arm - len(counts)) * (len(counts) + lam) ** -alpha
    found = fluid_potential([1.0] * arms, horizon, alpha, lam)
    assert found == pytest.approx(arms * (whole + part), rel=1e-10, abs=1e-12)


@given(probabilities, st.floats(1.0, 1e6), orders, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_relabelling_changes_nothing(observe, horizon, alpha, shuffler):
    weights = [shuffler.random() for _ in observe]
    order = list(range(len(observe)))
    shuffler.shuffle(order)
    one = fluid_potential(observe, horizon, alpha, 1.0, weights=weights)
    two = fluid_potential(
        [observe[a] for a in order], horizon, alpha, 1.0, weights=[weights[a] for a in order]
    )
    assert two == pytest.approx(one, rel=1e-12)


@given(probabilities, st.floats(1.0, 1e5), st.floats(1.01, 10.0), orders)
@settings(deadline=None)
def test_increasing_in_the_horizon(observe, horizon, factor, alpha):
    shorter = fluid_potential(observe, horizon, alpha, 1.0)
    assert fluid_potential(observe, factor * horizon, alpha, 1.0) > shorter


@given(probabilities, st.floats(1.0, 1e5), orders, st.data())
@settings(deadline=None)
def test_decreasing_in_the_probabilities(observe, horizon, alpha, data):
    arm = data.draw(st.integers(0, len(observe) - 1))
    raised = list(observe)
    raised[arm] = data.draw(st.floats(observe[arm], 1.0))
    before = fluid_potential(observe, horizon, alpha, 1.0)
    after = fluid_potential(raised, horizon, alpha, 1.0)
    assert after <= before * (1 + 1e-12)
    if effective_dimension(observe) - effective_dimension(raised) > 1e-3 and horizon > (
        1.01 * effective_dimension(observe)
    ):
        assert after < before


@given(probabilities, st.floats(2.0, 1e9), orders, st.floats(0.1, 10.0))
@settings(deadline=None)
def test_the_papers_form_is_never_sharper(observe, horizon, alpha, lam):
    fluid = fluid_potential(observe, horizon, alpha, lam)
    assert papers_potential(observe, horizon, alpha, lam) >= fluid * (1 - 1e-12)


@given(probabilities, st.floats(2.0, 1e9), st.floats(0.0, 3.0), st.floats(0.1, 10.0))
@settings(deadline=None)
def test_joint_is_never_above_the_two_parts_apart(observe, horizon, noise, lam):
    joint = joint_potential(observe, horizon, lam, noise, bound=1.0, gap=2.0)
    roots = fluid_potential(observe, horizon, 0.5, lam)
    inverses = fluid_potential(observe, horizon, 1.0, lam)
    apart = 2 * math.sqrt(6 * math.log(horizon)) * noise * roots + 2 * lam * inverses
    assert joint <= apart * (1 + 1e-12)
    assert joint <= 2.0 * horizon * (1 + 1e-12)


def test_equal_weights_factor_out():
    plain = fluid_potential(FIVE, 5000, 0.5, 1.0)
    assert fluid_potential(FIVE, 5000, 0.5, 1.0, weights=3.0) == pytest.approx(3 * plain)
    nearly = fluid_potential(FIVE, 5000, 0.5, 1.0, weights=[1, 1, 1, 1, 1 + 1e-13])
    assert nearly == pytest.approx(plain, rel=1e-11)


def test_nothing_to_fill():
    assert fluid_potential(FIVE, 0, 0.5, 1.0) == 0.0
    assert fluid_potential(FIVE, 100, 0.5, 1.0, weights=0.0) == 0.0
    assert joint_potential(FIVE, 1, 1.0, 1.0, bound=0.0, gap=1.0) == 0.0
    assert joint_potential(FIVE, 100, 1.0, 1.0, bound=1.0, gap=0.0) == 0.0


def test_steep_costs_do_not_overflow():
    value = fluid_potential([0.5, 0.4], 1e12, 64.0, [1.0, 2.0])
    with mpmath.workdps(30):
        exact = 2 * mpmath.zeta(64, 1) + mpmath.zeta(64, 2) / mpmath.mpf(0.4)
    assert value == pytest.approx(float(exact), rel=1e-12)
    assert fluid_potential([0.5, 0.4], 1e12, 0.01, [1.0, 2.0]) < 1e12
