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
from halfseen.problems.arms import REWARDS, ArmedBandit
from halfseen.problems.glm import GeneralizedLinearBandit
from halfseen.problems.linear import LinearBandit
from halfseen.problems.links import LINKS, Link
from halfseen.problems.setting import Setting

__all__ = [
    "ACTION_SETS",
    "LINEAR_ACTIONS",
    "LINKS",
    "REWARDS",
    "ActionSet",
    "AllArms",
    "ArmedBandit",
    "FiniteActions",
    "FixedArms",
    "GeneralizedLinearBandit",
    "LinearActions",
    "LinearBandit",
    "Link",
    "RandomActions",
    "RandomArms",
    "SampledActions",
    "SequenceOfActions",
    "SequenceOfArms",
    "Setting",
    "UnitBall",
]
