"""The service as an ASGI application: FastAPI, with a fast path for decisions and outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request, Response
from fastapi.routing import APIRoute
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse
from starlette.routing import BaseRoute, Match

from halfseen.service.api_calls import Api, Operation, Receive, Reply
from halfseen.service.api_operations import operations
from halfseen.service.api_schema import openapi_document
from halfseen.service.problem_documents import (
    MEDIA_TYPE,
    MethodNotAllowed,
    NotFound,
    document_bytes,
    headers_of,
)

if TYPE_CHECKING:
    from halfseen.service.refusals import Refusal

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
SWEEP = 0.5  # seconds between updates of the request log, keys and metrics
PROBES = ("/healthz", "/readyz")  # some load balancers ask with HEAD
SAFE_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


class WholeRoute(APIRoute):
    """A route whose endpoint takes the request and gives the response itself."""

    def get_route_handler(self) -> Any:
        """Return the endpoint."""
        return self.endpoint


def build_app(api: Api, address: str = "", pages: Sequence[BaseRoute] = ()) -> FastLane:
    """Return the application of a service, with pages beside its API."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(_look_after(api))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            api.log.flush()

    known = operations(api, address)
    app = FastAPI(title="halfseen", lifespan=lifespan, openapi_url=None, docs_url=None)
    app.router.route_class = WholeRoute
    app.router.redirect_slashes = False
    for operation in known:
        path = operation.path.replace("{id}", "{id:path}")
        app.router.add_api_route(
            path,
            _endpoint(api, operation),
            methods=["GET", "HEAD"] if operation.path in PROBES else [operation.method],
            name=operation.kind,
            include_in_schema=False,
        )
    app.router.routes.extend(pages)
    app.add_exception_handler(HTTPException, _not_here)
    described = openapi_document(known, api.keys is not None)
    app.openapi = lambda: described  # type: ignore[method-assign]
    return FastLane(api, app, known)


async def _look_after(api: Api) -> None:
    """Periodically write the request log, reload the keys and update the metrics."""
    while True:
        await asyncio.sleep(SWEEP)
        api.log.flush()
        api.metrics.take(api.service.numbers())
        if api.keys is not None and api.keys.stale:
            with suppress(Exception):  # the database is unavailable; known keys stay valid
                await api.keys.refresh()


def _endpoint(api: Api, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        names = request.path_params
        headers = request.scope["headers"]
        loop, decision = names.get("loop", ""), names.get("id", "")
        query = dict(request.query_params)
        reply = await api.answer(operation, headers, request.receive, loop, decision, query)
        return _response(reply)

    return endpoint


def _response(reply: Reply) -> Response:
    headers = {k.decode(): v.decode("latin-1") for k, v in (*SAFE_HEADERS, *reply.headers)}
    if reply.file is not None:
        delete = BackgroundTask(reply.file.unlink, missing_ok=True)
        media = reply.media.decode()
        return FileResponse(reply.file, reply.status, headers, media, background=delete)
    if reply.status == 204:
        return Response(status_code=204, headers=headers)
    headers["content-type"] = reply.media.decode()
    return Response(reply.body, reply.status, headers)


async def _not_here(request: Request, error: Exception) -> Response:
    """Answer a request that matches no operation."""
    found = [r for r in request.app.routes if r.matches(request.scope)[0] is not Match.NONE]
    methods = sorted(
        {method for route in found for method in getattr(route, "methods", None) or ()}
    )
    refusal: Refusal
    if methods:
        allowed = ", ".join(methods)
        refusal = MethodNotAllowed(
            f"{request.method} is not possible here.", allowed=allowed, fix=f"Use {allowed}."
        )
    else:
        refusal = NotFound("There is nothing at this address.", fix="Read the API page: /api.")
    return _response(
        Reply(refusal.status, document_bytes(refusal), MEDIA_TYPE, headers_of(refusal))
    )


class FastLane:
    """Answers the most frequent requests, decisions and outcomes, before FastAPI routes them.

    FastAPI's routing and parsing take as long as everything else together; both paths lead to the
    same `Api.answer`.
    """

    def __init__(self, api: Api, app: FastAPI, known: Sequence[Operation]) -> None:
        self.api = api
        self.app = app
        by_kind = {operation.kind: operation for operation in known}
        self._decide = by_kind["decide"]
        self._about = {f"/{kind}": by_kind[kind] for kind in ("outcome", "activate", "served")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and scope["method"] == "POST":
            path: str = scope["path"]
            if path.startswith("/v1/decisions/"):
                decision, slash, last = path[14:].rpartition("/")
                operation = self._about.get(slash + last)
                if operation is not None and decision:
                    query = scope["query_string"]
                    await self._answer(operation, scope, receive, send, "", decision, query)
                    return
            elif path.startswith("/v1/loops/") and path.endswith("/decisions"):
                loop = path[10:-10]
                if loop and "/" not in loop:
                    await self._answer(self._decide, scope, receive, send, loop, "", b"")
                    return
        await self.app(scope, receive, send)

    async def _answer(
        self,
        operation: Operation,
        scope: Scope,
        receive: Receive,
        send: Send,
        loop: str,
        decision: str,
        query: bytes,
    ) -> None:
        asked = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True)) if query else None
        headers = scope["headers"]
        reply = await self.api.answer(operation, headers, receive, loop, decision, asked)
        await send(
            {
                "type": "http.response.start",
                "status": reply.status,
                "headers": [
                    (b"content-type", reply.media),
                    (b"content-length", str(len(reply.body)).encode()),
                    *SAFE_HEADERS,
                    *reply.headers,
                ],
            }
        )
        await send({"type": "http.response.body", "body": reply.body})
