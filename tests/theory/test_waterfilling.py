import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.theory import water_filling

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
    filled = water_filling([0.5, 0.25, 0.8], [1, 2, 50], budget, alpha)
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
    filled = water_filling(observe, floors, budget, alpha)
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
    best = water_filling(observe, floors, budget, alpha).value
    assert best >= value - 1e-7 * (1 + abs(value))


@given(arms, st.floats(0.1, 1e4), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_relabelling_changes_nothing(arms, budget, shuffler):
    observe, floors = arms
    order = list(range(len(observe)))
    shuffler.shuffle(order)
    one = water_filling(observe, floors, budget, 0.5)
    two = water_filling(observe[order], floors[order], budget, 0.5)
    assert two.allocation == pytest.approx(one.allocation[order], abs=1e-9 * budget)
    assert two.value == pytest.approx(one.value)


def test_no_budget():
    filled = water_filling([0.5, 0.2], [3.0, 2.0], 0, 1.0)
    assert (filled.level, filled.allocation.tolist(), filled.value) == (2.0, [0.0, 0.0], 0.0)


def test_one_number_of_regularization_spreads_by_inverse_probability():
    filled = water_filling([0.5, 0.25], 1.0, 60, 1.0)
    assert filled.allocation == pytest.approx(np.array([20.0, 40.0]))


def test_order_one_is_the_limit():
    values = [water_filling([0.5, 0.25], 1.0, 60, a).value for a in (1 - 1e-9, 1.0, 1 + 1e-9)]
    assert values[0] == pytest.approx(values[1], rel=1e-8)
    assert values[2] == pytest.approx(values[1], rel=1e-8)
