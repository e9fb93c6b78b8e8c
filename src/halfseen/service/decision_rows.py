"""The decisions of a loop as rows of a log that `halfseen audit` and `halfseen value` read."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfseen.service import loop_events as kinds
from halfseen.service.event_log import EventLog
from halfseen.service.loop_events import COLUMNS, Event
from halfseen.service.several_rewards import aggregate
from halfseen.service.writer import LiveLoop

MADE = (kinds.DECIDED, kinds.HELD)
DATED = "(at < ? OR seq < ?)"  # before the clock was set back, events are older than they say


def decision_rows(
    log: EventLog, live: LiveLoop, after: int, most: int
) -> tuple[list[dict[str, Any]], int]:
    """Return rows of decisions made after an event, and the event to continue from, 0 at the end.

    A decision erased meanwhile is returned whole or not at all.
    """
    with log.steady():
        made, last = decisions_made(log, live, after, most)
        others = log.events_of(live.id, [event.decision for event in made])
    return [decision_row(event, others[event.decision], live) for event in made], last


def decisions_made(
    log: EventLog, live: LiveLoop, after: int, most: int, before: int | None = None
) -> tuple[list[Event], int]:
    """Return decisions made after an event, and the event to continue from, 0 at the end.

    Parameters
    ----------
    log, live
        Where the events are, and of which loop.
    after
        The last event already returned.
    most
        How many events are read.
    before
        Only decisions made before this time, in microseconds.
    """
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    limit, values = "", [live.id, after]
    if before is not None:
        limit = f" AND {DATED}"
        values += dated_before(live, before)
    query = f"SELECT {names} FROM events WHERE loop = ? AND seq > ?{limit} ORDER BY seq LIMIT ?"
    found = [Event(*row) for row in log.execute(query, [*values, most])]
    made = [event for event in found if event.kind in MADE]
    return made, (found[-1].seq if len(found) == most else 0)


def dated_before(live: LiveLoop, edge: int) -> list[int]:
    """Return the values of `DATED`: it holds for every event written before a time, and others."""
    steps = live.state.steps_back
    return [edge, steps[-1][0] if steps else 0]


def decision_row(made: Event, events: list[Event], live: LiveLoop) -> dict[str, Any]:
    """Return the row of one decision from its events.

    A late reward that the loop learned is the decision's reward.
    """
    last = {event.kind: event for event in events}
    shown = last.get(kinds.ACTIVATED) if made.kind == kinds.HELD else made
    served, observed = last.get(kinds.SERVED), last.get(kinds.OBSERVED)
    censored, late = last.get(kinds.CENSORED), last.get(kinds.LATE)
    rules = live.state.rules
    if observed is None and censored is not None and rules.late == "learn":
        observed = next((event for event in events if event.kind == kinds.LATE), None)
    came = [e.reward for e in events if e.kind == kinds.LATE and e.reward is not None]
    if observed is not None:
        state = "observed"
    elif censored is not None:
        state = "censored"
    else:
        state = "held" if shown is None else "pending"
    ended = observed or censored

    def dated(event: Event | None) -> int | None:
        return None if event is None else live.state.dated(event.seq, event.at)

    row: dict[str, Any] = {
        "decision": made.decision,
        "arm": made.arm if served is None else served.arm,
        "propensity": made.probability if served is None else served.probability,
        "reward": None if observed is None else observed.reward,
        "state": state,
        "chosen": made.arm,
        "decided_at": dated(made),
        "shown_at": dated(shown),
        "ended_at": dated(ended),
        "client_at": made.client_at,
        "late_reward": aggregate(live.state.configs[made.revision].rewards, came),
        "late_at": dated(late),
        "version": made.version,
        "revision": made.revision,
    }
    if live.state.config.store_features and live.state.config.arms is not None:
        row["available"] = None if made.features is None else bytes(made.features).decode()
    if live.state.config.dimension is not None:
        stored = (served or made).features
        width = live.state.config.dimension
        vector = [None] * width if stored is None else np.frombuffer(stored, "<f8").tolist()
        row |= {f"f{place}": value for place, value in enumerate(vector)}
    return row


def row_types(live: LiveLoop) -> dict[str, str]:
    """Return the columns of the rows with their types, as DuckDB names them."""
    text, number, whole = "VARCHAR", "DOUBLE", "BIGINT"
    types = {"decision": text, "arm": text, "propensity": number, "reward": number, "state": text}
    types |= {"chosen": text, "decided_at": whole, "shown_at": whole, "ended_at": whole}
    types |= {"client_at": whole, "late_reward": number, "late_at": whole, "version": whole}
    types["revision"] = whole
    if live.state.config.store_features and live.state.config.arms is not None:
        types["available"] = text
    return types | {f"f{k}": number for k in range(live.state.config.dimension or 0)}
