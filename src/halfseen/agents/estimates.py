"""Estimates of an agent for arms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.problems import REWARD_LAWS
from halfseen.problems.rewards import FAMILIES, family_of
from halfseen.tables import Table
from halfseen.theory import confidence_sequence

if TYPE_CHECKING:
    from halfseen.agents.arms import Agent

COLUMNS = ("arm", "mean", "low", "high", "observed", "settled", "seen")


def family_to(what: str, reward: str) -> str:
    """Return the family of an agent's rewards, or refuse a law for which there are no limits."""
    family = family_of(REWARD_LAWS[reward])
    if family is None:
        raise InvalidInput(
            "Agent.reward",
            f"must be {', '.join(FAMILIES)} or another sub-Gaussian law to {what}",
            reward,
            "Rewards with a least and a largest value may be declared Gaussian, with half their"
            " distance as the noise; no scale covers this law without them.",
        )
    return family


def estimates(
    agent: Agent, seen: Vector, totals: list[float], settled: Vector, level: float
) -> Table:
    """Return each arm's mean with its limits, and the share of its decisions that were seen."""
    family = family_of(REWARD_LAWS[agent.setting.reward])
    options: Any = {"level": level, "noise": agent.setting.noise, "reward": family or "gaussian"}
    low, high = confidence_sequence(seen, totals, **options)
    binary = family == "bernoulli"
    rows = []
    for arm in range(agent.arms.count):
        found, known = int(seen[arm]), int(settled[arm])
        mean = totals[arm] / found if found else None
        shown = binary or (found and family is not None)
        ends = (float(low[arm]), _finite(high[arm])) if shown else (None, None)
        share = found / known if known else None
        rows.append((agent.arms.name(arm), mean, *ends, found, known, share))
    return Table(COLUMNS, tuple(rows))


def _finite(limit: float) -> float | None:
    """Return a limit, None if it is infinite, as that of a few exponential rewards is."""
    return float(limit) if math.isfinite(limit) else None
