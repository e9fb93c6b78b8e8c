from dataclasses import dataclass

import numpy as np
import pytest

from halfseen import IMED, KLUCB, Agent, InvalidInput, KLUCBPlusPlus, RewardLaw, register
from halfseen.agents.arm_setting import arm_setting
from halfseen.draws import uniform
from halfseen.problems import REWARD_LAWS


def draw_share(table, arm, count, stream):
    return table[arm, 0] * uniform(stream, count, arm)


class Limited(RewardLaw):
    sub_gaussian = True
    draw = staticmethod(draw_share)

    def limits(self, means, noise):
        return np.zeros(len(means)), np.full(len(means), self.most)


@pytest.fixture(scope="module")
def laws():
    @register
    @dataclass(frozen=True)
    class Shares(Limited):
        kind = "shares-of-one"
        most: float = 1.0

    @register
    @dataclass(frozen=True)
    class Ratings(Limited):
        kind = "ratings-up-to"
        most: float

    @register
    @dataclass(frozen=True)
    class Squares(RewardLaw):
        kind = "squares-below"
        sub_gaussian = True
        draw = staticmethod(draw_share)

        def limits(self, means, noise):
            if min(means) < 0.0:
                raise ValueError("a mean below 0")
            return np.zeros(len(means)), np.ones(len(means))

    yield Shares, Ratings
    for law in (Shares, Ratings, Squares):
        del REWARD_LAWS[law.kind]


def within(reward, **options):
    given = {"noise": 0.5, "bound": 1.0, "horizon": 100} | options
    return arm_setting(2, reward=reward, **given).unit_interval


def test_which_laws_keep_rewards_between_0_and_1(laws):
    shares, ratings = laws
    assert within("bernoulli")
    assert within("shares-of-one")
    assert within(shares())
    assert not within(shares(5.0))
    assert not within(ratings(1.0))  # a saved agent would not know of the 1
    assert not within("squares-below")  # which refuses a mean
    for other in ("gaussian", "uniform", "rademacher", "poisson", "exponential", "student-t"):
        assert not within(other)
        assert not within(other, noise=0.0)


@pytest.mark.parametrize("policy", [IMED, KLUCB, KLUCBPlusPlus])
def test_indices_for_rewards_between_0_and_1_work_live(laws, policy, tmp_path):
    """They asked to declare such rewards, and refused those that were."""
    agent = Agent(policy(family="bernoulli"), 2, reward="shares-of-one")
    for _ in range(20):
        decision = agent.choose()
        agent.observe(decision, (0.3, 0.8)[decision.arm])
    assert agent.choose().arm == 1
    with pytest.raises(InvalidInput, match=r"`reward` must be between 0 and 1.* got 1.5"):
        agent.observe(agent.choose(), 1.5)
    agent.save(tmp_path / "agent")
    loaded = Agent.load(tmp_path / "agent")
    assert loaded.choose().arm == agent.choose().arm
    with pytest.raises(InvalidInput, match=r"family` must be 'gaussian' or left out for gaussian"):
        Agent(policy(family="bernoulli"), 2)
