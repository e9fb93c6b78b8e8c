"""Problems: actions and their rewards."""

from typing import TYPE_CHECKING

from halfseen.errors import only_listed
from halfseen.problems.action_sets import (
    FiniteActions,
    RandomActions,
    SampledActions,
    SequenceOfActions,
    UnitBall,
)
from halfseen.problems.arm_sets import (
    AllArms,
    FixedArms,
    RandomArms,
    SequenceOfArms,
)
from halfseen.problems.arms import ArmedBandit
from halfseen.problems.base import (
    ARM_ACTIONS,
    LINEAR_ACTIONS,
    PROBLEMS,
    ActionSet,
    ArmActions,
    LinearActions,
    Problem,
)
from halfseen.problems.delay_contract import DELAY_LAWS, DelayLaw
from halfseen.problems.delay_laws import (
    EmpiricalDelay,
    Fixed,
    GeometricDelay,
    LogNormalDelay,
    ParetoDelay,
)
from halfseen.problems.glm import GeneralizedLinearBandit
from halfseen.problems.linear import LinearBandit
from halfseen.problems.links import LINKS, Link
from halfseen.problems.reward_laws import (
    Bernoulli,
    Exponential,
    Gaussian,
    Interval,
    Poisson,
    Rademacher,
    StudentT,
)
from halfseen.problems.rewards import REWARD_LAWS, RewardLaw
from halfseen.problems.setting import Setting

__all__ = [
    "ARM_ACTIONS",
    "DELAY_LAWS",
    "LINEAR_ACTIONS",
    "LINKS",
    "PROBLEMS",
    "REWARD_LAWS",
    "ActionSet",
    "AllArms",
    "ArmActions",
    "ArmedBandit",
    "Bernoulli",
    "DelayLaw",
    "EmpiricalDelay",
    "Exponential",
    "FiniteActions",
    "Fixed",
    "FixedArms",
    "Gaussian",
    "GeneralizedLinearBandit",
    "GeometricDelay",
    "Interval",
    "LinearActions",
    "LinearBandit",
    "Link",
    "LogNormalDelay",
    "ParetoDelay",
    "Poisson",
    "Problem",
    "Rademacher",
    "RandomActions",
    "RandomArms",
    "RewardLaw",
    "SampledActions",
    "SequenceOfActions",
    "SequenceOfArms",
    "Setting",
    "StudentT",
    "UnitBall",
]

if not TYPE_CHECKING:  # the type checker knows the names above
    __getattr__, __dir__ = only_listed(__name__, __all__)
