"""The rewards: what can be played and what it pays."""

from halfseen.problems.action_sets import (
    ACTION_SETS,
    ActionSet,
    AllArms,
    FixedArms,
    RandomArms,
    SequenceOfArms,
)
from halfseen.problems.arms import REWARDS, ArmedBandit
from halfseen.problems.setting import Setting

__all__ = [
    "ACTION_SETS",
    "REWARDS",
    "ActionSet",
    "AllArms",
    "ArmedBandit",
    "FixedArms",
    "RandomArms",
    "SequenceOfArms",
    "Setting",
]
