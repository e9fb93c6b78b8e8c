"""Azure Personalizer's rank, reward and activate, so that its clients need only a new address.

Rewards that never come are missing here, where Personalizer used a default reward. The loop is the
one named ``personalizer``, or the one in the address: ``http://host/loops/NAME`` as the endpoint.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from halfseen.service.api_calls import LONGEST_ID, Call, Reply
from halfseen.service.decision_calls import all_decided
from halfseen.service.exchange import Activate, Decide, Item, Outcome
from halfseen.service.feature_hashing import hashed
from halfseen.service.problem_documents import invalid
from halfseen.service.refusals import Refusal
from halfseen.service.request_bodies import json_object, number

LOOP = "personalizer"  # where the address names none
MOST_ACTIONS = 50
LONGEST_EVENT = 256


@dataclass(slots=True)
class RankRequest:
    """The body of a rank request."""

    event: str
    actions: list[tuple[str, list[Any]]]  # id and features
    excluded: set[str]
    context: list[Any]
    deferred: bool


async def rank(call: Call) -> Reply:
    """Answer which action to show; the others follow in the order in which they were sent."""
    call.loop = loop = call.loop or LOOP
    config = call.service.config(loop)
    asked = rank_request(json_object(call.body))
    offered = [one for one in asked.actions if one[0] not in asked.excluded]
    if not offered:
        fix = "Leave one action that is not excluded."
        raise invalid("excludedActions", "must not hold every action", len(asked.excluded), fix)
    names = [name for name, _ in offered]
    features = None
    if config.dimension is not None:
        width = config.dimension
        features = [hashed(asked.context, own, name, width) for name, own in offered]
    item = Decide(decision_id(asked.event), names, features, asked.deferred)
    (answer,) = all_decided(await call.service.submit(loop, [item], call.key))
    rest = [name for name, _ in asked.actions if name != answer.arm]
    ranking = [{"id": answer.arm, "probability": answer.probability}]
    ranking += [
        {"id": name, "probability": 0.0 if name in asked.excluded else None} for name in rest
    ]
    content = {"ranking": ranking, "eventId": asked.event, "rewardActionId": answer.arm}
    return Reply(201, json.dumps(content).encode())


async def reward(call: Call) -> Reply:
    """Handle the reward of an event."""
    content = json_object(call.body)
    value = number("value", content.get("value"))
    return await _note(
        call, Outcome(decision_id(event_id(call.decision)), value, key=call.idempotency)
    )


async def activate(call: Call) -> Reply:
    """Handle the activation of a deferred event."""
    return await _note(call, Activate(decision_id(event_id(call.decision))))


async def _note(call: Call, item: Item) -> Reply:
    call.loop = call.loop or LOOP
    (answer,) = await call.service.submit(call.loop, [item], call.key)
    if isinstance(answer, Refusal):
        raise answer
    return Reply(204, b"")


def rank_request(content: dict[str, Any]) -> RankRequest:
    """Return what a body of `rank` asks, or refuse it."""
    actions = content.get("actions")
    if type(actions) is not list or not 1 <= len(actions) <= MOST_ACTIONS:
        requirement = f"must be a list of 1 to {MOST_ACTIONS} actions"
        given = len(actions) if type(actions) is list else actions
        raise invalid("actions", requirement, given, 'Write [{"id": "a", "features": []}].')
    known = [_action(entry) for entry in actions]
    if len({name for name, _ in known}) < len(known):
        raise invalid("actions", "must have different ids", len(known), "Send each action once.")
    excluded = _list(content, "excludedActions")
    if not all(type(name) is str for name in excluded):
        raise invalid("excludedActions", "must be a list of ids", excluded, 'Write ["a"].')
    event = content.get("eventId")
    deferred = content.get("deferActivation")
    if deferred is not None and type(deferred) is not bool:
        raise invalid("deferActivation", "must be true or false", deferred, "Leave it out.")
    return RankRequest(
        uuid.uuid4().hex if event is None else event_id(event),
        known,
        set(excluded),
        _list(content, "contextFeatures"),
        deferred is True,
    )


def event_id(value: Any) -> str:
    """Return the id of an event, or refuse it."""
    if type(value) is not str or not 1 <= len(value) <= LONGEST_EVENT or not value.isprintable():
        requirement = f"must be a printable text of 1 to {LONGEST_EVENT} characters"
        raise invalid("eventId", requirement, value, "Leave it out to be given one.")
    return value


def decision_id(event: str) -> str:
    """Return the id of the decision of an event; long ones are digested.

    >>> decision_id("e1"), len(decision_id("x" * 200))
    ('e1', 71)
    """
    if len(event) <= LONGEST_ID:
        return event
    return f"sha256-{sha256(event.encode('utf-8', 'replace')).hexdigest()}"


def _action(entry: Any) -> tuple[str, list[Any]]:
    name = entry.get("id") if type(entry) is dict else None
    if type(name) is not str or not name:
        raise invalid("actions", "must be objects with an id", entry, 'Write [{"id": "a"}].')
    if len(name) > LONGEST_ID or not name.isprintable():
        requirement = f"must have printable ids of at most {LONGEST_ID} characters"
        raise invalid("actions", requirement, name, "Use shorter ids.")
    return name, _list(entry, "features")


def _list(content: dict[str, Any], field: str) -> list[Any]:
    value = content.get(field)
    if value is None:
        return []
    if type(value) is not list:
        raise invalid(field, "must be a list", value, "Leave it out if there is none.")
    return value
