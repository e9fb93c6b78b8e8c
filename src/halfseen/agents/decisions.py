"""The decisions that agents return."""

from __future__ import annotations

from typing import Any, NamedTuple

from halfseen.agents.ledger import Identity


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
