import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from halfseen import InvalidInput
from halfseen.theory import water_filling
from halfseen.theory.arms.power_sums import power_integral

GOLDEN = [
    (20, 0.5, 5.0, (8, 12, 0), 11.519107231013),
    (20, 1.0, 5.0, (8, 12, 0), 6.8840387523648),
    (
        400,
        0.5,
        65.172413793103,
        (128.34482758621, 252.68965517241, 18.965517241379),
        84.066300062112,
    ),
    (
        400,
        1.0,
        65.172413793103,
        (128.34482758621, 252.68965517241, 18.965517241379),
        22.620895536962,
    ),
]


@pytest.mark.parametrize(("budget", "alpha", "level", "allocation", "value"), GOLDEN)
def test_golden(budget, alpha, level, allocation, value):
    filled = water_filling([0.5, 0.25, 0.8], budget, alpha, [1, 2, 50])
    assert filled.level == pytest.approx(level, rel=1e-12)
    assert filled.allocation == pytest.approx(np.array(allocation), rel=1e-12)
    assert filled.value == pytest.approx(value, rel=1e-12)


arms = st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(0.1, 100.0)), min_size=1, max_size=6).map(
    lambda rows: tuple(np.array(column) for column in zip(*rows, strict=True))
)


@given(arms, st.floats(0.0, 1e4), st.floats(0.1, 3.0))
@settings(deadline=None)
def test_optimality_conditions(arms, budget, alpha):
    observe, floors = arms
    filled = water_filling(observe, budget, alpha, floors)
    counts = observe * filled.allocation + floors
    assert filled.allocation.sum() == pytest.approx(budget, abs=1e-9 * (1 + budget))
    played = filled.allocation > 0
    assert counts[played] == pytest.approx(filled.level)
    assert (floors[~played] >= filled.level * (1 - 1e-9)).all()


@given(
    arms,
    st.floats(0.1, 1e4),
    st.sampled_from([0.2, 0.5, 1, 2.5]),
    st.randoms(use_true_random=False),
)
@settings(deadline=None)
def test_nothing_else_does_better(arms, budget, alpha, shuffler):
    observe, floors = arms
    share = np.array([shuffler.random() + 1e-9 for _ in observe])
    other = budget * share / share.sum()
    ends = observe * other + floors

    def psi(u):
        return np.log(u) if alpha == 1 else u ** (1 - alpha) / (1 - alpha)

    value = ((psi(ends) - psi(floors)) / observe).sum()
    best = water_filling(observe, budget, alpha, floors).value
    assert best >= value - 1e-7 * (1 + abs(value))


@given(arms, st.floats(0.1, 1e4), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_relabelling_changes_nothing(arms, budget, shuffler):
    observe, floors = arms
    order = list(range(len(observe)))
    shuffler.shuffle(order)
    one = water_filling(observe, budget, 0.5, floors)
    two = water_filling(observe[order], budget, 0.5, floors[order])
    assert two.allocation == pytest.approx(one.allocation[order], abs=1e-9 * budget)
    assert two.value == pytest.approx(one.value)


def test_no_budget():
    filled = water_filling([0.5, 0.2], 0, 1.0, [3.0, 2.0])
    assert (filled.level, filled.allocation.tolist(), filled.value) == (2.0, [0.0, 0.0], 0.0)


def test_one_number_of_regularization_spreads_by_inverse_probability():
    filled = water_filling([0.5, 0.25], 60, 1.0, 1.0)
    assert filled.allocation == pytest.approx(np.array([20.0, 40.0]))


def test_order_one_is_the_limit():
    values = [water_filling([0.5, 0.25], 60, a, 1.0).value for a in (1 - 1e-9, 1.0, 1 + 1e-9)]
    assert values[0] == pytest.approx(values[1], rel=1e-8)
    assert values[2] == pytest.approx(values[1], rel=1e-8)


CAPPED = [
    ([6, 100, 100], 20, 5.5, (6, 14, 0), (11.447954540309, 6.818992368954)),
    ([100, 150, 1000], 400, 170, (100, 150, 150), (78.449568071442, 21.325984520365)),
    ([100, 150, 30], 400, math.inf, (100, 150, 30), (67.359369213036, 20.286317840557)),
]


@pytest.mark.parametrize(("caps", "budget", "level", "rounds", "values"), CAPPED)
def test_water_filling_with_caps_golden(caps, budget, level, rounds, values):
    for alpha, value in zip((0.5, 1.0), values, strict=True):
        found = water_filling([0.5, 0.25, 0.8], budget, alpha, [1, 2, 50], caps=caps)
        assert found.level == pytest.approx(level, rel=1e-13)
        assert found.allocation == pytest.approx(np.array(rounds, dtype=float), rel=1e-13)
        assert found.value == pytest.approx(value, rel=1e-12)


def test_water_filling_with_caps_from_nothing_and_with_weights_golden():
    found = water_filling([0.5, 0.25, 0.8], 200, 0.5, 0.0, caps=[100, 150, 30])
    assert found.level == pytest.approx(28.333333333333, rel=1e-12)
    assert found.allocation == pytest.approx([56.666666667, 113.333333333, 30], rel=1e-9)
    assert found.value == pytest.approx(76.122326404601, rel=1e-12)
    found = water_filling(
        [0.5, 0.2, 0.8, 0.3], 100, 0.5, 1.0, weights=[0.1, 1, 2, 0.3], caps=[30, 40, 5, 60]
    )
    assert found.level == pytest.approx(188.541666666667, rel=1e-13)
    assert found.allocation == pytest.approx([1.7708333333, 40, 5, 53.2291666667], rel=1e-9)
    assert found.value == pytest.approx(32.568210315917, rel=1e-12)


def test_water_filling_with_caps_against_a_general_optimiser():
    rng = np.random.default_rng(4)
    for _ in range(40):
        d, alpha = int(rng.integers(1, 6)), float(rng.choice([0.3, 0.5, 1.0, 2.0]))
        p, lam, w = rng.uniform(0.1, 1, d), rng.uniform(0.5, 5, d), rng.uniform(0.1, 3, d)
        caps, budget = rng.uniform(1, 60, d), float(rng.uniform(5, 100))

        def lost(tau, p=p, lam=lam, w=w, alpha=alpha):
            return -float((w / p * power_integral(lam, p * tau, alpha)).sum())

        start = caps * min(1.0, budget / caps.sum()) * 0.9
        room = {"type": "ineq", "fun": lambda tau, budget=budget: budget - tau.sum()}
        other = optimize.minimize(
            lost, start, bounds=[(0, c) for c in caps], constraints=[room], tol=1e-12
        )
        found = water_filling(p, budget, alpha, lam, weights=w, caps=caps)
        assert found.value >= -other.fun - 1e-7
        assert found.value == pytest.approx(-other.fun, rel=1e-6)
        assert found.allocation.sum() == pytest.approx(min(budget, caps.sum()))
        assert (found.allocation <= caps * (1 + 1e-12)).all()


def test_an_arm_that_weighs_nothing_gets_nothing():
    found = water_filling([0.5, 0.5], 10, 1.0, 1.0, weights=[0.0, 1.0])
    assert found.allocation.tolist() == [0.0, 10.0]
    assert water_filling([0.5], 10, 1.0, 1.0, weights=0.0).value == 0.0


def test_what_water_filling_refuses():
    with pytest.raises(InvalidInput, match="caps"):
        water_filling([0.5, 0.5], 10, 1.0, 1.0, caps=[1.0])
    with pytest.raises(InvalidInput, match="regularization"):
        water_filling([0.5, 0.5], 10, 1.0, 0.0)


@pytest.mark.parametrize(
    ("alpha", "weights", "caps", "allocation", "value"),
    [
        (0.01, [1, 0.01], [5, 100], (5, 45), 5.4022701714950045),
        (0.05, [1, 1e-8], [5, 100], (5, 45), 4.81577203659747),
        (0.005, [1, 0.1], [5, 100], (5, 45), 9.42983245802179),
        (1.0, [1e-200, 1], [100, 5], (45, 5), 2.5055259369907356),
        (0.01, [1, 0.01], [5, math.inf], (5, 45), 5.4022701714950045),
    ],
)
def test_what_capped_arms_leave_goes_to_arms_of_far_smaller_weight(
    alpha, weights, caps, allocation, value
):
    filled = water_filling([0.5, 0.5], 50, alpha, [1, 1], weights=weights, caps=caps)
    assert filled.allocation == pytest.approx(np.array(allocation), rel=1e-12)
    assert filled.value == pytest.approx(value, rel=1e-12)
    assert filled.level < math.inf


def test_the_level_is_finite_unless_every_cap_is_reached():
    tiny = water_filling([0.5, 0.5], 50, 0.001, [1, 1], weights=[1, 0.01], caps=[5, 100])
    assert tiny.allocation.tolist() == [5.0, 45.0]
    assert tiny.level == np.finfo(np.float64).max
    assert water_filling([0.5], 50, 1.0, [1], caps=[50]).level == math.inf


def test_a_light_arm_and_a_heavy_one_that_fill_together_share_what_the_caps_leave():
    # Both enter at C = 1; the heavy one is full at once, and its width must not drown the other's.
    filled = water_filling([0.5, 0.5], 50, 1.0, [1, 1e-20], weights=[1, 1e-20], caps=[5, 100])
    assert filled.allocation == pytest.approx(np.array([5.0, 45.0]), rel=1e-12)


def test_an_infinite_cap_is_no_cap():
    arms = ([0.5, 0.25], 50, 0.5, [1, 2])
    free = water_filling(*arms)
    for caps in (math.inf, [math.inf, math.inf], [1e308, 1e308], 1e308):
        filled = water_filling(*arms, caps=caps)
        assert filled.allocation == pytest.approx(free.allocation, rel=1e-12)
        assert filled.level == pytest.approx(free.level, rel=1e-12)
    assert water_filling(*arms, caps=[math.inf, 5]).allocation.tolist() == [45.0, 5.0]
    with pytest.raises(InvalidInput, match=r"caps\[1\]"):
        water_filling(*arms, caps=[math.inf, -1.0])
    with pytest.raises(InvalidInput, match="caps"):
        water_filling(*arms, caps=[math.inf])


def _bisected(arms, budget, alpha):
    """Return the allocation by bisection over the logarithm of the level, in 50 digits."""
    with mpmath.workdps(50):
        rows = [
            (mpmath.mpf(p), mpmath.mpf(lam), mpmath.log(10) * power / mpmath.mpf(alpha), cap)
            for p, lam, power, cap in arms
        ]

        def spread(level):
            return [min(cap, max(mpmath.exp(s + level) - lam, 0) / p) for p, lam, s, cap in rows]

        if math.fsum(cap for *_, cap in arms) <= budget:
            return [cap for *_, cap in arms]
        low, high = mpmath.mpf(-2000) / alpha - 50, mpmath.mpf(2000) / alpha + 50
        for _ in range(130):
            middle = (low + high) / 2
            low, high = (middle, high) if sum(spread(middle)) <= budget else (low, middle)
        return [float(rounds) for rounds in spread(low)]


extreme = st.lists(
    st.tuples(
        st.floats(0.01, 1.0),
        st.floats(-4.0, 4.0).map(lambda power: 10.0**power),
        st.integers(-300, 300) | st.integers(-3, 0),
        st.floats(0.0, 1e3) | st.just(math.inf),
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.slow
@given(extreme, st.floats(0.01, 3e3), st.floats(0.002, 4.0))
@settings(deadline=None, max_examples=150)
def test_extreme_weights_agree_with_a_bisection_in_many_digits(arms, budget, alpha):
    p, lam, powers, caps = (list(column) for column in zip(*arms, strict=True))
    weights = [10.0**power for power in powers]
    filled = water_filling(p, budget, alpha, lam, weights=weights, caps=caps)
    room = 1e-8 * (1.0 + budget + max(lam) / min(p))
    assert filled.allocation == pytest.approx(np.array(_bisected(arms, budget, alpha)), abs=room)
    assert (filled.level == math.inf) == (math.fsum(caps) <= budget)
    assert filled.allocation.sum() == pytest.approx(min(budget, math.fsum(caps)), abs=room)


def test_weights_whose_ratio_is_no_floating_point_number():
    filled = water_filling([1, 1], 1, 2.0, [1, 1], weights=[1e-290, 1e229], caps=math.inf)
    assert filled.allocation.tolist() == [0.0, 1.0]
    rest = water_filling([1, 1], 10, 2.0, [1, 1], weights=[1e-290, 1e229], caps=[math.inf, 4])
    assert rest.allocation == pytest.approx(np.array([6.0, 4.0]), rel=1e-12)
