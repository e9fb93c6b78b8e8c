"""What may become of a decision: held, shown, overridden, expired by time, answered late."""

import copy
import datetime

import numpy as np
import pytest

from halfseen import (
    GLMUCB,
    IMED,
    KLUCB,
    UCB,
    Agent,
    BernoulliThompson,
    DecisionError,
    GLMAgent,
    ImputeMean,
    ImputeZero,
    ImputeZeroLinUCB,
    InvalidInput,
    LinearAgent,
    LinUCB,
    RobustUCB,
)

UTC = datetime.UTC
AXES = np.eye(2)


def of_every_kind():
    return {
        "arms": (Agent(UCB(), 2, noise=0.5), ()),
        "linear": (LinearAgent(LinUCB(), 2), (AXES,)),
        "glm": (GLMAgent(GLMUCB(), 2), (AXES,)),
    }


@pytest.mark.parametrize("kind", ["arms", "linear", "glm"])
def test_a_late_reward_is_learned_as_if_it_had_come_in_time(kind):
    agent, menu = of_every_kind()[kind]
    other, _ = of_every_kind()[kind]
    decision = agent.choose(*menu)
    agent.miss(decision)
    agent.observe(decision, 1.0)
    other.observe(other.choose(*menu), 1.0)
    assert agent.counts == {
        "held": 0,
        "pending": 0,
        "observed": 1,
        "censored": 0,
        "withdrawn": 0,
        "late": 1,
    }
    assert agent._content() == other._content()
    before = agent.to_dict()
    agent.observe(decision, 1.0)
    assert agent.to_dict() == before
    assert type(agent).from_dict(before).to_dict() == before


@pytest.mark.parametrize("kind", ["arms", "linear", "glm"])
def test_to_choose_several_times_at_once_is_to_choose_so_often(kind):
    agent, menu = of_every_kind()[kind]
    other, _ = of_every_kind()[kind]
    assert agent.choose(*menu, count=3, at=5.0) == [other.choose(*menu, at=5.0) for _ in range(3)]
    assert agent.choose(*menu, count=0) == []
    assert agent.to_dict() == other.to_dict()
    for wrong in ({"count": -1}, {"count": 1.5}, {"count": 2, "id": "x"}):
        with pytest.raises(InvalidInput):
            agent.choose(*menu, **wrong)
    assert agent.decisions == 3


@pytest.mark.parametrize("imputes", [False, True])
def test_a_late_reward_after_other_news_is_still_one_play(imputes):
    agent = Agent(ImputeZero() if imputes else UCB(), 1, noise=0.5)
    first, second = agent.choose(), agent.choose()
    agent.miss(first)
    agent.observe(second, 1.0)
    agent.observe(first, 0.5)
    assert agent.counts["late"] == 1
    assert agent._state[0, :2].tolist() == [2.0, 1.5]
    assert agent._plays.tolist() == [2.0]
    assert agent.observations_per_arm.tolist() == [2]
    assert agent.estimates().records()[0]["mean"] == 0.75
    assert Agent.from_dict(agent.to_dict()).counts == agent.counts


@pytest.mark.parametrize(
    "base", [UCB(), IMED("bernoulli"), KLUCB("bernoulli"), BernoulliThompson()], ids=repr
)
def test_a_late_reward_replaces_the_zero_that_was_imputed(base):
    agent = Agent(ImputeZero(base), 2, reward="bernoulli")
    prompt = Agent(ImputeZero(base), 2, reward="bernoulli")
    for one, missing in ((agent, True), (prompt, False)):
        for _ in range(3):
            one.observe(one.choose([0]), 1.0)
        late = one.choose([0])
        if missing:
            one.miss(late)
        one.observe(late, 1.0)
    assert agent._content() == prompt._content()
    assert (agent.counts["late"], prompt.counts["late"]) == (1, 0)
    assert Agent.from_dict(agent.to_dict()).to_dict() == agent.to_dict()


@pytest.mark.parametrize("policy", [ImputeMean(), ImputeZero(RobustUCB())], ids=repr)
def test_a_late_reward_is_counted_but_not_learned_where_it_cannot_replace_a_guess(policy):
    agent = Agent(policy, 1)
    agent.observe(agent.choose(), 0.5)
    missed = agent.choose()
    agent.miss(missed)
    before = agent._state.tolist()
    agent.observe(missed, 1.0)
    assert agent._state.tolist() == before
    assert agent.counts["late"] == 1
    assert agent.estimates().records()[0]["mean"] == 0.75


def test_a_late_reward_is_counted_but_not_learned_where_a_linear_policy_imputed():
    agent = LinearAgent(ImputeZeroLinUCB(), 2)
    decision = agent.choose(AXES)
    agent.miss(decision)
    before = agent.estimate
    agent.observe(decision, 1.0)
    assert np.array_equal(agent.estimate, before)
    assert agent.counts["late"] == 1
    assert LinearAgent.from_dict(agent.to_dict()).counts == agent.counts


@pytest.mark.parametrize("kind", ["arms", "linear", "glm"])
def test_held_decisions_wait_to_be_shown(kind):
    agent, menu = of_every_kind()[kind]
    held = agent.choose(*menu, hold=True, at=1.0)
    assert agent.counts["held"] == 1
    assert agent.pending == {}
    for outcome in (lambda: agent.observe(held, 1.0), lambda: agent.miss(held)):
        with pytest.raises(DecisionError, match="is held: activate it first"):
            outcome()
    for at in (None, 0.5):
        with pytest.raises(InvalidInput, match="`at` must be a time not before the decision"):
            agent.activate(held, at=at)
    agent.choose(*menu)
    agent.activate(held, at=5.0)
    agent.activate(held)
    assert agent.expire(before=5.0) == agent.expire(1) == 0
    agent.observe(held, 1.0, at=6.0)
    assert agent.observations == 1
    with pytest.raises(DecisionError, match="already settled"):
        agent.activate(held)


@pytest.mark.parametrize("kind", ["arms", "linear", "glm"])
def test_held_decisions_that_are_never_shown_are_withdrawn(kind):
    agent, menu = of_every_kind()[kind]
    first, second, third = (agent.choose(*menu, hold=True) for _ in range(3))
    agent.withdraw(first)
    agent.withdraw(first)
    assert agent.expire(1) == 1
    assert agent.counts["withdrawn"] == 2
    assert agent.counts["held"] == 1
    assert agent.counts["censored"] == 0
    for settle in (agent.miss, lambda d: agent.observe(d, 1.0)):
        with pytest.raises(DecisionError, match="was withdrawn: it was never shown"):
            settle(second)
    agent.activate(third)
    with pytest.raises(DecisionError, match="only a decision that is held can be withdrawn"):
        agent.withdraw(third)
    assert type(agent).from_dict(agent.to_dict()).counts == agent.counts


def test_what_to_dict_gave_stays_as_it_was():
    agent = Agent(UCB(), 2)
    agent.observe(agent.choose(), 1.0)
    taken = agent.to_dict()
    before = copy.deepcopy(taken)
    agent.observe(agent.choose(), 1.0)
    assert taken == before
    assert Agent.from_dict(taken).decisions == 1


@pytest.mark.parametrize("kind", ["arms", "linear", "glm"])
def test_decisions_expire_by_time(kind):
    agent, menu = of_every_kind()[kind]
    day = datetime.datetime(2030, 1, 1, tzinfo=UTC)
    for hour in range(4):
        agent.choose(*menu, at=day + datetime.timedelta(hours=hour))
    agent.choose(*menu)
    assert agent.expire(before=day + datetime.timedelta(hours=2)) == 2
    assert sorted(agent.pending) == [3, 4, 5]
    again = type(agent).from_dict(agent.to_dict())
    assert again.expire(before=day + datetime.timedelta(days=9)) == 2
    assert sorted(again.pending) == [5]


def test_times_are_checked():
    agent = Agent(UCB(), 2)
    for at in ("noon", float("nan"), True, 1e20):
        with pytest.raises(InvalidInput, match="`at` must"):
            agent.choose(at=at)
    for at in ("2030-01-01", datetime.date(2030, 1, 1)):
        with pytest.raises(InvalidInput, match="`at` must be a number of seconds, or a datetime"):
            agent.choose(at=at)
    with pytest.raises(InvalidInput, match="`at` must have a time zone"):
        agent.choose(at=datetime.datetime(2030, 1, 1))
    decision = agent.choose(at=100)
    with pytest.raises(InvalidInput, match="`at` must not be before the decision at 100"):
        agent.observe(decision, 1.0, at=99.5)
    with pytest.raises(InvalidInput, match="`expire` must be given either `age` or `before`"):
        agent.expire()
    with pytest.raises(InvalidInput, match="`expire` must be given either `age` or `before`"):
        agent.expire(1, before=3.0)
    assert agent.counts["pending"] == 1


def test_a_time_before_the_decision_is_refused_with_both_times_in_full():
    agent, day = Agent(UCB(), 2), datetime.datetime(2030, 1, 1, tzinfo=UTC)
    number, dated = agent.choose(at=1793514600.5), agent.choose(at=day)
    with pytest.raises(InvalidInput, match=r"decision at 1793514600\.5; got 1793514540\. Check"):
        agent.observe(number, 1.0, at=1793514540)
    earlier = day.astimezone(datetime.timezone(datetime.timedelta(hours=2)))
    earlier -= datetime.timedelta(minutes=1)
    said = r"2030-01-01 02:00:00\+02:00; got 2030-01-01 01:59:00\+02:00\. Check"
    with pytest.raises(InvalidInput, match=said):
        agent.observe(dated, 1.0, at=earlier)
    agent.observe(dated, 1.0, at=day)


def test_a_decision_that_was_forgotten_is_not_said_to_be_unmade():
    agent = Agent(UCB(), 2, remember=2)
    for k in range(3):
        agent.choose(id=f"r{k}")
    agent.expire(0)
    said = r"'r0' is not known: it was never made, or settled more than `remember` \(2\) decisions"
    with pytest.raises(DecisionError, match=said):
        agent.observe("r0", 1.0)


def test_the_callers_id_names_the_decision_and_asking_again_repeats_it():
    agent = Agent(UCB(), ["a", "b"], noise=0.5)
    first = agent.choose(id="request 7", at=3.0)
    assert first == agent.choose(id="request 7", at=9.0)
    assert agent.decisions == 1
    agent.observe("request 7", 1.0)
    assert first == agent.choose(id="request 7")
    with pytest.raises(DecisionError, match=r"request 7.* was already made, for a, which is not"):
        agent.choose(["b"], id="request 7")
    assert agent.choose(id="1").id == "1"
    assert agent.choose().id == 3
    for bad in ("", "x" * 129, 5, b"x", "a\nb"):
        with pytest.raises(InvalidInput, match="`id` must be a printable text"):
            agent.choose(id=bad)
    assert Agent.from_dict(agent.to_dict()).pending == agent.pending == {"1": "b", 3: "b"}


def test_the_callers_id_repeats_linear_decisions():
    agent = LinearAgent(LinUCB(), 2)
    first = agent.choose(AXES, id="x")
    assert first == agent.choose(AXES, id="x")
    agent.observe("x", 0.5)
    assert first == agent.choose(AXES, id="x")
    assert agent.decisions == 1
    for other in (-AXES, np.zeros((0, 2)) if first.action else AXES[::-1].copy()):
        with pytest.raises((DecisionError, InvalidInput)):
            agent.choose(other, id="x")


def test_arms_may_have_names():
    agent = Agent(UCB(), ["red", "green", "blue"], noise=0.5)
    decision = agent.choose(available=["green", "blue"])
    assert decision.arm == "green"
    agent.observe(decision, 1.0)
    assert agent.observations_per_arm.tolist() == [0, 1, 0]
    assert Agent.from_dict(agent.to_dict()).choose().arm == agent.choose().arm == "red"
    with pytest.raises(InvalidInput, match=r"`available` must name an arm \(red, green, blue\)"):
        agent.choose(available=["white"])
    with pytest.raises(InvalidInput, match="`available` must name arms in a list"):
        agent.choose(available="red")


@pytest.mark.parametrize(
    ("arms", "field"),
    [
        ([], r"Agent\.arms"),
        (["a", "a"], r"Agent\.arms"),
        (["a", 1], r"Agent\.arms\[1\]"),
        ([""], r"Agent\.arms\[0\]"),
        ("ab", r"Agent\.arms"),
    ],
)
def test_names_are_checked(arms, field):
    with pytest.raises(InvalidInput, match=f"`{field}` must"):
        Agent(UCB(), arms)


def test_what_was_really_shown_is_learned():
    agent = Agent(UCB(), ["a", "b"], noise=0.5)
    decision = agent.choose()
    assert (decision.arm, decision.probability) == ("a", 1.0)
    agent.served(decision, "b", probability=0.25)
    assert agent.pending == {1: "b"}
    agent.observe(decision, 1.0)
    assert agent.observations_per_arm.tolist() == [0, 1]
    assert agent._ledger.settled[1].probability == 0.25
    with pytest.raises(DecisionError, match="already settled"):
        agent.served(decision, "a")
    with pytest.raises(InvalidInput, match="`arm` must name an arm"):
        agent.served(agent.choose(), "c")
    with pytest.raises(InvalidInput, match="`probability` must"):
        agent.served(2, "b", probability=0.0)


def test_what_was_really_shown_is_learned_with_features():
    agent, other = LinearAgent(LinUCB(), 2), LinearAgent(LinUCB(), 2)
    decision = agent.choose(AXES)
    agent.served(decision, [0.6, 0.8])
    agent.observe(decision, 0.5)
    other.observe(other.choose([[0.6, 0.8]]), 0.5)
    assert agent.estimate.tolist() == other.estimate.tolist()
    for bad in ([1.0], [1.0, 1.0], "x"):
        with pytest.raises(InvalidInput):
            agent.served(agent.choose(AXES), bad)


def test_many_decisions_at_once():
    agent, other = Agent(UCB(), 3), Agent(UCB(), 3)
    assert agent.choose(count=4, at=2.0) == [other.choose(at=2.0) for _ in range(4)]
    assert agent.choose(count=0) == []
    with pytest.raises(InvalidInput, match="`id` must be left out with `count`"):
        agent.choose(count=2, id="x")
    with pytest.raises(InvalidInput, match="`count` must"):
        agent.choose(count=-1)


def test_only_the_last_settled_decisions_are_remembered():
    agent = Agent(UCB(), 2, remember=3)
    for _ in range(5):
        agent.miss(agent.choose())
    agent.observe(3, 1.0)
    for forgotten in (1, 2):
        with pytest.raises(DecisionError, match="settled too long ago to be remembered"):
            agent.observe(forgotten, 1.0)
    assert len(agent._ledger.settled) == 3
    assert Agent.from_dict(agent.to_dict())._ledger.remember == 3
    assert Agent(UCB(), 2, remember=0).choose().id == 1
    with pytest.raises(InvalidInput, match=r"`Agent\.remember` must"):
        Agent(UCB(), 2, remember=-1)


def test_estimates_hold_means_intervals_and_how_often_they_are_seen():
    agent = Agent(UCB(), ["a", "b", "c"], reward="bernoulli", noise=0.5)
    for k in range(40):
        decision = agent.choose(["a"] if k % 2 else ["b"])
        agent.observe(decision, 1.0) if k % 4 else agent.miss(decision)
    rows = {row["arm"]: row for row in agent.estimates()}
    assert (rows["a"]["observed"], rows["a"]["settled"], rows["a"]["seen"]) == (20, 20, 1.0)
    assert (rows["b"]["observed"], rows["b"]["settled"], rows["b"]["seen"]) == (10, 20, 0.5)
    assert rows["a"]["mean"] == 1.0
    assert 0.7 < rows["a"]["low"] < 1.0 == rows["a"]["high"]
    assert (rows["c"]["mean"], rows["c"]["low"], rows["c"]["high"]) == (None, 0.0, 1.0)
