"""The events of a loop: what happened to each of its decisions, in one order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

DECIDED, HELD, ACTIVATED, SERVED = "decided", "held", "activated", "served"
REPORTED = "reported"  # one of several rewards, which are learned when the window closes
OBSERVED, CENSORED, LATE = "observed", "censored", "late"
ORPHAN = "orphan"  # an outcome whose decision is not known yet
REVISED, FORGOTTEN = "revised", "forgotten"
CLOCK = "clock"  # the server's clock was set back: events dated later were written before this
DROPPED = "dropped"  # decisions dropped from memory, since their events are deleted
ONCE = (DECIDED, HELD, ACTIVATED, OBSERVED, CENSORED)  # at most once per decision
ERASED = "forgotten-"  # prefix of the ids of forgotten decisions
OFTEN = (SERVED, REPORTED, LATE, ORPHAN)


def kinds_in(kinds: Sequence[str]) -> str:
    """Return the condition that an event is of one of these kinds, as the indices have it."""
    return f"kind IN ({', '.join(repr(kind) for kind in kinds)})"


class Event(NamedTuple):
    """One row of the log.

    Attributes
    ----------
    loop, seq
        The loop's number, and the event's: 1, 2, ... without gaps.
    revision
        The revision of the loop's configuration that was in force.
    decision
        The id of the decision; empty where an event is about none.
    kind
        What happened.
    at, client_at
        When, by the server's and by the client's clock, in microseconds since 1970.
    arm, probability
        What was chosen or shown, and with which probability.
    version
        The last event known to a choice; for `forgotten`, the event that made the decision.
    reward
        The reward; None if it is missing.
    features
        Of the action, as 8-byte floats, least significant byte first. For a decision among arms,
        the names of those on offer, in JSON; None if all were that are not retired. For `dropped`,
        the events that made the decisions, as 8-byte integers.
    request
        A digest of the request, by which a repeated one is recognised; for an outcome, of its
        `Idempotency-Key`; for `forgotten`, the last event of an outcome without a decision.
    key
        The id of the API key.
    """

    loop: int
    seq: int
    revision: int
    decision: str
    kind: str
    at: int
    client_at: int | None = None
    arm: str | None = None
    probability: float | None = None
    version: int | None = None
    reward: float | None = None
    features: bytes | None = None
    request: int | None = None
    key: str | None = None


COLUMNS = Event._fields
