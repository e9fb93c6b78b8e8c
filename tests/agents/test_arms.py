"""The live agent: feedback late, out of order, twice or never; bad input changes nothing."""

import copy
import math
import sys
import threading
from decimal import Decimal

import numpy as np
import pytest
from example_studies import LIVE_POLICIES, STUDIED_POLICIES
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import (
    IMED,
    UCB,
    Agent,
    ArmedBandit,
    BernoulliThompson,
    DecisionError,
    HoeffdingUCB,
    ImputeZero,
    InvalidInput,
    RobustUCB,
    StudentT,
)
from halfseen.agents.decisions import Decision
from halfseen.errors import shorten


def new(policy=None, **options):
    return Agent(policy or UCB(), 3, **({"noise": 0.5, "horizon": 100} | options))


def content(agent):
    """Return everything that decides what an agent does next."""
    return agent.to_dict()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"policy": "ucb"}, "policy"),
        ({"policy": UCB}, "policy"),
        ({"arms": 0}, "arms"),
        ({"arms": 2.5}, "arms"),
        ({"arms": True}, "arms"),
        ({"arms": 10**8}, "arms"),
        ({"noise": -1}, "noise"),
        ({"noise": "1"}, "noise"),
        ({"noise": True}, "noise"),
        ({"noise": math.nan}, "noise"),
        ({"noise": [0.5, 0.5]}, "noise"),
        ({"noise": [0.5, 0.5, "x"]}, r"noise\[2\]"),
        ({"bound": -1}, "bound"),
        ({"bound": math.inf}, "bound"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": 10**400}, "horizon"),
        ({"reward": "normal"}, "reward"),
        ({"seed": -1}, "seed"),
        ({"seed": 16**9000}, "seed"),
    ],
    ids=shorten,
)
def test_parameters_are_refused(arguments, field):
    with pytest.raises(InvalidInput, match=rf"^`Agent\.{field}` must"):
        Agent(**({"policy": UCB(), "arms": 3} | arguments))


def test_policies_may_refuse():
    with pytest.raises(InvalidInput, match="must be 'bernoulli' for BernoulliThompson"):
        Agent(BernoulliThompson(), 2)


def test_numpy_parameters():
    agent = Agent(UCB(), np.int64(2), noise=np.float32(0.5), seed=np.int64(3))
    assert agent.setting.noise.tolist() == [0.5, 0.5]
    assert Agent(UCB(), 2, noise=np.array([0.1, 0.2])).setting.noise.tolist() == [0.1, 0.2]


def test_decisions_count_from_1_and_wait():
    agent = new()
    decisions = [agent.choose() for _ in range(3)]
    assert [d.id for d in decisions] == [1, 2, 3]
    assert agent.decisions == 3
    assert agent.pending == {d.id: d.arm for d in decisions}
    agent.pending.clear()
    assert len(agent.pending) == 3


def test_feedback_late_and_out_of_order():
    rewards = {1: 0.25, 2: 1.0, 3: 0.5, 4: 0.0}
    menus = {1: [0], 2: [1], 3: [0], 4: [2]}
    in_order, late = new(), new()
    for number in rewards:
        in_order.observe(in_order.choose(menus[number]), rewards[number])
    for number in rewards:
        late.choose(menus[number])
    for number in (4, 2, 1, 3):
        late.observe(number, rewards[number])
    assert late.observations_per_arm.tolist() == in_order.observations_per_arm.tolist() == [2, 1, 1]
    assert late._content() == in_order._content()
    assert late.choose() == in_order.choose()


def test_feedback_that_never_comes_teaches_nothing():
    agent, fresh = new(), new()
    for _ in range(5):
        assert agent.choose().arm == 0
    assert agent.observations_per_arm.tolist() == [0, 0, 0]
    assert np.array_equal(agent._state, fresh._state)


@pytest.mark.parametrize("policy", [UCB(), ImputeZero()], ids=["plain", "imputing"])
@pytest.mark.parametrize("first", ["observe", "miss"])
def test_the_same_outcome_again_changes_nothing(policy, first):
    agent = new(policy)
    settle = {"observe": lambda d: agent.observe(d, 1.0), "miss": agent.miss}
    decision = agent.choose()
    settle[first](decision)
    before = content(agent)
    settle[first](decision)
    settle[first](decision.id)
    assert content(agent) == before


@pytest.mark.parametrize("policy", [UCB(), ImputeZero()], ids=["plain", "imputing"])
@pytest.mark.parametrize("second", [0.5, None])
def test_another_outcome_is_refused_and_changes_nothing(policy, second):
    agent = new(policy)
    decision = agent.choose()
    agent.observe(decision, 1.0)
    before = content(agent)
    with pytest.raises(DecisionError, match=r"1 was observed already.*Nothing was changed."):
        agent.observe(decision, second)
    assert content(agent) == before


@pytest.mark.parametrize(
    "decision",
    [0, -1, 2, 10**30, 16**9000, "1", None, 1.5, True, [1], {}, (), (1,)],
    ids=shorten,
)
def test_unknown_decisions_are_refused(decision):
    agent = new()
    agent.choose()
    before = content(agent)
    for settle in (agent.miss, lambda d: agent.observe(d, 1.0)):
        with pytest.raises(DecisionError, match=r"was never made. Nothing was changed."):
            settle(decision)
    assert content(agent) == before


def test_decisions_of_another_agent_are_refused():
    agent = new()
    decision = agent.choose()
    before = content(agent)
    with pytest.raises(DecisionError, match="Decision 1 was for choice 0, not 2; it comes from"):
        agent.observe(Decision(1, 2), 1.0)
    assert content(agent) == before
    agent.observe(tuple(decision), 1.0)
    agent.choose()
    agent.observe(np.int64(2), 1.0)
    assert agent.observations == 2


@pytest.mark.parametrize("missing", [None, math.nan, np.float64("nan"), Decimal("NaN")])
def test_none_and_nan_are_misses(missing):
    for policy in (UCB(), ImputeZero()):
        agent, other = new(policy), new(policy)
        agent.observe(agent.choose(), missing)
        other.miss(other.choose())
        assert content(agent) == content(other)
        assert agent.pending == {}
        assert agent.observations_per_arm.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "reward",
    [
        *(math.inf, -math.inf, 10**400, 1e101, np.float64("inf"), 1j),
        *("1.0", "x", b"1", "", [1.0], {}, object, np.array([1.0, 2.0])),
    ],
    ids=shorten,
)
def test_rewards_that_are_no_finite_number_are_refused(reward):
    agent = new()
    decision = agent.choose()
    before = content(agent)
    with pytest.raises(InvalidInput, match=r"`reward` must be a number .*Use miss"):
        agent.observe(decision, reward)
    assert content(agent) == before
    assert agent.pending == {1: 0}


@pytest.mark.parametrize("reward", [0, 1, True, np.int8(1), np.float32(0.5), Decimal("0.5")])
def test_rewards_that_are_numbers(reward):
    agent = new()
    agent.observe(agent.choose(), reward)
    assert agent._state[0].tolist() == [1.0, float(reward)]


@pytest.mark.parametrize("reward", [5.0, -1.0, 0.5, 1.0000001])
def test_bernoulli_rewards_are_0_or_1(reward):
    agent = new(BernoulliThompson(), reward="bernoulli")
    decision = agent.choose()
    before = content(agent)
    with pytest.raises(InvalidInput, match="must be 0 or 1 for Bernoulli rewards"):
        agent.observe(decision, reward)
    assert content(agent) == before
    agent.observe(decision, True)


@pytest.mark.parametrize(
    ("law", "reward", "support"),
    [
        ("poisson", -1.0, "counts: 0, 1, 2 and so on"),
        ("poisson", 1.5, "counts: 0, 1, 2 and so on"),
        ("exponential", -0.25, "above 0"),
        ("exponential", 0.0, "above 0"),
    ],
)
def test_rewards_that_the_law_cannot_have_are_refused(law, reward, support):
    agent = new(IMED(), reward=law)
    decision = agent.choose()
    before = content(agent)
    with pytest.raises(InvalidInput, match=f"`reward` must be {support} for {law.capitalize()}"):
        agent.observe(decision, reward)
    assert content(agent) == before
    agent.observe(decision, 3)


@pytest.mark.parametrize("kind", sorted(STUDIED_POLICIES))
def test_policies_that_need_queues_or_ages_are_refused(kind):
    with pytest.raises(InvalidInput, match="must not queue rewards, follow the age"):
        new(STUDIED_POLICIES[kind], reward="bernoulli")


@pytest.mark.parametrize("kind", sorted(LIVE_POLICIES))
def test_only_available_arms_are_chosen(kind):
    agent = new(LIVE_POLICIES[kind], reward="bernoulli")
    for available in ([2], (1, 2), {0, 1}, np.array([1]), range(3), iter([0, 2]), [1, 1]):
        offered = set(available) if not hasattr(available, "__next__") else {0, 2}
        decision = agent.choose(available)
        assert decision.arm in offered
        agent.observe(decision, 1.0)


@pytest.mark.parametrize(
    "available",
    [[], (), [3], [-1], [0, 3], ["0"], "01", [0.0], [None], 0, 1.5, [True], [[0]], [10**30]],
)
def test_available_arms_are_checked(available):
    agent = new()
    before = content(agent)
    with pytest.raises(InvalidInput, match="`available` must name"):
        agent.choose(available)
    with pytest.raises(InvalidInput, match="`available` must name"):
        agent.choose(np.array([True, False, True]))
    assert content(agent) == before


def test_expiring():
    agent = new()
    for _ in range(5):
        agent.choose()
    agent.observe(2, 1.0)
    assert agent.expire(10) == 0
    assert agent.expire(2) == 2
    assert set(agent.pending) == {4, 5}
    agent.observe(1, 1.0)
    assert agent.counts == {
        "held": 0,
        "pending": 2,
        "observed": 2,
        "censored": 1,
        "withdrawn": 0,
        "late": 1,
    }
    assert agent.expire(0) == 2
    assert agent.pending == {}
    for age in (-1, 1.5, "2", True):
        with pytest.raises(InvalidInput, match="`age` must be a whole number"):
            agent.expire(age)


def test_expiring_counts_as_missing_for_policies_that_impute():
    agent = new(ImputeZero())
    agent.choose()
    agent.expire(0)
    assert agent._state[0].tolist() == [1.0, 0.0]


STEPS = st.lists(
    st.tuples(st.sampled_from(["choose", "offer", "observe", "miss", "expire"]), st.integers(0, 9)),
    max_size=30,
)


@settings(deadline=None)
@given(STEPS)
def test_any_order_of_calls_keeps_the_books(steps):
    agent, seen, made = new(UCB(regularization=2.0)), np.zeros(3), {}
    settled, observed = set(), set()
    for what, number in steps:
        if what in ("choose", "offer"):
            decision = agent.choose([number % 3] if what == "offer" else None)
            made[decision.id] = decision.arm
        elif what == "expire":
            old = {n for n in made if n not in settled and n <= agent.decisions - number}
            assert agent.expire(number) == len(old)
            settled |= old
        elif number in made and number not in settled:
            agent.observe(number, 0.5) if what == "observe" else agent.miss(number)
            seen[made[number]] += what == "observe"
            settled.add(number)
            observed |= {number} if what == "observe" else set()
        elif number in made and (what == "observe" or number not in observed):
            agent.observe(number, 0.5) if what == "observe" else agent.miss(number)
            seen[made[number]] += what == "observe" and number not in observed
            observed |= {number} if what == "observe" else set()
        else:
            with pytest.raises(DecisionError):
                agent.observe(number, 0.5) if what == "observe" else agent.miss(number)
    assert agent.observations == len(observed)
    assert agent.counts["censored"] == len(settled - observed)
    assert agent.decisions == len(made)
    assert agent.pending == {n: arm for n, arm in made.items() if n not in settled}
    assert agent.observations_per_arm.tolist() == seen.tolist()
    assert agent._state.tolist() == np.column_stack([seen, seen * 0.5]).tolist()


def test_threads_that_share_an_agent_lose_no_decision(tmp_path):
    agent, each = Agent(UCB(), arms=3, noise=0.5), 2_000
    numbers = [[] for _ in range(4)]

    def use(own):
        for k in range(each):
            decision = agent.choose()
            own.append(decision.id)
            agent.observe(decision, 0.5) if k % 2 else agent.miss(decision)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=use, args=(own,)) for own in numbers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert sorted(n for own in numbers for n in own) == list(range(1, 4 * each + 1))
    assert agent.observations == 2 * each
    agent.save(tmp_path / "agent.json")
    assert Agent.load(tmp_path / "agent.json").decisions == 4 * each


def test_an_agent_can_be_copied():
    agent = Agent(UCB(), arms=2)
    agent.observe(agent.choose(), 1.0)
    other = copy.deepcopy(agent)
    assert other.choose() == agent.choose()
    other.miss(2)
    assert agent.pending == {2: 1}


def test_a_law_object_stands_for_its_name(tmp_path):
    agent = Agent(RobustUCB(), 2, reward=StudentT(3.0), noise=1.0)
    assert agent.setting.reward == "student-t"
    agent.save(tmp_path / "agent.json")
    assert Agent.load(tmp_path / "agent.json").setting.reward == "student-t"
    with pytest.raises(InvalidInput, match=r"`Agent\.reward` must be one of gaussian"):
        Agent(UCB(), 2, reward=3)


@pytest.mark.parametrize(
    ("law", "means"),
    [
        ("gaussian", [0.5, 0.2]),
        ("bernoulli", [0.5, 0.2]),
        ("uniform", [0.5, 0.2]),
        ("poisson", [9.0, 4.0]),
        ("exponential", [9.0, 4.0]),
        (StudentT(4.0), [0.5, 0.2]),
    ],
)
def test_without_noise_the_law_tells_it_as_in_a_study(law, means, tmp_path):
    told = ArmedBandit(means, reward=law).setting(100)
    agent = Agent(UCB(), 2, reward=law, bound=max(means))
    assert agent.setting.noise.tolist() == told.noise.tolist()
    assert Agent(UCB(), 2, reward=law, noise=3.0).setting.noise.tolist() == [3.0, 3.0]
    earlier = Agent(UCB(), 2, reward=law, bound=max(means), noise=1.0)
    earlier.save(tmp_path / "agent.json")
    assert Agent.load(tmp_path / "agent.json").setting.noise.tolist() == [1.0, 1.0]


def test_a_live_agent_fed_late_chooses_as_a_study_does():
    agent = Agent(HoeffdingUCB(), 2, horizon=14, reward="bernoulli")
    late, chosen = {}, ""
    for now in range(1, 15):
        for decision, reward in late.pop(now, []):
            agent.observe(decision, reward, at=now)
        decision = agent.choose(at=now)
        chosen += str(decision.arm)
        if decision.arm == 0:
            reward, delay = float(now % 3 > 0), 2
        else:
            reward, delay = float(now % 2 == 0), 0 if now % 2 else 4
        if delay <= 3:
            late.setdefault(now + 1 + delay, []).append((decision, reward))
    assert chosen == "00011110000000"
