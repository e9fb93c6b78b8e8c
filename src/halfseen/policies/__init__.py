"""How to choose: one algorithm per file."""

from typing import TypeVar

from halfseen.policies.adversaries import InformationGreedy, MostCensored, OptimalOrder
from halfseen.policies.epsilon_greedy import EpsilonGreedy
from halfseen.policies.glm_policy import GLMPolicy
from halfseen.policies.glm_thompson import GLMThompson
from halfseen.policies.glm_ucb import GLMUCB, ImputeZeroGLMUCB, RidgeGLMUCB
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
GLM_POLICIES: dict[str, type[GLMPolicy]] = {}
Kind = TypeVar("Kind", bound=type[Policy] | type[LinearPolicy])


def register(policy: Kind) -> Kind:
    """Make a policy known to specs by its `kind`; usable as a class decorator."""
    if issubclass(policy, GLMPolicy):
        GLM_POLICIES[policy.kind] = policy
    elif issubclass(policy, LinearPolicy):
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
    InformationGreedy,
    MostCensored,
    OptimalOrder,
    GLMUCB,
    RidgeGLMUCB,
    GLMThompson,
    ImputeZeroGLMUCB,
):
    register(_policy)

__all__ = [
    "GLMUCB",
    "GLM_POLICIES",
    "LINEAR_POLICIES",
    "POLICIES",
    "UCB",
    "UCB1",
    "BernoulliThompson",
    "DesignExploration",
    "DoublyRobust",
    "EpsilonGreedy",
    "GLMPolicy",
    "GLMThompson",
    "GaussianThompson",
    "ImputeMean",
    "ImputeZero",
    "ImputeZeroGLMUCB",
    "ImputeZeroLinUCB",
    "InformationGreedy",
    "InversePropensity",
    "Kernels",
    "LinEpsilonGreedy",
    "LinRandom",
    "LinThompson",
    "LinUCB",
    "LinearPolicy",
    "MostCensored",
    "OptimalOrder",
    "Policy",
    "RandomChoice",
    "RidgeGLMUCB",
    "RobustUCB",
    "register",
]
