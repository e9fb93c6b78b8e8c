"""How to choose: one algorithm per file."""

from halfseen.policies.policy import Policy
from halfseen.policies.ucb import UCB

__all__ = ["UCB", "Policy"]
