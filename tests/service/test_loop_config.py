from dataclasses import dataclass

import numpy as np
import pytest

from halfseen import InvalidInput, RewardLaw, register
from halfseen.problems import REWARD_LAWS
from halfseen.service.loop_config import loop_config

RATED = {"name": "rated", "arms": ["a", "b"], "policy": {"kind": "imed"}, "window": 60.0}


def draw_mean(table, arm, count, stream):
    return table[arm, 0]


@pytest.fixture
def shares():
    @register
    @dataclass(frozen=True)
    class Stars(RewardLaw):
        kind = "stars-of-one"
        sub_gaussian = True
        draw = staticmethod(draw_mean)

        def limits(self, means, noise):
            return np.zeros(len(means)), np.ones(len(means))

    yield Stars.kind
    del REWARD_LAWS[Stars.kind]


def test_sums_of_rewards_between_0_and_1_are_refused(shares):
    settings = RATED | {"reward": shares, "policy": {"kind": "imed", "family": "bernoulli"}}
    assert loop_config(settings | {"rewards": "mean"}).rewards == "mean"
    with pytest.raises(InvalidInput, match="must be first, last, mean or max where rewards are st"):
        loop_config(settings | {"rewards": "sum"})
    assert loop_config(RATED | {"rewards": "sum"}).rewards == "sum"
