"""Loops over HTTP: create, read, revise and archive them, audit and export their logs."""

from __future__ import annotations

import asyncio

from halfseen.service.api_calls import Call, Reply, json_reply
from halfseen.service.log_export import MEDIA, audit_of, export_file
from halfseen.service.loop_config import loop_config
from halfseen.service.problem_documents import invalid
from halfseen.service.refusals import UnknownDecision
from halfseen.service.request_bodies import json_object

_one_at_a_time = asyncio.Semaphore(1)  # audits and exports read the whole log


async def list_loops(call: Call) -> Reply:
    """Answer the settings of every loop."""
    return json_reply({"loops": [config.to_dict() for config in call.service.loops()]})


async def create_loop(call: Call) -> Reply:
    """Create a loop; repeating the request changes nothing."""
    known = {config.name for config in call.service.loops()}
    asked = await asyncio.to_thread(loop_config, json_object(call.body))
    config = await call.service.create_loop(asked)
    return json_reply(config.to_dict(), 200 if config.name in known else 201)


async def read_loop(call: Call) -> Reply:
    """Answer with the settings and status of a loop."""
    return json_reply(await call.service.status(call.loop))


async def revise_loop(call: Call) -> Reply:
    """Change some settings of a loop."""
    changed = json_object(call.body)
    if not changed:
        raise invalid("body", "must name a setting", "{}", 'Send for example {"window": 3600}.')
    if changed.get("name", call.loop) != call.loop:
        raise invalid("name", "cannot be changed", changed["name"], "Create another loop.")
    state = call.service.loop(call.loop).state
    settings, revision = state.config.to_dict() | changed, state.revision
    config = await asyncio.to_thread(loop_config, settings)
    return json_reply(await call.service.revise_loop(config, revision))


async def archive_loop(call: Call) -> Reply:
    """Close a loop for decisions; its log stays."""
    await call.service.archive_loop(call.loop)
    return Reply(204, b"")


async def audit_loop(call: Call) -> Reply:
    """Answer the audit of a loop's log."""
    async with _one_at_a_time:
        return json_reply(await audit_of(call.service, call.loop))


async def export_loop(call: Call) -> Reply:
    """Answer a loop's log as a file that `halfseen audit` and `halfseen value` read."""
    kind = call.query.get("format", "parquet")
    if kind not in MEDIA:
        raise invalid("format", "must be csv or parquet", kind, "Use format=parquet.")
    async with _one_at_a_time:
        file = await export_file(call.service, call.loop, kind)
    named = f'attachment; filename="{call.loop}.{kind}"'.encode()
    return Reply(200, b"", MEDIA[kind], ((b"content-disposition", named),), file)


async def forget(call: Call) -> Reply:
    """Erase a decision and its outcome."""
    forgotten = await call.service.forget(call.decision, call.query.get("loop"))
    if not forgotten:
        raise UnknownDecision(
            "There is no such decision.", field="id", value=call.decision, fix="Check the id."
        )
    return json_reply({"forgotten": forgotten})
