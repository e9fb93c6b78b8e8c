"""The decisions of a loop: a searchable list, and the history of one from choice to outcome."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from halfseen.dashboard.dashboard_site import Site
from halfseen.dashboard.loop_figures import NOTHING, duration, share_text, text
from halfseen.dashboard.sign_in import Visitor
from halfseen.explorer.arm_labels import arm_labels
from halfseen.service import loop_events as kinds
from halfseen.service.decision_rows import MADE, decision_row
from halfseen.service.event_log import EventLog
from halfseen.service.loop_config import LoopConfig
from halfseen.service.loop_events import COLUMNS, Event, kinds_in
from halfseen.service.problem_documents import invalid
from halfseen.service.refusals import UnknownDecision
from halfseen.service.state_snapshots import read_configs
from halfseen.service.writer import LiveLoop

MOST = 50  # decisions on a page
STATES = ("observed", "censored", "pending", "held")
ANY = "It is left out here; use the form below."
IN_WORDS = {
    kinds.DECIDED: "Chosen and shown",
    kinds.HELD: "Chosen, and held",
    kinds.ACTIVATED: "Shown",
    kinds.SERVED: "Something else was shown",
    kinds.REPORTED: "A reward was reported; it is learned when the window closes",
    kinds.OBSERVED: "The reward came",
    kinds.CENSORED: "No reward: the window closed",
    kinds.LATE: "A reward came late",
    kinds.ORPHAN: "An outcome came before the decision was known",
}
TOLD = "No reward: the client, or a user of these pages, reported that none will come"


class DecisionPages:
    """The pages on decisions."""

    def __init__(self, site: Site) -> None:
        self.site, self.service = site, site.service

    async def listed(self, request: Request, visitor: Visitor) -> Response:
        """Show the newest decisions, or those that match a search."""
        name, query = request.path_params["loop"], request.query_params
        live = self.service.loop(name)
        state, before = query.get("state", ""), query.get("before", "")
        asked = {
            "find": query.get("find", "").strip()[:128],
            "arm": query.get("arm", "")[:128],
            "state": state if state in STATES else "",
        }
        last = int(before) if before.isdecimal() and len(before) < 18 else None
        wrong = []
        if state != asked["state"]:
            wrong.append(invalid("state", f"must be one of {', '.join(STATES)}", state, ANY))
        if before and last is None:
            wrong.append(invalid("before", "must be the number of an event", before, ANY))
        rows = await self.service.read(lambda log: found_decisions(log, live, last, **asked))
        shown = [str(row["arm"] or "") for row in rows]
        arms = list(dict.fromkeys([*(live.state.config.arms or []), *shown]))
        labels = dict(zip(arms, arm_labels(arms), strict=True))
        return self.site.html(
            request,
            visitor,
            "decisions.html",
            422 if wrong else 200,
            trouble=" ".join(map(str, wrong)),
            title=f"Decisions of {name}",
            name=name,
            rows=[_shown(row, labels) for row in rows[:MOST]],
            asked=asked,
            states=STATES,
            arms=(live.state.config.arms or [])[:200],
            older=rows[MOST - 1]["seq"] if len(rows) > MOST else None,
        )

    async def life(self, request: Request, visitor: Visitor) -> Response:
        """Show the history of one decision from choice to outcome."""
        name, decision = request.path_params["loop"], request.path_params["id"]
        live = self.service.loop(name)
        found = await self.service.read(lambda log: log.events_of(live.id, [decision]))
        events = found.get(decision, [])
        if not events:
            raise UnknownDecision(
                "There is no such decision in this loop.", field="id", fix="Check the id."
            )
        rules = await self.service.read(lambda log: read_configs(log, live.id))
        named = {key["id"]: key["name"] for key in await self.service.keys.all()}
        dated = live.state.dated
        events = [event._replace(at=dated(event.seq, event.at)) for event in events]
        first = events[0].at
        steps = [
            {
                "at": moment(event.at),
                "after": ""
                if event is events[0]
                else f"{duration((event.at - first) / 1e6)} later",
                "what": TOLD
                if was_told(event, events, rules)
                else IN_WORDS.get(event.kind, event.kind),
                "more": _details(event),
                "key": named.get(event.key or "", event.key),
            }
            for event in events
        ]
        known = live.state.find(decision)
        pending = known is not None and known.state == "pending" and known.expires is not None
        closes = moment(known.expires) if known is not None and known.expires and pending else ""
        return self.site.html(
            request,
            visitor,
            "decision.html",
            title=f"Decision of {name}",
            name=name,
            decision=decision,
            steps=steps,
            closes=closes,
        )


def was_told(event: Event, events: list[Event], rules: dict[int, LoopConfig]) -> bool:
    """Return whether a decision ended without a reward before its window closed."""
    made = [one for one in events if one.kind in (kinds.DECIDED, kinds.HELD, kinds.ACTIVATED)]
    if event.kind != kinds.CENSORED or not made:
        return False
    return event.at < made[-1].at + rules[made[0].revision].window * 1e6


def found_decisions(
    log: EventLog, live: LiveLoop, before: int | None, *, find: str, arm: str, state: str
) -> list[dict[str, Any]]:
    """Return the newest decisions as rows with the event that made them, one more than a page has.

    Parameters
    ----------
    log, live
        Where the events are, and of which loop.
    before
        Only decisions made before this event.
    find
        How the id begins.
    arm, state
        Which arm was chosen, and how the decision ended; empty for all.
    """
    where, values = [f"e.loop = ? AND e.{kinds_in(MADE)}"], [live.id]
    ended = (
        "EXISTS (SELECT 1 FROM events AS x WHERE x.decision = e.decision AND x.loop = e.loop"
        " AND x.{})"
    )
    conditions: list[tuple[bool, str, list[Any]]] = [
        (before is not None, "e.seq < ?", [before]),
        (find != "", "substr(e.decision, 1, ?) = ?", [len(find), find]),
        (arm != "", "e.arm = ?", [arm]),
        (state == "observed", ended.format(kinds_in([kinds.OBSERVED])), []),
        (state == "censored", ended.format(kinds_in([kinds.CENSORED])), []),
        (
            state in ("pending", "held"),
            "NOT " + ended.format(kinds_in([kinds.OBSERVED, kinds.CENSORED])),
            [],
        ),
    ]
    shown = f"(e.kind = '{kinds.DECIDED}' OR {ended.format(kinds_in([kinds.ACTIVATED]))})"
    conditions.append((state == "pending", shown, []))
    conditions.append((state == "held", f"NOT {shown}", []))
    for asked, condition, given in conditions:
        if asked:
            where.append(condition)
            values += given
    names = ", ".join(f'e."{name}"' for name in COLUMNS)
    query = f"SELECT {names} FROM events AS e WHERE {' AND '.join(where)} ORDER BY e.seq DESC"
    made = [Event(*row) for row in log.execute(f"{query} LIMIT {MOST + 1}", values)]
    events = log.events_of(live.id, [event.decision for event in made])
    return [
        decision_row(one, events.get(one.decision, [one]), live) | {"seq": one.seq} for one in made
    ]


def moment(at: int) -> str:
    """Return a time as pages show it.

    >>> moment(0)
    '1970-01-01 00:00:00 UTC'
    """
    return f"{datetime.fromtimestamp(at / 1e6, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _shown(row: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    return {
        "id": row["decision"],
        "arm": row["arm"] or "",
        "label": labels[str(row["arm"] or "")],
        "probability": share_text(row["propensity"]),
        "state": "missing" if row["state"] == "censored" else row["state"],
        "reward": text(row["reward"]),
        "at": moment(row["decided_at"]),
    }


def _details(event: Event) -> str:
    """Return the details of an event, in words."""
    parts = []
    if event.arm is not None:
        chance = (
            "" if event.probability is None else f", with probability {text(event.probability)}"
        )
        parts.append(f"Arm {event.arm}{chance}.")
    if event.reward is not None:
        parts.append(f"Reward {text(event.reward)}.")
    if event.version is not None and event.kind in MADE:
        parts.append(f"Based on events up to {event.version:,}.")
    return " ".join(parts) or ("" if event.kind != kinds.LATE else NOTHING)
