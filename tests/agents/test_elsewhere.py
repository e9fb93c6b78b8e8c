"""Agents that fold the same log are equal, whoever made its decisions."""

import numpy as np
import pytest

from halfseen import (
    GLMUCB,
    KLUCB,
    UCB,
    Agent,
    DecisionError,
    GaussianThompson,
    GLMAgent,
    LinearAgent,
    LinThompson,
)
from halfseen.agents.ledger import Entry
from halfseen.agents.more_arms import with_arms

ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
MAKERS = {
    "ucb": lambda: Agent(UCB(), 3, noise=0.5, floor=0.1),
    "kl-ucb": lambda: Agent(KLUCB(), 3, reward="bernoulli", noise=0.5, floor=0.1),
    "thompson": lambda: Agent(GaussianThompson(), 3, noise=0.5),
    "lin-thompson": lambda: LinearAgent(LinThompson(), 2, probabilities=False),
    "glm-ucb": lambda: GLMAgent(GLMUCB(), 2),
}


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_a_proposal_leaves_no_trace_whatever_the_policy(kind):
    one, other = MAKERS[kind](), MAKERS[kind]()
    offer = None if isinstance(one, Agent) else ROWS
    for k in range(40):
        made = one.propose(offer, id=f"d{k}", ahead=k % 3)  # the other proposes nothing
        for agent in (one, other):
            agent.record(Entry(f"d{k}", 0, made.choice, made.payload, made.probability))
            if k % 3:
                agent.observe(f"d{k}", float(k % 2))
            else:
                agent.miss(f"d{k}")
        assert one.to_dict() == other.to_dict()
    assert one.observations == 26


def test_a_decision_is_recorded_once():
    agent = MAKERS["ucb"]()
    agent.record(Entry("x", 0, 1, 1))
    with pytest.raises(DecisionError, match="made already"):
        agent.record(Entry("x", 0, 1, 1))
    agent.observe("x", 1.0)
    agent.forget("x")
    with pytest.raises(DecisionError, match="never made"):
        agent.observe("x", 1.0)
    assert agent.observations == 1


def test_arms_that_are_added_begin_empty_and_change_nothing_of_the_others():
    agent = Agent(UCB(), ["a", "b"], noise=0.5)
    for k in range(10):
        agent.observe(agent.choose(), k / 10)
    more = with_arms(agent, ["a", "b", "c"], noise=0.5, floor=0.0)
    assert more._state[:2].tolist() == agent._state.tolist()
    assert more.observations_per_arm.tolist() == [*agent.observations_per_arm.tolist(), 0]
    assert more.choose().arm == "c"
    assert Agent.from_dict(more.to_dict()).to_dict() == more.to_dict()
