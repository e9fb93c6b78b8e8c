"""Decisions and their outcomes, over HTTP."""

from __future__ import annotations

import json
from collections.abc import Sequence
from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING, Any

from halfseen.errors import InvalidInput
from halfseen.service.api_calls import Call, Reply
from halfseen.service.exchange import Activate, Answer, Decided, Item, Noted, Outcome, Served
from halfseen.service.problem_documents import document, problem_of
from halfseen.service.refusals import Conflict, Refusal, UnknownDecision
from halfseen.service.request_bodies import (
    activate_item,
    batch_entries,
    batch_item,
    decide_items,
    json_object,
    outcome_item,
    served_item,
)
from halfseen.service.request_log import utc_second

if TYPE_CHECKING:
    from halfseen.service.decision_service import Service


async def decide(call: Call) -> Reply:
    """Answer a request for one decision, or for several."""
    items, many = decide_items(json_object(call.body), call.idempotency)
    answers = await call.service.submit(call.loop, items, call.key)
    texts, created = [], False
    for answer in answers:
        if isinstance(answer, Refusal):
            raise answer
        created = created or answer.created
        texts.append(answer_text(call.loop, answer))
    body = f'{{"decisions":[{",".join(texts)}]}}' if many else texts[0]
    return Reply(201 if created else 200, body.encode())


async def activate(call: Call) -> Reply:
    """Handle the report that a held decision is shown."""
    return await _note(call, activate_item(call.decision, json_object(call.body)))


async def served(call: Call) -> Reply:
    """Handle the report of what was shown instead of the choice."""
    return await _note(call, served_item(call.decision, json_object(call.body)))


async def outcome(call: Call) -> Reply:
    """Handle a reward, or the report that there will be none."""
    return await _note(call, outcome_item(call.decision, json_object(call.body), call.idempotency))


async def _note(call: Call, item: Activate | Served | Outcome) -> Reply:
    call.loop = loop = await loop_of(call.service, call.query.get("loop"), item)
    (answer,) = await call.service.submit(loop, [item], call.key)
    if isinstance(answer, Refusal):
        raise answer
    orphan = isinstance(answer, Noted) and answer.state == "orphan"
    return Reply(202 if orphan else 200, answer_text(loop, answer).encode())


async def loop_of(service: Service, named: str | None, item: Activate | Served | Outcome) -> str:
    """Return the loop that a decision belongs to: the one named, or the one that knows it.

    An outcome may come before its decision. It is then kept if it can only belong to one loop.
    """
    if named is not None:
        return named
    found = await service.loops_of(item.id)
    if len(found) == 1:
        return found[0]
    fix = "Name the loop: ?loop=NAME after the address."
    if found:
        raise Conflict(
            f"{len(found)} loops know a decision {item.id!r}.", field="id", value=item.id, fix=fix
        )
    loops = service.loops()
    if isinstance(item, Outcome) and len(loops) == 1 and not service.aside:
        return loops[0].name
    raise UnknownDecision(
        f"No loop knows the decision {item.id!r}.", field="id", value=item.id, fix=fix
    )


async def batch(call: Call) -> Reply:
    """Answer up to 1,000 requests to one loop, each with its own status, in their order."""
    entries = batch_entries(json_object(call.body))
    answers: list[Answer | Refusal | None] = [None] * len(entries)
    items: list[Item] = []
    places: list[int] = []
    for place, entry in enumerate(entries):
        try:
            items.append(batch_item(entry, call.idempotency, place))
            places.append(place)
        except (Refusal, InvalidInput) as error:
            answers[place] = problem_of(error)
    given = await call.service.submit(call.loop, items, call.key)
    for place, answer in zip(places, given, strict=True):
        answers[place] = answer
    texts = ",".join(_entry_text(call.loop, answer) for answer in answers if answer is not None)
    return Reply(200, f'{{"items":[{texts}]}}'.encode())


def _entry_text(loop: str, answer: Answer | Refusal) -> str:
    if isinstance(answer, Refusal):
        return f'{{"status":{answer.status},"problem":{json.dumps(document(answer))}}}'
    if isinstance(answer, Decided):
        status = 201 if answer.created else 200
    else:
        status = 202 if answer.state == "orphan" else 200
    return f'{{"status":{status},"answer":{answer_text(loop, answer)}}}'


def answer_text(loop: str, answer: Answer) -> str:
    """Return an answer as JSON.

    >>> answer_text("offers", Noted("x", "observed"))
    '{"id":"x","loop":"offers","state":"observed"}'
    """
    if isinstance(answer, Noted):
        name, state = quoted(answer.id), answer.state
        return f'{{"id":{name},"loop":{quoted(loop)},"state":"{state}"}}'
    chance = "null" if answer.probability is None else repr(float(answer.probability))
    return (
        f'{{"id":{quoted(answer.id)},"loop":{quoted(loop)},"arm":{quoted(answer.arm)},'
        f'"probability":{chance},"state":"{answer.state}","version":{answer.version},'
        f'"expires_at":{_moment(answer.expires_at)}}}'
    )


def _moment(microseconds: int | None) -> str:
    """Return a time in UTC as JSON."""
    if microseconds is None:
        return "null"
    seconds, rest = divmod(microseconds, 1_000_000)
    return f'"{utc_second(seconds)}.{rest:06d}Z"'


def all_decided(answers: Sequence[Any]) -> list[Decided]:
    """Return answers that are all decisions, or raise the first refusal."""
    for answer in answers:
        if isinstance(answer, Refusal):
            raise answer
    return list(answers)
