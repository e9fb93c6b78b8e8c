"""Estimates of an agent for arms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.problems import REWARD_LAWS
from halfseen.tables import Table
from halfseen.theory import confidence_sequence

if TYPE_CHECKING:
    from halfseen.agents.arms import Agent

COLUMNS = ("arm", "mean", "low", "high", "observed", "settled", "seen")


def check_sub_gaussian(reward: str, what: str) -> None:
    """Refuse rewards without a sub-Gaussian scale, for which there are no limits here."""
    if not REWARD_LAWS[reward].sub_gaussian:
        raise InvalidInput(
            "Agent.reward",
            f"must be a sub-Gaussian law to {what}",
            reward,
            "Rewards with a least and a largest value may be declared Gaussian, with half their"
            " distance as the noise; no scale covers this law without them.",
        )


def estimates(
    agent: Agent, seen: Vector, totals: list[float], settled: Vector, level: float
) -> Table:
    """Return each arm's mean with its limits, and the share of its decisions that were seen."""
    binary = agent.setting.reward == "bernoulli"
    law = "bernoulli" if binary else "gaussian"
    options: Any = {"level": level, "noise": agent.setting.noise, "reward": law}
    low, high = confidence_sequence(seen, totals, **options)
    bounded = binary or REWARD_LAWS[agent.setting.reward].sub_gaussian
    rows = []
    for arm in range(agent.arms.count):
        found, known = int(seen[arm]), int(settled[arm])
        mean = totals[arm] / found if found else None
        ends = (
            (float(low[arm]), float(high[arm])) if binary or (found and bounded) else (None, None)
        )
        share = found / known if known else None
        rows.append((agent.arms.name(arm), mean, *ends, found, known, share))
    return Table(COLUMNS, tuple(rows))
