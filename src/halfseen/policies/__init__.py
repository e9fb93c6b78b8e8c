"""Policies: how to choose an action, one algorithm per file."""

from typing import TYPE_CHECKING

from halfseen.errors import only_listed
from halfseen.kinds import declare, register
from halfseen.policies.arms.base import Kernels, Policy
from halfseen.policies.arms.bernoulli_thompson import BernoulliThompson
from halfseen.policies.arms.conversion_ucb import ConversionUCB
from halfseen.policies.arms.elimination import OptimisticElimination, SuccessiveElimination
from halfseen.policies.arms.epsilon_greedy import EpsilonGreedy
from halfseen.policies.arms.gamma_thompson import GammaThompson
from halfseen.policies.arms.gamma_ucb import GammaUCB
from halfseen.policies.arms.gaussian_thompson import GaussianThompson
from halfseen.policies.arms.hoeffding_ucb import HoeffdingUCB
from halfseen.policies.arms.hopeful_ucb import HopefulUCB
from halfseen.policies.arms.imed import IMED
from halfseen.policies.arms.impute import ImputeMean, ImputeZero
from halfseen.policies.arms.kl_ucb import KLUCB
from halfseen.policies.arms.kl_ucb_plus_plus import KLUCBPlusPlus
from halfseen.policies.arms.moss import MOSS
from halfseen.policies.arms.proxy_ucb import ProxyUCB
from halfseen.policies.arms.queued import QueuedPolicy
from halfseen.policies.arms.random_choice import RandomChoice
from halfseen.policies.arms.robust_ucb import RobustUCB
from halfseen.policies.arms.stratified_ucb import CovariatePolicy, StratifiedUCB
from halfseen.policies.arms.ucb import UCB
from halfseen.policies.arms.ucb1 import UCB1
from halfseen.policies.arms.weighted import DoublyRobust, InversePropensity
from halfseen.policies.glm.base import GLMPolicy
from halfseen.policies.glm.glm_thompson import GLMThompson
from halfseen.policies.glm.glm_ucb import GLMUCB, ImputeZeroGLMUCB, RidgeGLMUCB
from halfseen.policies.linear.adversaries import InformationGreedy, MostCensored, OptimalOrder
from halfseen.policies.linear.base import LinearPolicy
from halfseen.policies.linear.design_exploration import DesignExploration
from halfseen.policies.linear.lin_epsilon_greedy import LinEpsilonGreedy
from halfseen.policies.linear.lin_random import LinRandom
from halfseen.policies.linear.lin_thompson import LinThompson
from halfseen.policies.linear.lin_ucb import ImputeZeroLinUCB, LinUCB
from halfseen.policies.linear.otf_lin_ucb import OTFLinUCB
from halfseen.policies.linear.vids import VIDS

POLICIES: dict[str, type[Policy]] = {}
LINEAR_POLICIES: dict[str, type[LinearPolicy]] = {}
GLM_POLICIES: dict[str, type[GLMPolicy]] = {}
declare(Policy, "policy", POLICIES)
declare(LinearPolicy, "policy", LINEAR_POLICIES)
declare(GLMPolicy, "policy", GLM_POLICIES)

for _policy in (
    UCB,
    UCB1,
    IMED,
    KLUCB,
    KLUCBPlusPlus,
    MOSS,
    RobustUCB,
    GaussianThompson,
    BernoulliThompson,
    GammaThompson,
    EpsilonGreedy,
    RandomChoice,
    ImputeZero,
    ImputeMean,
    InversePropensity,
    DoublyRobust,
    HoeffdingUCB,
    HopefulUCB,
    GammaUCB,
    StratifiedUCB,
    ProxyUCB,
    QueuedPolicy,
    ConversionUCB,
    SuccessiveElimination,
    OptimisticElimination,
    LinUCB,
    ImputeZeroLinUCB,
    LinThompson,
    VIDS,
    OTFLinUCB,
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
    "IMED",
    "KLUCB",
    "LINEAR_POLICIES",
    "MOSS",
    "POLICIES",
    "UCB",
    "UCB1",
    "VIDS",
    "BernoulliThompson",
    "ConversionUCB",
    "CovariatePolicy",
    "DesignExploration",
    "DoublyRobust",
    "EpsilonGreedy",
    "GLMPolicy",
    "GLMThompson",
    "GammaThompson",
    "GammaUCB",
    "GaussianThompson",
    "HoeffdingUCB",
    "HopefulUCB",
    "ImputeMean",
    "ImputeZero",
    "ImputeZeroGLMUCB",
    "ImputeZeroLinUCB",
    "InformationGreedy",
    "InversePropensity",
    "KLUCBPlusPlus",
    "Kernels",
    "LinEpsilonGreedy",
    "LinRandom",
    "LinThompson",
    "LinUCB",
    "LinearPolicy",
    "MostCensored",
    "OTFLinUCB",
    "OptimalOrder",
    "OptimisticElimination",
    "Policy",
    "ProxyUCB",
    "QueuedPolicy",
    "RandomChoice",
    "RidgeGLMUCB",
    "RobustUCB",
    "StratifiedUCB",
    "SuccessiveElimination",
]

if not TYPE_CHECKING:  # the type checker knows the names above
    __getattr__, __dir__ = only_listed(__name__, __all__)
