"""An agent with arms added to those it has."""

from __future__ import annotations

from typing import Any

from halfseen.agents.arm_setting import arm_setting
from halfseen.agents.arms import Agent


def with_arms(agent: Agent, names: list[str], *, noise: float | None, floor: float) -> Agent:
    """Return the agent with the arms `names`, of which its own are the first.

    New arms start empty, with `noise` as `Agent` takes it; what was learned of the others and all
    decisions are taken over.

    Examples
    --------
    >>> from halfseen import UCB, Agent
    >>> agent = Agent(UCB(), arms=["a", "b"], noise=0.5)
    >>> agent.observe(agent.choose(["b"]), 1.0)
    >>> with_arms(agent, ["a", "b", "c"], noise=0.5, floor=0.0).observations_per_arm.tolist()
    [0, 1, 0]
    """
    old, setting = agent.arms.count, agent.setting
    given: Any = {"bound": setting.bound, "horizon": setting.horizon, "reward": setting.reward}
    added = arm_setting(len(names) - old, noise, **given).noise
    made = Agent(
        agent.policy,
        names,
        noise=[*setting.noise.tolist(), *added.tolist()],
        seed=agent.seed,
        floor=floor,
        probabilities=agent.probabilities,
        **given,
    )
    made._state[:old], made._plays[:old] = agent._state, agent._plays
    made._seen[:old], made._missed[:old] = agent._seen, agent._missed
    if agent._totals is not None and made._totals is not None:
        made._totals[:old] = agent._totals
    made._ledger = agent._ledger
    return made
