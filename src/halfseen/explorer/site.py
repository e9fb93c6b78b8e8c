"""The explorer's pages over HTTP; they can be mounted in another application."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from halfseen.errors import HalfseenError
from halfseen.explorer.arms_view import ArmsView
from halfseen.explorer.delay_view import DelayView
from halfseen.explorer.gamma_view import GammaView
from halfseen.explorer.log_view import ENCODINGS, audit_of, columns_of, on_the_page
from halfseen.explorer.page_files import SAFE, drawing_code, file_address, island, page_file
from halfseen.explorer.plays import played_picture, updates
from halfseen.explorer.threshold_view import ThresholdView
from halfseen.explorer.tour import STEPS
from halfseen.explorer.view import View

VIEWS: dict[str, type[View]] = {
    view.name: view for view in (ArmsView, ThresholdView, DelayView, GammaView)
}
LARGEST_LOG = 20_000_000  # largest log dropped on the page, in bytes


def application(prefix: str = "/explore") -> Starlette:
    """Return the explorer as an ASGI application.

    Parameters
    ----------
    prefix
        The URL prefix, for the links on its pages.
    """
    pages = _Pages(prefix)
    return Starlette(
        routes=[
            Route("/", pages.index),
            Route("/static/{name}", pages.static),
            Route("/log", pages.log),
            Route("/log/columns", pages.log_columns, methods=["POST"]),
            Route("/log/audit", pages.log_audit, methods=["POST"]),
            Route("/{view}", pages.view),
            Route("/{view}/picture", pages.picture),
            Route("/{view}/play", pages.play),
            Route("/{nothing:path}", pages.nothing),
        ]
    )


class _Pages:
    """The handlers of the pages under one prefix."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix.rstrip("/")
        self.playing = asyncio.Semaphore(1)
        self.templates = Environment(
            loader=PackageLoader("halfseen.explorer"), autoescape=True, undefined=StrictUndefined
        )
        self.templates.globals["file"] = file_address

    def _html(self, template: str, status: int = 200, **content: Any) -> HTMLResponse:
        links = [(f"{self.prefix}/{name}", kind.title) for name, kind in VIEWS.items()]
        links.append((f"{self.prefix}/log", "Your log"))
        text = self.templates.get_template(template).render(
            prefix=self.prefix, links=links, **content
        )
        return HTMLResponse(text, status, headers=SAFE)

    async def index(self, request: Request) -> Response:
        """Show the list of pages and the tour."""
        steps = [
            (f"{self.prefix}/{s.view}?tour={i + 1}&{s.address}", s.title, s.text)
            for i, s in enumerate(STEPS)
        ]
        kinds = [(f"{self.prefix}/{name}", kind.title, kind.lead) for name, kind in VIEWS.items()]
        return self._html("index.html", title="Explore", steps=steps, kinds=kinds, here="")

    async def static(self, request: Request) -> Response:
        """Serve the script, the style sheet and the code that draws."""
        return await page_file(request) or self._missing(request.path_params["name"])

    async def nothing(self, request: Request) -> Response:
        """Answer that there is no such page."""
        return self._missing(request.path_params["nothing"])

    def _missing(self, name: str) -> Response:
        sentence = f"There is no page {name[:60]!r} here."
        return self._html("error.html", 404, title="Not found", sentence=sentence, here="")

    async def view(self, request: Request) -> Response:
        """Show a page with the settings of its address."""
        kind = VIEWS.get(request.path_params["view"])
        if kind is None:
            return self._missing(request.path_params["view"])
        query = dict(request.query_params)
        step = _step(query.pop("tour", ""))
        trouble = ""
        try:
            shown = await run_in_threadpool(_shown, kind, query)
        except HalfseenError as error:
            trouble, shown = str(error), await run_in_threadpool(_shown, kind, {})
        return self._html(
            "view.html",
            422 if trouble else 200,
            title=kind.title,
            lead=kind.lead,
            shown=shown,
            trouble=trouble,
            tour=None if step is None else self._tour(step),
            data=island("start", shown),
            here=f"{self.prefix}/{kind.name}",
        )

    def _tour(self, step: int) -> dict[str, Any]:
        def link(place: int) -> str | None:
            if not 0 <= place < len(STEPS):
                return None
            target = STEPS[place]
            return f"{self.prefix}/{target.view}?tour={place + 1}&{quote(target.address, '=&,.')}"

        return {
            "number": step + 1,
            "of": len(STEPS),
            "title": STEPS[step].title,
            "text": STEPS[step].text,
            "before": link(step - 1),
            "after": link(step + 1),
        }

    async def picture(self, request: Request) -> Response:
        """Return the content of a page for other settings."""
        kind = VIEWS.get(request.path_params["view"])
        if kind is None:
            return self._missing(request.path_params["view"])
        return await _answered(_shown, kind, dict(request.query_params))

    async def play(self, request: Request) -> Response:
        """Stream the regret while it is simulated, until the client disconnects."""
        kind = VIEWS.get(request.path_params["view"])
        if kind is None:
            return self._missing(request.path_params["view"])
        try:
            view = await run_in_threadpool(kind.read, dict(request.query_params))
        except HalfseenError as error:
            return _said(str(error), 422)
        headers = SAFE | {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(
            self._played(view, request), media_type="text/event-stream", headers=headers
        )

    async def _played(self, view: View, request: Request) -> AsyncIterator[str]:
        stream = updates(view)
        while True:
            async with self.playing:
                if await request.is_disconnected():
                    return
                found = await run_in_threadpool(next, stream, None)
            if found is None:
                yield "event: end\ndata: {}\n\n"
                return
            yield f"data: {json.dumps(found)}\n\n"

    async def log(self, request: Request) -> Response:
        """Show the page on which a log is dropped."""
        here = f"{self.prefix}/log"
        return self._html("log.html", title="Your log", here=here, encodings=ENCODINGS)

    async def log_columns(self, request: Request) -> Response:
        """Return the columns of a log."""
        return await self._of_log(request, columns_of)

    async def log_audit(self, request: Request) -> Response:
        """Return the audit of a log, which is not kept."""
        return await self._of_log(request, audit_of)

    async def _of_log(self, request: Request, make: Callable[..., Any]) -> Response:
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_LOG:
                sentence = f"The log is larger than {LARGEST_LOG // 10**6} MB: use halfseen audit."
                return _said(sentence)
        return await _answered(make, bytes(body), dict(request.query_params))


async def _answered(make: Callable[..., Any], *given: Any) -> Response:
    try:
        return JSONResponse(await run_in_threadpool(make, *given), headers=SAFE)
    except HalfseenError as error:
        return _said(on_the_page(str(error)))


def _said(sentence: str, status: int = 200) -> Response:
    """Return a message for a page's script, with status 200: browsers log any other as an error."""
    return JSONResponse({"sentence": sentence}, status, headers=SAFE)


def _shown(kind: type[View], query: dict[str, str]) -> dict[str, Any]:
    view = kind.read(query)
    content = view.to_dict()
    played = played_picture(view)
    if played is not None:
        content["pictures"].insert(0, played.to_dict())
    return content


def _step(text: str) -> int | None:
    return next((i for i in range(len(STEPS)) if text == str(i + 1)), None)


def warm() -> None:
    """Preload the charting code and compile the loops, so that the first visitor need not wait."""
    drawing_code()
    for kind in VIEWS.values():
        for _ in updates(kind.read({})):
            break
