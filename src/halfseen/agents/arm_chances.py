"""The probability with which an agent plays an arm: its policy's propensity, above a floor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from halfseen.agents.base import DRAWS, estimated
from halfseen.agents.elsewhere import Turn
from halfseen.agents.ledger import Entry
from halfseen.agents.named_arms import Playable
from halfseen.checks import Vector

if TYPE_CHECKING:
    from halfseen.agents.arms import Agent


def decision_by_chance(
    agent: Agent, own: int, playable: Playable, everything: bool, turn: Turn
) -> Entry:
    """Return a decision for the policy's own choice or, with the floor's probability, any arm."""
    offered = np.flatnonzero(playable)
    taken, floor, left = agent._floored(len(offered), turn)
    arm = own if taken is None else int(offered[taken])
    chance, error = chance_of(agent, own, arm, playable, everything, turn)
    if chance is not None:
        chance, error = left * chance + floor, left * error
    return Entry(turn.clock, turn.clock, arm, arm, chance, error)


def chance_of(
    agent: Agent, own: int, arm: int, playable: Playable, everything: bool, turn: Turn
) -> tuple[float | None, float]:
    """Return the probability with which the policy chooses an arm, and its standard error.

    `own` is its choice; `everything` is True if all arms are on offer.
    """
    if not agent._random or np.count_nonzero(playable) == 1:
        return (1.0 if arm == own else 0.0), 0.0
    if not agent.probabilities:
        return None, 0.0
    chances = _computed(agent, playable, everything, turn)
    if chances is not None:
        return float(chances[arm]), 0.0
    hits, plays = 0, agent._plays
    for draw in range(DRAWS):
        key = (turn.key[0] ^ (draw + 1), turn.key[1])
        hits += arm == agent._select(agent._state, plays, playable, turn.clock, *key, agent._table)
    return estimated(hits, DRAWS)


def _computed(agent: Agent, playable: Playable, everything: bool, turn: Turn) -> Vector | None:
    """Return the probability of every arm by the policy's own formula; None if it has none."""
    chances = agent._chances if everything else None
    if chances is None:
        chances = agent.policy.probabilities(agent._state, playable, turn.clock, agent._table)
        if everything and agent.policy.steady:
            agent._chances = chances
    return chances


def chances_of_arms(
    agent: Agent, offered: Sequence[int], *, simulated: int
) -> dict[int, float | None]:
    """Return the probability of each arm on offer in the next decision; change nothing.

    None where a randomised policy has no formula, or would need simulation for more arms than
    `simulated`: each takes many draws.
    """
    turn = agent._turn()
    playable = np.zeros(agent.arms.count, dtype=agent._everything.dtype)
    playable[list(offered)] = 1
    everything = len(offered) == agent.arms.count
    with agent._lock:
        kept = [array.copy() for array in agent._arrays()]
        own = agent._select(
            agent._state, agent._plays, playable, turn.clock, *turn.key, agent._table
        )
        draws = agent._random and agent.probabilities
        chances = _computed(agent, playable, everything, turn) if draws else None
        found: list[float | None]
        if chances is not None:
            found = [float(chances[arm]) for arm in offered]
        elif draws and len(offered) > simulated:
            found = [None] * len(offered)
        else:
            found = [chance_of(agent, own, arm, playable, everything, turn)[0] for arm in offered]
        for array, before in zip(agent._arrays(), kept, strict=True):
            array[...] = before
        _, floor, left = agent._floored(len(offered), turn)
    return {
        arm: None if chance is None else left * chance + floor
        for arm, chance in zip(offered, found, strict=True)
    }
