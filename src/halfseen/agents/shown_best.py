"""The action a linear agent's observations show to be the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.engine.arguments import DESIGN
from halfseen.errors import InvalidInput
from halfseen.policies import GLMPolicy

if TYPE_CHECKING:
    from halfseen.agents.linear import LinearAgent
    from halfseen.theory.anytime.winning_action import WinningAction


def named_winner(agent: LinearAgent, actions: Any, level: float) -> WinningAction:
    """Apply the rule of the confidence ellipsoid to what an agent has observed."""
    from halfseen.theory import winning_action

    policy, setting = agent.policy, agent.setting
    if isinstance(policy, GLMPolicy):
        raise InvalidInput(
            "GLMAgent.winner",
            "is known for linear rewards only: no ellipsoid is valid at every round here",
            policy,
            "Use LinearAgent, or an Agent with one arm per action.",
        )
    if policy.imputes:
        raise InvalidInput(
            "LinearAgent.policy",
            "must learn from observed rewards alone to name a winner",
            policy,
            "Use for example LinUCB().",
        )
    with agent._lock:
        estimate, design = agent.estimate, agent._matrices[DESIGN].copy()
    if np.ndim(actions) != 2:
        raise InvalidInput(
            "actions",
            f"must be the array (K, {setting.dimension}) of actions to compare",
            actions,
            "Give all that may be played.",
        )
    return winning_action(
        actions,
        estimate,
        design,
        regularization=policy.regularization,
        noise=setting.noise,
        bound=setting.bound,
        level=level,
    )
