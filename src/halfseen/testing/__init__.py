"""Checks that every kind must pass, including your own."""

from typing import TYPE_CHECKING

from halfseen.errors import only_listed
from halfseen.testing.arms import check_policy
from halfseen.testing.censorships import check_censorship
from halfseen.testing.delays_drawn import check_delay_law
from halfseen.testing.drawn_rewards import check_reward_law
from halfseen.testing.glm import check_glm_policy
from halfseen.testing.linear import check_linear_policy
from halfseen.testing.problems import check_problem

__all__ = [
    "check_censorship",
    "check_delay_law",
    "check_glm_policy",
    "check_linear_policy",
    "check_policy",
    "check_problem",
    "check_reward_law",
]

if not TYPE_CHECKING:  # the type checker knows the names above
    __getattr__, __dir__ = only_listed(__name__, __all__)
