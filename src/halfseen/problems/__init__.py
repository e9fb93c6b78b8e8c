"""The rewards: what can be played and what it pays."""

from halfseen.problems.action_sets import (
    LINEAR_ACTIONS,
    FiniteActions,
    LinearActions,
    RandomActions,
    SampledActions,
    SequenceOfActions,
    UnitBall,
)
from halfseen.problems.arm_sets import (
    ACTION_SETS,
    ActionSet,
    AllArms,
    FixedArms,
    RandomArms,
    SequenceOfArms,
)
from halfseen.problems.arms import ArmedBandit
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
    "ACTION_SETS",
    "LINEAR_ACTIONS",
    "LINKS",
    "REWARD_LAWS",
    "ActionSet",
    "AllArms",
    "ArmedBandit",
    "Bernoulli",
    "Exponential",
    "FiniteActions",
    "FixedArms",
    "Gaussian",
    "GeneralizedLinearBandit",
    "Interval",
    "LinearActions",
    "LinearBandit",
    "Link",
    "Poisson",
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
