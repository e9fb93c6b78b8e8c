"""What a loop has learned, and how its decisions ended."""

from __future__ import annotations

from typing import Any

from halfseen.agents.arms import Agent
from halfseen.errors import HalfseenError
from halfseen.service.writer import LiveLoop


def loop_counts(live: LiveLoop) -> dict[str, Any]:
    """Return how many decisions are in each state, for monitoring."""
    tally, agent = live.state.tally, live.state.agent
    found: dict[str, Any] = {
        "decided": tally.decided,
        "held": tally.held,
        "pending": tally.pending,
        "observed": tally.observed,
        "censored": tally.censored,
        "late": tally.late,
        "late_learned": tally.late_learned,
        "unmatched": tally.orphans - tally.matched,
        "served": tally.served,
        "forgotten": tally.forgotten,
        "decisions_per_arm": dict(tally.per_arm),
        "version": live.state.seq,
    }
    if isinstance(agent, Agent):
        settled = agent._plays + agent._missed
        arms = [agent.arms.name(k) for k in range(agent.arms.count)]
        found["seen_ratio"] = {
            arm: (seen / known if known else None)
            for arm, seen, known in zip(arms, agent._seen, settled.tolist(), strict=True)
        }
        retired = live.state.config.retired
        offered = [k for k, arm in enumerate(arms) if arm not in retired]
        found["effective_dimension"] = _dimension(
            [agent._seen[k] for k in offered], [float(settled[k]) for k in offered]
        )
    return found


def _dimension(seen: list[int], settled: list[float]) -> float | None:
    """Return the sum over arms of decisions per reward seen, None while an arm was never seen."""
    if not all(seen):
        return None
    return float(sum(known / count for known, count in zip(settled, seen, strict=True)))


def loop_status(live: LiveLoop, level: float = 0.95) -> dict[str, Any]:
    """Return the status of a loop as numbers, texts, lists and dictionaries."""
    state = live.state
    config, agent = state.config, state.agent
    counts = loop_counts(live)
    counts.pop("decisions_per_arm")
    per_arm = state.tally.shown
    seen = counts.pop("seen_ratio", None)
    found: dict[str, Any] = {
        "loop": config.name,
        "revision": state.revision,
        "archived": live.archived,
        "policy": config.policy,
        "window": config.window,
        "rewards": config.rewards,
        "late_rewards": config.late,
        "missing": config.missing,
        **counts,
        "effective_dimension": counts.get("effective_dimension"),
    }
    if not isinstance(agent, Agent):
        linear: Any = agent
        estimate = linear.estimate.tolist()
        return found | {"arms": [], "estimate": estimate, "winner": None}
    arms = []
    for row in agent.estimates(level).rows:
        arm, mean, low, high, observed, settled, _ = row
        arms.append(
            {
                "arm": arm,
                "retired": arm in config.retired,
                "decisions": per_arm.get(arm, 0),
                "settled": settled,
                "observed": observed,
                "seen": None if seen is None else seen[arm],
                "mean": mean,
                "low": low,
                "high": high,
            }
        )
    return found | {"arms": arms, "level": level, "winner": _winner(agent, level)}


def _winner(agent: Agent, level: float) -> str | None:
    """Return the arm shown to be the best, None if none is or the policy does not allow it."""
    try:
        found: Any = agent.winner(level)
    except HalfseenError:
        return None
    place = found.arm
    return None if place is None else str(agent.arms.name(place))
