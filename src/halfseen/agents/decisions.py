"""The decisions that agents return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from halfseen.agents.ledger import Identity
from halfseen.agents.named_arms import Playable
from halfseen.errors import InvalidInput


class Decision(NamedTuple):
    """One choice of an agent.

    Attributes
    ----------
    id
        The caller's id, or else the decision's number, from 1.
    arm
        The arm to play: its name if the arms have names, else its number.
    probability
        With which probability this arm was chosen; None if that was not asked for.
    at
        When, in seconds, if the agent was told.
    probability_error
        The standard error of a probability that had to be estimated by draws; 0 if it is exact.
    """

    id: Identity
    arm: Any
    probability: float | None = None
    at: float | None = None
    probability_error: float = 0.0


class LinearDecision(NamedTuple):
    """One choice of a linear agent.

    Attributes
    ----------
    id
        The caller's id, or else the decision's number, from 1.
    action
        Which of the actions on offer to play, from 0.
    probability
        With which probability it was chosen; None if that was not asked for.
    at
        When, in seconds, if the agent was told.
    probability_error
        The standard error of a probability that had to be estimated by draws; 0 if it is exact.
    """

    id: Identity
    action: int
    probability: float | None = None
    at: float | None = None
    probability_error: float = 0.0


def check_choice(policy: Any, chosen: int, playable: Sequence[int] | Playable) -> int:
    """Return what the kernel `choose` of a policy returned if that is on offer."""
    if not (0 <= chosen < len(playable) and playable[chosen]):
        raise InvalidInput(
            f"{type(policy).__name__}.choose",
            "must return the number of an action on offer",
            int(chosen),
            "The checks in halfseen.testing find the round in which it does not.",
        )
    return chosen
