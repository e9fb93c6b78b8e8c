import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.censorship import PerArm, Uniform
from halfseen.errors import InvalidInput
from halfseen.policies import UCB, RandomChoice
from halfseen.problems import ArmedBandit, FixedArms, RandomArms, SequenceOfArms
from halfseen.theory import fluid_potential, joint_potential, regret_bounds
from halfseen.theory.arms.bound_terms import World, thresholds

FIVE = ArmedBandit([0.9, 0.8, 0.7, 0.5, 0.2])
OBSERVE = PerArm([0.9, 0.1, 0.5, 0.3, 0.05])
GOLDEN = {
    "instance": 30150.87336,
    "paper's instance": 60280.1894953,
    "separate": 11828.5518835,
    "joint": 3500.0014,
    "closed form": 13116.2928153,
    "paper's theorem": 135833.260162,
    "trivial": 3500.0,
}
THETA_20000 = [
    ((math.sqrt(x2 + 4 * gap * 1.8) + math.sqrt(x2)) / (2 * gap)) ** 2 - 1.0
    for x2 in [24 * math.log(20000)]
    for gap in (0.1, 0.2, 0.4, 0.7)
]


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    found = regret_bounds(FIVE, OBSERVE, UCB(), 5000)[name]
    assert found.value == pytest.approx(GOLDEN[name], rel=1e-11)
    assert math.fsum(found.terms.values()) == found.value
    assert found.paper == name.startswith("paper")


def test_golden_thresholds():
    world = World(
        observe=np.array(OBSERVE.observe),
        noise=np.ones(5),
        gaps=FIVE.gaps,
        regularization=1.0,
        bound=0.9,
        horizon=5000,
    )
    expected = np.array([0.0, 20476.247837, 5127.30012014, 1285.56323911, 421.295845403])
    assert thresholds(world) == pytest.approx(expected, rel=1e-11)
    widths = 2 * np.sqrt(6 * math.log(5000) / (expected[1:] + 1)) + 1.8 / (expected[1:] + 1)
    assert widths == pytest.approx(FIVE.gaps[1:], rel=1e-9)


def test_best_arm_dropped_is_the_joint_bound_of_the_others():
    problem, observe = ArmedBandit([0.9, 0.5, 0.2], noise=0.1), [0.9, 0.1, 0.5]
    found = regret_bounds(problem, PerArm(observe), UCB(), 10**6)
    others = joint_potential(observe[1:], 10**6, 1.0, noise=0.1, bound=0.9, gap=0.7)
    assert found["best arm dropped"].terms["rounds"] == pytest.approx(others)
    assert others < found["joint"].terms["rounds"] * 0.99


def test_own_gaps_cap_each_arm_by_its_own():
    problem, observe = ArmedBandit([0.9, 0.5, 0.2], noise=0.1), [0.9, 0.1, 0.5]
    found = regret_bounds(problem, PerArm(observe), UCB(), 300)
    capped = joint_potential(observe, 300, 1.0, noise=0.1, bound=0.9, gap=[0.0, 0.4, 0.7])
    assert found["own gaps"].terms["rounds"] == pytest.approx(capped)
    assert capped < found["best arm dropped"].terms["rounds"] * 0.99


def test_instance_in_horizon_fills_the_largest_gaps_first():
    found = regret_bounds(FIVE, OBSERVE, UCB(), 20000)
    longest = 0.7 * (math.floor(THETA_20000[3]) + 1) / 0.05
    rest = 20000 - longest / 0.7
    second = 0.4 * min(rest, (math.floor(THETA_20000[2]) + 1) / 0.3)
    third = 0.2 * max(0.0, rest - (math.floor(THETA_20000[2]) + 1) / 0.3)
    filled = found["instance in horizon"].terms["rounds"]
    assert filled == pytest.approx(longest + second + third)
    assert filled < found["trivial"].value * 0.99


@pytest.mark.parametrize("horizon", [2, 1000, 10**9])
def test_noise_may_differ_by_arm(horizon):
    noise = [0.1, 1.0, 0.0]
    problem = ArmedBandit([0.5, 0.4, 0.1], noise=noise)
    observe = [0.5, 0.2, 0.8]
    found = regret_bounds(problem, PerArm(observe), UCB(regularization=2.0), horizon)
    factor = 2 * math.sqrt(6 * math.log(horizon))
    roots = fluid_potential(observe, horizon, 0.5, 2.0, weights=noise)
    assert found["separate"].terms["noise"] == pytest.approx(factor * roots)
    spread = sum(s**2 / p for s, p in zip(noise, observe, strict=True))
    first = sum(s / p for s, p in zip(noise, observe, strict=True)) / math.sqrt(2.0)
    closed = factor * (2 * math.sqrt(spread * horizon) + first)
    assert found["closed form"].terms["noise"] == pytest.approx(closed)
    gap, x1, x2 = 0.1, 2 * 2.0 * 0.5, math.sqrt(24 * math.log(horizon))
    theta = ((math.sqrt(x2**2 + 4 * gap * x1) + x2) / (2 * gap)) ** 2 - 2.0
    silent = 4.0 * 0.5 / 0.4 - 2.0
    seen = gap / 0.2 * (math.floor(theta) + 1) + 0.4 / 0.8 * (math.floor(silent + 1e-12) + 1)
    assert found["instance"].terms["observations"] == pytest.approx(seen)


@st.composite
def worlds(draw):
    arms = draw(st.integers(1, 5))

    def some(low, high):
        return draw(st.lists(st.floats(low, high), min_size=arms, max_size=arms))

    means = [round(m, 3) for m in some(-2.0, 2.0)]
    observe, noise = some(0.02, 1.0), [round(s, 2) for s in some(0.0, 2.0)]
    return means, observe, noise, draw(st.floats(0.1, 5.0)), draw(st.integers(1, 10**7))


@pytest.mark.slow
@given(worlds())
@settings(deadline=None)
def test_sharper_bounds_are_sharper(world):
    means, observe, noise, lam, horizon = world
    problem = ArmedBandit(means, noise=noise)
    found = regret_bounds(problem, PerArm(observe), UCB(regularization=lam), horizon)
    chains = [
        ("instance in horizon", "own gaps", "best arm dropped", "joint", "separate"),
        ("separate", "closed form"),
        ("separate", "paper's theorem"),
    ]
    for chain in chains:
        values = [found[name].value for name in chain]
        for small, large in pairwise(values):
            assert small <= large * (1 + 1e-10) + 1e-12
    within = found["instance in horizon"].terms["rounds"]
    assert within <= found["instance"].terms["observations"] * (1 + 1e-10) + 1e-12
    assert within <= found["trivial"].value * (1 + 1e-12)
    plays = found["paper's instance"].terms["plays"]
    assert found["instance"].terms["observations"] <= plays / min(observe) * (1 + 1e-9)
    assert all(bound.value >= 0 and math.isfinite(bound.value) for bound in found)


@pytest.mark.slow
@given(worlds(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_relabelling_changes_nothing(world, shuffler):
    means, observe, noise, lam, horizon = world
    order = list(range(len(means)))
    shuffler.shuffle(order)
    policy = UCB(regularization=lam)
    one = regret_bounds(ArmedBandit(means, noise=noise), PerArm(observe), policy, horizon)
    two = regret_bounds(
        ArmedBandit([means[a] for a in order], noise=[noise[a] for a in order]),
        PerArm([observe[a] for a in order]),
        policy,
        horizon,
    )
    for a, b in zip(one, two, strict=True):
        assert a.value == pytest.approx(b.value, rel=1e-10, abs=1e-12)


def test_arms_that_cannot_be_played_do_not_count():
    whole = ArmedBandit([0.9, 0.2, 0.5], noise=[5.0, 1.0, 0.5], actions=FixedArms([1, 2]))
    part = ArmedBandit([0.2, 0.5], noise=[1.0, 0.5])
    policy = UCB(bound=0.9)
    one = regret_bounds(whole, PerArm([0.01, 0.3, 0.6]), policy, 10**5)
    two = regret_bounds(part, PerArm([0.3, 0.6]), policy, 10**5)
    assert [b.value for b in one] == [b.value for b in two]
    left_out = regret_bounds(whole, PerArm([0.01, 0.3, 0.6]), UCB(), 10**5)
    assert [b.value for b in left_out] == [b.value for b in one]


@pytest.mark.parametrize("actions", [RandomArms([0.5] * 3), SequenceOfArms([[0, 1], [2]])])
def test_changing_arms_leave_out_the_instance_bounds(actions):
    means, observe = [0.9, 0.5, 0.2], PerArm([0.9, 0.1, 0.5])
    fixed = regret_bounds(ArmedBandit(means), observe, UCB(), 10**6)
    found = regret_bounds(ArmedBandit(means, actions=actions), observe, UCB(), 10**6)
    needing = {"instance", "instance in horizon", "paper's instance"}
    for bound in found:
        assert bound.applies == (bound.name not in needing)
        if bound.applies:
            assert bound.value == fixed[bound.name].value
            assert bound.reason == ""
        else:
            assert bound.value == math.inf
            assert bound.reason == "needs the same arms in every round"
    assert found.smallest.name not in needing


class NearlyUCB(UCB):
    """A relative the theorems do not know."""


@pytest.mark.parametrize("policy", [RandomChoice(), NearlyUCB(bound=0.1)])
def test_other_policies_get_the_trivial_bound_only(policy):
    found = regret_bounds(FIVE, OBSERVE, policy, 100)
    assert [bound.name for bound in found if bound.applies] == ["trivial"]
    assert found.smallest.value == pytest.approx(70.0)
    assert "proved for UCB" in found["joint"].reason


def test_a_bound_below_the_means_is_refused():
    with pytest.raises(InvalidInput, match=r"`UCB.bound` must be at least .* 0.9.* got 0.5"):
        regret_bounds(FIVE, OBSERVE, UCB(bound=0.5), 100)
    regret_bounds(FIVE, OBSERVE, UCB(bound=0.9), 100)


@pytest.mark.parametrize("horizon", [1, 2, 100])
@pytest.mark.parametrize(
    "problem",
    [
        ArmedBandit([0.5]),
        ArmedBandit([0.5, 0.5, 0.5]),
        ArmedBandit([0.0, 0.0], noise=0.0),
        ArmedBandit([1.0, -1.0], noise=0.0),
        ArmedBandit([1.0, 0.0], noise=[0.0, 1.0]),
        ArmedBandit([0.9, 0.1], reward="bernoulli"),
    ],
)
def test_corner_cases_stay_finite(problem, horizon):
    found = regret_bounds(problem, Uniform(0.3), UCB(), horizon)
    assert all(math.isfinite(bound.value) for bound in found)
    if problem.gaps.max() == 0:
        assert found.smallest.value == 0.0
        assert found["instance"].value == 0.0
    assert found.smallest.value <= horizon * problem.gaps.max()


def test_no_noise_and_full_feedback_reach_the_instance_bound():
    """With means -1 and 1 the worse arm is tried once, for it ties; the bound counts exactly 1."""
    problem = ArmedBandit([-1.0, 1.0], noise=0.0)
    found = regret_bounds(problem, Uniform(1.0), UCB(), 1000)
    assert found["instance"].terms["observations"] == 2.0


def test_table():
    found = regret_bounds(FIVE, OBSERVE, UCB(), 5000)
    lines = str(found).splitlines()
    assert lines[0] == "Expected regret after 5,000 rounds is at most"
    assert len(lines) == 1 + len(found) == 1 + len(list(found))
    assert next(line for line in lines if "<" in line).split()[:2] == ["trivial", "3,500"]
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["smallest"] == "trivial"
    other = regret_bounds(FIVE, OBSERVE, RandomChoice(), 1)
    assert str(other).startswith("Expected regret after 1 round is")
    assert json.loads(json.dumps(other.to_dict(), allow_nan=False))["bounds"][0]["value"] is None


def test_unknown_name():
    with pytest.raises(InvalidInput, match="Did you mean 'joint'"):
        regret_bounds(FIVE, OBSERVE, UCB(), 10)["jont"]


def test_bad_arguments():
    with pytest.raises(InvalidInput, match="`horizon` must be a whole number of at least 1"):
        regret_bounds(FIVE, OBSERVE, UCB(), 0)
    with pytest.raises(InvalidInput, match="`problem` must be a bandit"):
        regret_bounds([0.9, 0.8], OBSERVE, UCB(), 10)
    with pytest.raises(InvalidInput, match="`policy` must be a policy"):
        regret_bounds(FIVE, OBSERVE, "ucb", 10)
    with pytest.raises(InvalidInput, match=r"`PerArm.observe` must have 5 entries"):
        regret_bounds(FIVE, PerArm([0.5]), UCB(), 10)
