"""The probability stored with a decision is that of the choice."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from example_studies import LIVE_POLICIES
from scipy import stats

from halfseen import (
    GLMUCB,
    KLUCB,
    UCB,
    UCB1,
    VIDS,
    Agent,
    BernoulliThompson,
    EpsilonGreedy,
    GammaThompson,
    GaussianThompson,
    GLMAgent,
    GLMThompson,
    ImputeZero,
    InvalidInput,
    LinearAgent,
    LinEpsilonGreedy,
    LinRandom,
    LinThompson,
    LinUCB,
    Policy,
    RandomChoice,
)
from halfseen.agents.arm_chances import chance_of
from halfseen.draws import uniform

RANDOM = {
    "epsilon": EpsilonGreedy(0.3),
    "bernoulli": BernoulliThompson(),
    "gaussian": GaussianThompson(),
    "gamma": GammaThompson(),
    "random": RandomChoice(),
    "imputing": ImputeZero(BernoulliThompson()),
}


def lived(policy, seed=0, floor=0.0, rounds=12):
    """Return an agent that has seen some rewards, the same ones whatever its seed."""
    agent = Agent(
        policy, 4, reward="bernoulli", noise=0.5, seed=seed, floor=floor, probabilities=False
    )
    for k in range(rounds):
        agent.observe(agent.choose([k % 4]), float(k % 3 == 0))
    return agent


@pytest.mark.slow
@pytest.mark.parametrize("floor", [0.0, 0.1])
@pytest.mark.parametrize("kind", sorted(RANDOM))
@pytest.mark.parametrize("available", [None, [0, 2, 3]], ids=["all", "some"])
def test_choices_follow_the_probabilities(kind, floor, available):
    """By a chi-square test over 1,500 seeds; alone it fails at 1 in 10,000, and seeds are fixed."""
    agents = [lived(RANDOM[kind], seed, floor) for seed in range(1_500)]
    counts = np.bincount([agent.choose(available).arm for agent in agents], minlength=4)
    one = agents[0]
    one.probabilities = True
    playable = one.arms.playable(available or range(4))
    chances = np.array(
        [chance_of(one, 0, arm, playable, False, one._turn())[0] for arm in range(4)]
    )
    offered = np.flatnonzero(playable)
    chances[offered] = (1.0 - floor * len(offered)) * chances[offered] + floor
    assert chances[offered].sum() == pytest.approx(1.0, abs=1e-12)
    assert counts.sum() == counts[offered].sum()
    assert stats.chisquare(counts[offered], 1_500 * chances[offered]).pvalue > 1e-4


MANY = 1_000_000


def follow(counts, chances):
    """Demand that counts follow probabilities: never where they are 0, by chi-square elsewhere."""
    likely = chances > 0.0
    assert counts[~likely].sum() == 0
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    if likely.sum() > 1:
        assert stats.chisquare(counts[likely], counts.sum() * chances[likely]).pvalue > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(LIVE_POLICIES))
def test_a_million_draws_of_every_policy_follow_its_probabilities(kind):
    agent = lived(LIVE_POLICIES[kind])
    agent.probabilities = True
    turn, playable = agent._turn(), agent._everything

    def select(key):
        plays, table = agent._plays, agent._table
        return agent._select(agent._state, plays, playable, turn.clock, key, 5, table)

    counts = np.bincount([select(key) for key in range(MANY)], minlength=4)
    own = select(0)
    found = [chance_of(agent, own, arm, playable, True, turn) for arm in range(4)]
    assert [error for _, error in found] == [0.0] * 4
    follow(counts, np.array([chance for chance, _ in found]))


LINEAR = {
    "epsilon": (LinearAgent, LinEpsilonGreedy(0.3)),
    "random": (LinearAgent, LinRandom()),
    "ucb": (LinearAgent, LinUCB()),
    "thompson": (LinearAgent, LinThompson()),
    "information": (LinearAgent, VIDS(draws=10)),
    "glm ucb": (GLMAgent, GLMUCB()),
    "glm thompson": (GLMAgent, GLMThompson()),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(LINEAR))
def test_many_draws_of_every_linear_policy_follow_its_probabilities(kind):
    make, policy = LINEAR[kind]
    agent = make(policy, 3)
    rng = np.random.default_rng(2)
    for k in range(30):
        rows = rng.normal(size=(4, 3))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        agent.observe(agent.choose(rows), float(k % 3 == 0))
    turn = agent._turn()
    estimated = kind in ("thompson", "information", "glm thompson")
    draws = 100_000 if estimated else MANY
    chosen = [agent._chosen(rows, turn.clock, (key, 5)) for key in range(draws)]
    counts = np.bincount(chosen, minlength=4)
    own = agent._chosen(rows, turn.clock, turn.key)
    found = np.array([agent._probability(rows, own, row, turn) for row in range(4)])
    if estimated:
        assert np.all(found[:, 1] > 0.0)
        assert np.all(np.abs(counts / draws - found[:, 0]) < 4 * found[:, 1])
    else:
        assert found[:, 1].tolist() == [0.0] * 4
        follow(counts, found[:, 0])


@pytest.mark.parametrize("policy", [UCB(), UCB1(), KLUCB("bernoulli", "rounds")], ids=repr)
def test_index_policies_choose_with_certainty(policy):
    agent = lived(policy)
    assert {agent.choose().probability for _ in range(5)} == {1.0}


def test_golden_probabilities_of_epsilon_greedy():
    state = np.array([[10.0, 2.0], [10.0, 7.0], [10.0, 7.0]])
    found = EpsilonGreedy(0.1).probabilities(state, np.ones(3, np.uint8), 9, np.zeros((3, 2)))
    assert found.tolist() == pytest.approx([1 / 30, 0.9 + 1 / 30, 1 / 30], abs=1e-15)


def test_a_floor_gives_every_arm_its_share():
    agent = Agent(UCB(), 4, noise=0.5, floor=0.05, seed=3)
    shown = [agent.choose() for _ in range(4_000)]
    counts = np.bincount([decision.arm for decision in shown], minlength=4)
    assert np.all(np.abs(counts[1:] - 200) < 5 * math.sqrt(190))
    for decision in shown:
        assert decision.probability == pytest.approx(0.05 if decision.arm else 0.85)
    alone = agent.choose([2])
    assert (alone.arm, alone.probability) == (2, 1.0)
    assert Agent.from_dict(agent.to_dict()).choose() == agent.choose()


@pytest.mark.parametrize("agent", [LinearAgent(LinUCB(), 2, floor=0.2, seed=4)])
def test_a_floor_gives_every_action_its_share(agent):
    shown = [agent.choose(np.eye(2)) for _ in range(1_000)]
    counts = np.bincount([decision.action for decision in shown], minlength=2)
    assert abs(counts[1] - 200) < 5 * math.sqrt(160)
    for decision in shown:
        assert decision.probability == pytest.approx(0.2 if decision.action else 0.8)
    again = LinearAgent.from_dict(agent.to_dict())
    assert again.choose(np.eye(2)) == agent.choose(np.eye(2))


@pytest.mark.parametrize("floor", [-0.1, 0.3, math.nan, "x"])
def test_floors_are_checked(floor):
    with pytest.raises(InvalidInput, match=r"`Agent\.floor` must"):
        Agent(UCB(), 4, floor=floor)


def test_probabilities_can_be_left_out():
    agent = Agent(GaussianThompson(), 3, probabilities=False)
    assert agent.choose().probability is None
    assert LinearAgent(LinThompson(), 2, probabilities=False).choose(np.eye(2)).probability is None


def test_probabilities_change_with_what_is_learned():
    agent = Agent(BernoulliThompson(), 2, reward="bernoulli")
    assert agent.choose().probability == pytest.approx(0.5)
    for _ in range(6):
        agent.observe(agent.choose([0]), 1.0)
    chances = {d.arm: d.probability for d in (agent.choose() for _ in range(200))}
    assert chances[0] == pytest.approx(1 - 1 / 8, abs=1e-12)  # P(Beta(7, 1) > U)
    assert chances[1] == pytest.approx(1 / 8, abs=1e-12)


def coin(state, arm, clock, stream, table):
    return 1.0 * arm if uniform(stream, clock, 0) < 0.25 else -1.0 * arm


@dataclass(frozen=True)
class Coin(Policy):
    kind: ClassVar[str] = "own coin"
    index = staticmethod(coin)

    def table(self, setting):
        return np.zeros((setting.arms, 1))


def test_a_policy_of_ones_own_that_randomises_is_estimated_with_its_error():
    agent = Agent(Coin(), 2)
    decision = agent.choose()
    truth = 0.25 if decision.arm == 1 else 0.75
    assert 0.0 < decision.probability_error < 0.03
    assert abs(decision.probability - truth) < 4 * decision.probability_error


@pytest.mark.slow
def test_linear_probabilities():
    rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    greedy = LinearAgent(LinEpsilonGreedy(0.3), 2, seed=1)
    greedy.observe(greedy.choose([[0.0, 1.0]]), 1.0)
    chances = {d.action: d.probability for d in (greedy.choose(rows) for _ in range(100))}
    assert chances == {0: pytest.approx(0.1), 1: pytest.approx(0.1), 2: pytest.approx(0.8)}
    assert LinearAgent(LinRandom(), 2).choose(rows).probability == pytest.approx(1 / 3)
    assert LinearAgent(LinUCB(), 2).choose(rows).probability == 1.0
    assert GLMAgent(GLMUCB(), 2).choose(rows).probability == 1.0
    # Two unit vectors: before anything is seen the sign of a normal number decides.
    for agent in (LinearAgent(LinThompson(), 2), GLMAgent(GLMThompson(), 2)):
        decision = agent.choose([[1.0, 0.0], [0.0, 1.0]])
        assert 0.02 < decision.probability_error < 0.03
        assert abs(decision.probability - 0.5) < 4 * decision.probability_error
    assert 0.0 < LinearAgent(VIDS(draws=10), 2).choose(rows).probability <= 1.0


@pytest.mark.parametrize("floor", [0.0, 0.2])
def test_a_single_action_on_offer_is_certain(floor):
    """It was estimated by draws, as 0.9975."""
    for policy in (VIDS(draws=10), LinThompson()):
        decision = LinearAgent(policy, 2, floor=floor).choose([[1.0, 0.0]])
        assert (decision.probability, decision.probability_error) == (1.0, 0.0)
    decision = GLMAgent(GLMThompson(), 2, floor=floor).choose([[1.0, 0.0]])
    assert (decision.probability, decision.probability_error) == (1.0, 0.0)
    decision = Agent(Coin(), 3, floor=floor).choose(available=[2])
    assert (decision.probability, decision.probability_error) == (1.0, 0.0)
