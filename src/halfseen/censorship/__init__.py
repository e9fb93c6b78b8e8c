"""How feedback goes missing: the probability that a reward is observed, given the action."""

from typing import TYPE_CHECKING

from halfseen.censorship.any_function import AnyFunction
from halfseen.censorship.base import CENSORSHIPS, Censorship, Profile, SeenDraws
from halfseen.censorship.delayed import Delayed
from halfseen.censorship.link_models import LinkModel, Logistic
from halfseen.censorship.multi_threshold import MultiThreshold
from halfseen.censorship.per_action import PerAction
from halfseen.censorship.per_arm import PerArm
from halfseen.censorship.population import Population
from halfseen.censorship.reward_dependent import RewardDependent
from halfseen.censorship.step_approximation import Staircase, staircase
from halfseen.censorship.uniform import Uniform
from halfseen.censorship.with_covariate import WithCovariate
from halfseen.errors import only_listed
from halfseen.kinds import register

for _censorship in (PerArm, Uniform, MultiThreshold, LinkModel, Logistic, PerAction):
    register(_censorship)  # those a spec can hold
for _arms_only in (Delayed, RewardDependent, WithCovariate):
    register(_arms_only)

__all__ = [
    "CENSORSHIPS",
    "AnyFunction",
    "Censorship",
    "Delayed",
    "LinkModel",
    "Logistic",
    "MultiThreshold",
    "PerAction",
    "PerArm",
    "Population",
    "Profile",
    "RewardDependent",
    "SeenDraws",
    "Staircase",
    "Uniform",
    "WithCovariate",
    "staircase",
]

if not TYPE_CHECKING:  # the type checker knows the names above
    __getattr__, __dir__ = only_listed(__name__, __all__)
