"""Handling of a request from its first byte to its answer, shared by all operations of the API."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from halfseen.logs.audit_export import plain
from halfseen.service.api_keys import RANK, KeyRing
from halfseen.service.foreign_requests import refuse_foreign
from halfseen.service.problem_documents import (
    MEDIA_TYPE,
    Headers,
    KeyNotSufficient,
    Malformed,
    NoValidKey,
    TooLarge,
    document,
    headers_of,
    invalid,
    problem_of,
)
from halfseen.service.request_bodies import BODY_BYTES
from halfseen.service.request_log import RequestLog
from halfseen.service.service_metrics import Metrics

if TYPE_CHECKING:
    from halfseen.service.decision_service import Service

LONGEST_ID = 128
JSON = b"application/json"
BRIDGE = "Personalizer"  # the tag of operations that another service's clients call
KEY_HEADER = b"ocp-apim-subscription-key"  # of Personalizer's clients
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class Reply(NamedTuple):
    """The response to a request; a file is sent and then deleted."""

    status: int
    body: bytes
    media: bytes = JSON
    headers: Headers = ()
    file: Path | None = None


def json_reply(content: Any, status: int = 200) -> Reply:
    """Return a JSON response; infinities and NaN become null."""
    return Reply(status, json.dumps(plain(content), allow_nan=False).encode())


@dataclass(slots=True)
class Call:
    """An authorised request.

    Attributes
    ----------
    service
        The service it is for.
    loop, decision
        The names in the path; empty where there are none, until the loop is found.
    query
        The parameters after the question mark.
    body
        The body.
    idempotency
        The header `Idempotency-Key`, if there is one.
    key
        The id of the key it came with.
    """

    service: Service
    loop: str = ""
    decision: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    idempotency: str | None = None
    key: str | None = None


Handler = Callable[[Call], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the API.

    Attributes
    ----------
    method, path
        Where it is; `{loop}` and `{id}` stand for names.
    kind
        Its name in logs, metrics and the OpenAPI document.
    handler
        Its handler.
    role
        The lowest role that is allowed; None if no key is needed.
    summary
        What it does, in a few words.
    limit
        The largest size of a body in bytes.
    request
        The name of the schema of its body, if it has one.
    responses
        The name of the schema of the body for each status of success; None for no JSON.
    refusals
        Its error statuses, besides those of every operation.
    parameters
        Parameters after the question mark, as OpenAPI has them.
    tag
        The part of the API page it belongs to.
    """

    method: str
    path: str
    kind: str
    handler: Handler
    role: str | None
    summary: str
    limit: int = BODY_BYTES
    request: str | None = None
    responses: Mapping[int, str | None] = field(default_factory=lambda: {200: None})
    refusals: tuple[int, ...] = ()
    parameters: tuple[Mapping[str, Any], ...] = ()
    tag: str = "Decisions"


class Api:
    """The checks and records shared by all requests: keys, limits, request log and metrics.

    Parameters
    ----------
    service
        The service.
    keys
        Its keys; None if none are required.
    log
        The request log.
    metrics
        The request metrics.
    """

    def __init__(
        self, service: Service, keys: KeyRing | None, log: RequestLog, metrics: Metrics
    ) -> None:
        self.service = service
        self.keys = keys
        self.log = log
        self.metrics = metrics
        self.stopping = False  # set when the process is told to stop, so that streams end

    async def answer(
        self,
        operation: Operation,
        headers: list[tuple[bytes, bytes]],
        receive: Receive,
        loop: str = "",
        decision: str = "",
        query: Mapping[str, str] | None = None,
    ) -> Reply:
        """Answer one request; every error becomes a response."""
        began = perf_counter()
        call = Call(self.service, loop, decision, query or {})
        try:
            await self._let_in(operation, headers, call)
            if operation.method != "GET":
                call.body = await read_body(headers, receive, operation.limit)
            reply = await operation.handler(call)
        except Exception as error:
            reply = self._refused(operation, error)
        seconds = perf_counter() - began
        self.metrics.request(operation.kind, reply.status, seconds)
        self.log.note(call.loop, operation.kind, reply.status, seconds)
        return reply

    async def _let_in(
        self, operation: Operation, headers: list[tuple[bytes, bytes]], call: Call
    ) -> None:
        """Read the relevant headers; refuse cross-site requests and insufficient keys."""
        if self.keys is None:
            refuse_foreign(operation.method, headers)
        token = None
        for name, value in headers:
            if name == b"authorization":
                scheme, _, rest = value.partition(b" ")
                token = rest.strip() if scheme.lower() == b"bearer" else b""
            elif name == KEY_HEADER and token is None:
                token = value.strip()
            elif name == b"idempotency-key":
                call.idempotency = _idempotency(value)
        if operation.role is None or self.keys is None:
            return
        if token is None:
            raise NoValidKey(
                "This needs a key.", fix="Send Authorization: Bearer hs_..., as issued."
            )
        text = token.decode("latin-1")
        key = self.keys.find(text) or await self.keys.find_again(text)
        if key is None:
            raise NoValidKey(
                "The key is not valid.", fix="Issue one with: halfseen serve keys issue."
            )
        if RANK[key.role] < RANK[operation.role]:
            raise KeyNotSufficient(
                f"A key of the role {key.role} may not do this.",
                field="role",
                value=key.role,
                fix=f"Use a key of the role {operation.role}.",
            )
        call.key = key.id

    def _refused(self, operation: Operation, error: Exception) -> Reply:
        refusal = problem_of(error)
        if refusal.status == 500 and refusal is not error:
            traceback.print_exception(error, file=sys.stderr)
        content = document(refusal)
        if operation.tag == BRIDGE:  # where Personalizer's clients look for it
            content["error"] = {"code": refusal.title, "message": str(refusal)}
        body = json.dumps(content, allow_nan=False).encode()
        return Reply(refusal.status, body, MEDIA_TYPE, headers_of(refusal))


async def read_body(headers: list[tuple[bytes, bytes]], receive: Receive, limit: int) -> bytes:
    """Return the body of a request, or refuse it as soon as it is too large."""
    for name, value in headers:
        if name == b"content-length" and value.isdigit() and int(value) > limit:
            raise _too_large(limit)
    message = await _part(receive)
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        if len(body) > limit:
            raise _too_large(limit)
        return body
    parts, size = [body], len(body)
    while message.get("more_body", False):
        message = await _part(receive)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise _too_large(limit)
    return b"".join(parts)


async def _part(receive: Receive) -> MutableMapping[str, Any]:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise Malformed(
            "The connection ended before the whole body was received.", fix="Send it again."
        )
    return message


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The body is larger than {limit // 1024} KiB.", fix="Send less at once.")


def _idempotency(value: bytes) -> str:
    """Return an `Idempotency-Key`, with or without the quotes the standard asks for."""
    text = value.decode("latin-1").strip()
    if len(text) >= 2 and text[0] == text[-1] == '"':
        text = text[1:-1]
    longest = LONGEST_ID - 5  # leaves room for the number of a decision in a list
    if not 1 <= len(text) <= longest or not text.isprintable():
        requirement = f"must be a printable text of 1 to {longest} characters"
        raise invalid("Idempotency-Key", requirement, text, "Use a UUID.")
    return text
