"""The checks every policy must pass, yours included."""

from halfseen.testing.arms import check_policy
from halfseen.testing.glm import check_glm_policy
from halfseen.testing.linear import check_linear_policy

__all__ = ["check_glm_policy", "check_linear_policy", "check_policy"]
