"""The split of a budget is the best one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from halfseen import InvalidInput, audit, invest

ARMS = st.lists(
    st.tuples(st.floats(0.02, 1.0), st.floats(0.1, 50.0), st.floats(0.2, 3.0)),
    min_size=1,
    max_size=5,
)


@settings(max_examples=30, deadline=None)
@given(ARMS, st.floats(0.0, 60.0))
def test_no_other_split_is_better(arms, budget):
    p, cost, noise = map(np.array, zip(*arms, strict=True))
    found = invest(p, cost, budget, noise=noise)
    assert (found.after >= p - 1e-12).all()
    assert (found.after <= 1 + 1e-12).all()
    most = (cost * (1 - p)).sum()
    assert found.spent.sum() == pytest.approx(min(budget, most), abs=1e-8)
    inside = (found.after > p + 1e-7) & (found.after < 1 - 1e-7)
    rate = noise**2 / found.after**2 / cost  # what the last unit of money brings
    if budget < most and inside.any():
        level = rate[inside]
        assert level == pytest.approx(level[0], rel=1e-6)
        some = p < 1 - 1e-6  # can be raised at all
        assert (rate[some & (found.after <= p + 1e-9)] <= level[0] * (1 + 1e-6)).all()
        assert (rate[some & (found.after >= 1 - 1e-9)] >= level[0] * (1 - 1e-6)).all()


def test_against_a_general_solver():
    p, cost = np.array([0.1, 0.3, 0.6]), np.array([20.0, 5.0, 40.0])
    found = invest(p, cost, 6.0)
    theirs = minimize(
        lambda x: (1 / x).sum(),
        p + 0.01,
        bounds=[(low, 1) for low in p],
        constraints={"type": "ineq", "fun": lambda x: 6.0 - cost @ (x - p)},
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    assert found.dimension_after == pytest.approx(theirs.fun, rel=1e-6)


def test_the_effective_dimension_is_that_of_the_audit_whatever_the_noise():
    log = {"a": ["x"] * 800 + ["y"] * 800, "r": [0.1, 0.3, None, None] * 200 + [5.0, 9.0] * 400}
    found = audit(log, action="a", reward="r")
    split = found.invest(10.0, 100.0)
    assert split.dimension_before == pytest.approx(found.effective_dimension.value, rel=0.01)
    assert f"dimension from {split.dimension_before:.4g}" in str(split)
    by_hand = invest([0.5, 0.2], 1.0, 0.1, noise=[3.0, 0.5])
    assert by_hand.dimension_before == pytest.approx(2.0 + 5.0)
    assert by_hand.weighted_before == pytest.approx(9.0 / 0.5 + 0.25 / 0.2)
    ratio = by_hand.weighted_after / by_hand.weighted_before
    assert by_hand.regret_factor == pytest.approx(ratio**0.5)


def test_nothing_and_everything():
    assert invest([0.2, 0.4], 1.0, 0.0).after.tolist() == [0.2, 0.4]
    rich = invest([0.2, 0.4], 1.0, 100.0)
    assert rich.after.tolist() == [1.0, 1.0]
    assert rich.spent.sum() == pytest.approx(1.4)
    assert "worst-case regret by 48.4%" in str(rich)


def test_from_a_log():
    rows = {"a": ["x", "x", "y"], "r": [1, None, 1], "c": [4.0, 6.0, 10.0]}
    found = audit(rows, action="a", reward="r").invest(1, 10)
    assert found.names == ("x", "y")
    assert found.after[1] == 1.0
    assert found.spent.sum() == pytest.approx(1.0)


def test_the_noise_of_the_log_decides_where_to_spend():
    rng = np.random.default_rng(0)
    arm = np.repeat([0, 1], 2000)
    reward = np.where(arm == 0, rng.normal(0, 0.01, 4000), rng.normal(0, 5.0, 4000))
    seen = rng.random(4000) < 0.5
    known = audit({"a": arm, "r": np.where(seen, reward, np.nan)}, action="a", reward="r")
    found = known.invest(30, 100)
    assert found.spent.tolist() == pytest.approx([0.0, 30.0])
    alike = known.invest(30, 100, noise=1.0)
    assert alike.spent.tolist() == pytest.approx([15.0, 15.0], abs=4.0)


def test_rates_of_a_log_are_drawn_towards_each_other():
    rows = {
        "a": [0] * 1000 + [1] * 1000 + [2] * 3,
        "o": [True, False] * 1000 + [False, True, False],
    }
    found = audit(rows, action="a", observed="o").invest(1, 10)
    assert 1 / 3 < found.before[2] < 0.5


def test_from_the_costs_of_a_log():
    rows = {"a": ["x", "x", "y"], "r": [1, None, 1], "c": [4.0, 6.0, 10.0]}
    known = audit(rows, action="a", reward="r", cost="c")
    assert known.counts.cost.tolist() == [5.0, 10.0]
    assert known.invest(1).spent.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(known.invest(1).after, known.invest(1, [10.0, 10.0]).after)
    with pytest.raises(InvalidInput, match="column of costs"):
        audit(rows, action="a", reward="r").invest(1)


def test_bad_input():
    with pytest.raises(InvalidInput, match="cost"):
        invest([0.5], 0.0, 1.0)
    with pytest.raises(InvalidInput, match="budget"):
        invest([0.5], 1.0, -1.0)
    with pytest.raises(InvalidInput, match="names"):
        invest([0.5], 1.0, 1.0, names=["a", "b"])


def test_costs_go_by_the_name_of_the_arm():
    rows = {"a": ["red", "red", "blue", "blue"], "r": [1, None, 1, None]}
    found = audit(rows, action="a", reward="r")
    named = found.invest(5, {"red": 100.0, "blue": 10.0})
    assert named == found.invest(5, [10.0, 100.0])
    with pytest.raises(InvalidInput, match="must name every arm of the log once: blue, red"):
        found.invest(5, {"red": 100.0})
