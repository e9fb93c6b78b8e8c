"""How to choose: one algorithm per file."""

from typing import TypeVar

from halfseen.policies.epsilon_greedy import EpsilonGreedy
from halfseen.policies.impute import ImputeMean, ImputeZero
from halfseen.policies.lin_ucb import ImputeZeroLinUCB, LinUCB
from halfseen.policies.linear_baselines import (
    DesignExploration,
    LinEpsilonGreedy,
    LinRandom,
    LinThompson,
)
from halfseen.policies.linear_policy import LinearPolicy
from halfseen.policies.policy import Kernels, Policy
from halfseen.policies.random_choice import RandomChoice
from halfseen.policies.robust_ucb import RobustUCB
from halfseen.policies.thompson_bernoulli import BernoulliThompson
from halfseen.policies.thompson_gaussian import GaussianThompson
from halfseen.policies.ucb import UCB
from halfseen.policies.ucb1 import UCB1
from halfseen.policies.weighted import DoublyRobust, InversePropensity

POLICIES: dict[str, type[Policy]] = {}
LINEAR_POLICIES: dict[str, type[LinearPolicy]] = {}
Kind = TypeVar("Kind", bound=type[Policy] | type[LinearPolicy])


def register(policy: Kind) -> Kind:
    """Make a policy known to specs by its `kind`; usable as a class decorator."""
    if issubclass(policy, LinearPolicy):
        LINEAR_POLICIES[policy.kind] = policy
    else:
        POLICIES[policy.kind] = policy
    return policy


for _policy in (
    UCB,
    UCB1,
    RobustUCB,
    GaussianThompson,
    BernoulliThompson,
    EpsilonGreedy,
    RandomChoice,
    ImputeZero,
    ImputeMean,
    InversePropensity,
    DoublyRobust,
    LinUCB,
    ImputeZeroLinUCB,
    LinThompson,
    LinEpsilonGreedy,
    LinRandom,
    DesignExploration,
):
    register(_policy)

__all__ = [
    "LINEAR_POLICIES",
    "POLICIES",
    "UCB",
    "UCB1",
    "BernoulliThompson",
    "DesignExploration",
    "DoublyRobust",
    "EpsilonGreedy",
    "GaussianThompson",
    "ImputeMean",
    "ImputeZero",
    "ImputeZeroLinUCB",
    "InversePropensity",
    "Kernels",
    "LinEpsilonGreedy",
    "LinRandom",
    "LinThompson",
    "LinUCB",
    "LinearPolicy",
    "Policy",
    "RandomChoice",
    "RobustUCB",
    "register",
]
