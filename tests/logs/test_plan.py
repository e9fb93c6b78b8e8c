"""The forecast agrees with what the simulation it rests on says."""

import math

import numpy as np
import pytest

from halfseen import InvalidInput, RandomChoice, audit, plan
from halfseen.logs.plan import _met_for_good


def test_met_for_good():
    met = np.array([[0, 1, 0, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 0]], dtype=bool)
    days = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert _met_for_good(met, days).tolist() == [3.0, 0.0, math.inf]
    late = np.array([[0] * 9 + [1]], dtype=bool)  # too little of the plan is left to be sure
    assert _met_for_good(late, np.arange(1.0, 11.0)).tolist() == [math.inf]


def test_less_feedback_on_a_rival_takes_longer():
    found = plan([0.0, -0.4], [1.0, 0.05], traffic=100, days=300, replications=60)
    assert found.yours.quantile(0.5) > found.everything.quantile(0.5)
    assert found.yours.regret.mean() > 2 * found.everything.regret.mean()
    for world in (found.yours, found.everything):
        assert world.regret.mean() < world.bound
        assert world.quantile(0.5) <= world.quantile(0.9)
        low, middle, high = world.curve[1:]
        assert (low <= middle).all()
        assert (middle <= high).all()
    assert found.surprise == ""
    assert found.to_dict()["worlds"][0]["median_days"] == found.yours.quantile(0.5)


def test_a_policy_that_never_learns_never_arrives():
    found = plan([0, -1], [0.5, 0.5], traffic=10, days=20, policy=RandomChoice(), replications=20)
    assert math.isinf(found.yours.quantile(0.5))
    assert found.worlds.records()[0]["median days"] is None
    assert found.yours.bound is None
    easy = plan(
        [0, -1], [0.5, 0.5], traffic=10, days=20, target=11, policy=RandomChoice(), replications=20
    )
    assert easy.yours.quantile(0.9) == 0.0


def test_luck_is_called_luck():
    found = plan([0.6, 0.5], [0.1, 0.9], traffic=1000, days=30, noise=0.5, replications=60)
    assert "It is luck" in str(found)


def test_from_a_log():
    rows = {"a": [0, 0, 0, 1, 1, 1], "r": [1.0, 3.0, None, 1.0, 0.0, 0.5]}
    found = audit(rows, action="a", reward="r").plan(50, days=10, replications=20)
    assert found.traffic == 50
    with pytest.raises(InvalidInput, match="must hold a reward of every arm"):
        audit({"a": [0, 1], "r": [1.0, None]}, action="a", reward="r").plan(50)


def test_rewards_of_0_or_1_are_simulated_as_such():
    rng = np.random.default_rng(0)
    arm = rng.integers(0, 2, 400)
    bought = np.where(rng.random(400) < 0.5, rng.random(400) < 0.3 + 0.4 * arm, np.nan)
    found = audit({"a": arm, "r": bought}, action="a", reward="r")
    assert found.counts.binary
    ours = found.plan(50, days=10, replications=30)
    assert ours.reward == "bernoulli"
    assert "Simulated with rewards of 0 or 1." in str(ours)
    same = plan(
        found.means(), found.observe, traffic=50, days=10, reward="bernoulli", replications=30
    )
    np.testing.assert_array_equal(ours.yours.regret, same.yours.regret)
    problem = found.compare_imputations(horizon=100, replications=2).study.problems
    assert next(iter(problem.values())).reward == "bernoulli"
    for rewards in ([0.0, 1.0, 0.5], [0.0, 1.0, 2.0], [-1.0, 1.0, 0.0], [None, None, None]):
        assert not audit({"a": [0, 0, 0], "r": rewards}, action="a", reward="r").counts.binary
    for rewards in ([0.0, 1.0, None], [1.0, None, None], [0.0, 0.0, 0.0], [True, False, False]):
        assert audit({"a": [0, 0, 0], "r": rewards}, action="a", reward="r").counts.binary
    with pytest.raises(InvalidInput, match="fixed by Bernoulli rewards"):
        plan([0.5, 0.4], [1, 1], traffic=10, reward="bernoulli", noise=1.0)


@pytest.mark.parametrize("bad", [{"traffic": 0}, {"traffic": 1, "days": 1}, {"target": -1}])
def test_bad_input(bad):
    with pytest.raises(InvalidInput, match=next(iter(bad)).replace("traffic", "traffic|days")):
        plan([0, -1], [0.5, 0.5], **{"traffic": 10.0, "days": 10.0} | bad)
