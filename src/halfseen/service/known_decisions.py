"""Decisions, and outcomes without one, as kept in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from halfseen.agents.ledger import Entry
from halfseen.service.loop_events import Event


@dataclass(slots=True)
class Known(Entry):
    """A decision in memory."""

    seq: int = 0  # of the event that made it
    version: int = 0
    request: int | None = None
    expires: int | None = None  # microseconds; None while it is held
    arm: str = ""  # chosen by the policy, even if another one was served
    chance: float | None = None  # of the arm chosen
    rewards: list[list[Any]] | None = None  # reported or late: see `told`
    shown: str = ""  # the arm served, or else the one chosen
    revision: int = 1  # of the loop's configuration when it was made

    def extra(self) -> list[Any]:
        """Return what the agent's ledger does not keep."""
        more = (self.seq, self.version, self.request, self.expires, self.arm, self.chance)
        return [*more, self.rewards, self.shown, self.revision]


@dataclass(slots=True)
class Orphan:
    """Outcomes whose decision is not known yet."""

    rewards: list[list[Any]]  # see `told`
    expires: int
    seq: int = 0  # of the last of them


@dataclass
class Tally:
    """Counts of events of each kind, besides those of the agent."""

    decided: int = 0
    held: int = 0  # now
    pending: int = 0  # now
    observed: int = 0  # in time
    censored: int = 0
    late: int = 0  # rewards that came after the window
    late_learned: int = 0
    orphans: int = 0  # outcomes that came before their decision, or without one
    matched: int = 0  # of the orphans: outcomes whose decision came after them
    served: int = 0
    forgotten: int = 0
    last_at: int = 0
    per_arm: dict[str, int] = field(default_factory=dict)  # decisions by the arm chosen
    shown: dict[str, int] = field(default_factory=dict)  # decisions by the arm served


def told(event: Event) -> list[Any]:
    """Return an outcome: its reward, the client's time, and the mark of its `Idempotency-Key`."""
    return [event.reward, event.client_at, event.request]
