"""Estimated means of a linear agent's actions, and the best action."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.engine.arguments import DESIGN
from halfseen.errors import InvalidInput
from halfseen.policies import GLMPolicy
from halfseen.tables import Table

if TYPE_CHECKING:
    from halfseen.agents.linear import LinearAgent
    from halfseen.theory.anytime.winning_action import WinningAction


def named_winner(
    agent: LinearAgent, actions: Any, level: float, what: str = "winner"
) -> WinningAction:
    """Apply the rule of the confidence ellipsoid to what an agent has observed."""
    from halfseen.theory import winning_action

    policy, setting = agent.policy, agent.setting
    if isinstance(policy, GLMPolicy):
        raise InvalidInput(
            f"GLMAgent.{what}",
            "is known for linear rewards only: no ellipsoid is valid at every round here",
            policy,
            "Use LinearAgent, or an Agent with one arm per action.",
        )
    if policy.imputes:
        raise InvalidInput(
            "LinearAgent.policy",
            f"must learn from observed rewards alone for {what}()",
            policy,
            "Use for example LinUCB().",
        )
    with agent._lock:
        estimate, design = agent.estimate, agent._matrices[DESIGN].copy()
    if _shape(actions)[1:] != (setting.dimension,):
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


def _shape(actions: Any) -> tuple[int, ...]:
    """Return the shape of an array; that of nothing where rows differ in length."""
    try:
        return np.shape(actions)
    except ValueError:
        return ()


def estimated_actions(agent: LinearAgent, actions: Any, level: float) -> Table:
    """Return the mean of every action with its limits by the same ellipsoid."""
    with agent._lock:
        found = named_winner(agent, actions, level, "estimates")
        estimate, design = agent.estimate, agent._matrices[DESIGN].copy()
    rows = np.asarray(actions, dtype=float)
    means = rows @ estimate
    squares = np.sum(rows * np.linalg.solve(design, rows.T).T, axis=1)
    widths = found.radius * np.sqrt(np.maximum(squares, 0.0))
    low, high = (means - widths).tolist(), (means + widths).tolist()
    numbers = range(len(rows))
    columns = ("action", "mean", "low", "high")
    return Table(columns, tuple(zip(numbers, means.tolist(), low, high, strict=True)))
