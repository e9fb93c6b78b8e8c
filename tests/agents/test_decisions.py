"""What agents do with a choice that is not on offer."""

import pytest
from testing.made_policies import linear_policy, policy

from halfseen import Agent, InvalidInput, LinearAgent


@pytest.mark.parametrize("chosen", [0, 9, -1])
def test_a_policy_that_chooses_what_is_not_on_offer_is_refused(chosen):
    def choose(state, plays, playable, clock, stream, table):
        return chosen

    agent = Agent(policy(choose=choose), 3, horizon=100)
    with pytest.raises(InvalidInput, match=rf"`Wrong\.choose` must return .* got {chosen}\."):
        agent.choose(available=[1, 2])
    assert agent.observations == 0


def test_a_linear_policy_that_chooses_a_row_that_is_not_there_is_refused():
    def choose(rows, known, memory, clock, stream, table):
        return 7

    with pytest.raises(InvalidInput, match=r"`Wrong\.choose` must return the number of an action"):
        LinearAgent(linear_policy(choose=choose), 2).choose([[1.0, 0.0], [0.0, 1.0]])
