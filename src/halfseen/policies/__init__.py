"""How to choose: one algorithm per file."""

from halfseen.policies.epsilon_greedy import EpsilonGreedy
from halfseen.policies.impute import ImputeMean, ImputeZero
from halfseen.policies.policy import Kernels, Policy
from halfseen.policies.random_choice import RandomChoice
from halfseen.policies.robust_ucb import RobustUCB
from halfseen.policies.thompson_bernoulli import BernoulliThompson
from halfseen.policies.thompson_gaussian import GaussianThompson
from halfseen.policies.ucb import UCB
from halfseen.policies.ucb1 import UCB1

POLICIES: dict[str, type[Policy]] = {}


def register(policy: type[Policy]) -> type[Policy]:
    """Make a policy known to specs by its `kind`; usable as a class decorator."""
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
):
    register(_policy)

__all__ = [
    "POLICIES",
    "UCB",
    "UCB1",
    "BernoulliThompson",
    "EpsilonGreedy",
    "GaussianThompson",
    "ImputeMean",
    "ImputeZero",
    "Kernels",
    "Policy",
    "RandomChoice",
    "RobustUCB",
    "register",
]
