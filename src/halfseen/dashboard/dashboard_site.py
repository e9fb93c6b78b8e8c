"""The dashboard over HTTP: its routes, access control and rendering."""

from __future__ import annotations

import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from time import perf_counter
from typing import Any
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from halfseen.dashboard.sign_in import (
    FORM,
    KEY,
    Visitor,
    check_role,
    form_token,
    keep,
    need_key,
    read_form,
    visitor_of,
    visitor_with,
)
from halfseen.explorer.page_files import SAFE, file_address, island, page_file
from halfseen.service.api_calls import Api
from halfseen.service.foreign_requests import names_this_machine, refuse_foreign
from halfseen.service.problem_documents import KeyNotSufficient, NotFound, problem_of
from halfseen.service.refusals import ReadOnly

PACKAGE = "halfseen.dashboard"
LATER = Markup("<!-- what is computed later -->")
Page = Callable[[Request, Visitor], Awaitable[Response]]


class Nowhere(Route):
    """Every other address that a browser opens, none of the API."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is one for a page."""
        accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
        page = scope["method"] == "GET" and b"text/html" in accepted
        if not page or scope["path"].startswith("/v1/"):
            return Match.NONE, {}
        return super().matches(scope)


async def static(request: Request) -> Response:
    """Answer with a style sheet or a script."""
    found = await page_file(request, PACKAGE)
    return found or Response("There is no such file.", 404, headers=SAFE)


class Site:
    """Renders pages and checks access to them.

    Parameters
    ----------
    api
        The service and its keys.
    local
        Whether the explorer is served.
    """

    def __init__(self, api: Api, local: bool) -> None:
        self.api, self.local = api, local
        self.service = api.service
        self.templates = Environment(
            loader=ChoiceLoader([PackageLoader(PACKAGE), PackageLoader("halfseen.explorer")]),
            autoescape=True,
            undefined=StrictUndefined,
        )
        self.templates.globals["file"] = lambda name: file_address(name, PACKAGE)
        self.templates.filters["part"] = lambda text: quote(str(text), safe="")

    def page(self, page: Page, kind: str, role: str) -> Callable[[Request], Awaitable[Response]]:
        """Return a page as a Starlette endpoint, with access control, error pages and logging."""

        async def answer(request: Request) -> Response:
            began = perf_counter()
            visitor = None
            try:
                visitor = await visitor_of(self.api, request)
                if visitor is None:
                    return self._ask_for_key(request)
                check_role(visitor, role)
                if request.method == "POST":
                    request.state.form = await read_form(request)
                    if role == "admin" and self.service.read_only:
                        raise ReadOnly("The service was opened to read only.")
                response = await page(request, visitor)
            except Exception as error:
                response = self.refused(request, error, visitor)
            seconds = perf_counter() - began
            self.api.metrics.request(kind, response.status_code, seconds)
            loop = request.path_params.get("loop", "")
            self.api.log.note(loop, kind, response.status_code, seconds)
            return response

        return answer

    def on_this_machine(self, app: ASGIApp) -> ASGIApp:
        """Return an application, which asks for no key, refusing what other sites may cause."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope)
            try:
                refuse_foreign(request.method, scope["headers"])
            except KeyNotSufficient as error:
                await self.refused(request, error, None)(scope, receive, send)
                return
            await app(scope, receive, send)

        return answer

    def html(
        self,
        request: Request,
        visitor: Visitor | None,
        template: str,
        code: int = 200,
        **content: Any,
    ) -> Response:
        """Return a page."""
        links = []
        if visitor is not None:
            links = [("/", "Loops")]
            if visitor.edits:
                links += [("/keys", "Keys"), ("/trail", "Changes")]
            links.append(("/api", "API"))
            if self.local and names_this_machine(request.headers.get("host", "").encode()):
                links.append(("/explore/", "Explore"))
        data = content.pop("data", None)
        text = self.templates.get_template(template).render(
            prefix="",
            links=links,
            here=content.pop("here", "-"),
            visitor=visitor,
            signs_out=visitor is not None and visitor.key is not None,
            token=form_token(request),
            island="" if data is None else island("start", data),
            **content,
        )
        response = HTMLResponse(text, code, headers=SAFE | {"Cache-Control": "no-store"})
        if FORM not in request.cookies:
            keep(response, request, FORM, form_token(request))
        return response

    def parts(self, templates: Sequence[str], **content: Any) -> dict[str, str]:
        """Return parts of a page as HTML, by the names of their templates."""
        return {name: self.templates.get_template(name).render(**content) for name in templates}

    def refused(self, request: Request, error: Exception, visitor: Visitor | None) -> Response:
        """Return an error page."""
        refusal = problem_of(error)
        if refusal.status == 500:
            traceback.print_exception(error, file=sys.stderr)
        sentence = str(refusal)
        if refusal.fix and refusal.fix not in sentence:
            sentence += f" {refusal.fix}"
        return self.html(
            request,
            visitor,
            "refused.html",
            refusal.status,
            title=refusal.title,
            sentence=sentence,
        )

    async def lost(self, request: Request, visitor: Visitor) -> Response:
        """Answer that there is no such page."""
        raise NotFound("There is nothing at this address.", fix="Start with the list of loops.")

    def _ask_for_key(self, request: Request) -> Response:
        if request.method != "GET" or request.url.path.endswith("/live"):
            return Response("Sign in again.", 401, headers=SAFE)
        target = request.url.path
        if request.url.query:
            target += f"?{request.url.query}"
        where = "" if target == "/" else f"?next={quote(target, safe='')}"
        return RedirectResponse(f"/sign-in{where}", 303)

    async def sign_in(self, request: Request) -> Response:
        """Take a key once and keep it in a cookie."""
        target = request.query_params.get("next", "/")
        if not target.startswith("/") or target.startswith(("//", "/\\")):
            target = "/"
        if self.api.keys is None:
            return RedirectResponse("/", 303)
        trouble = ""
        if request.method == "POST":
            try:
                given = (await read_form(request)).get("key", "").strip()
                visitor = await visitor_with(self.api, given)
                if visitor is None:
                    raise need_key()
                check_role(visitor, "report")
            except Exception as error:
                trouble = str(problem_of(error))
            else:
                response: Response = RedirectResponse(target, 303)
                keep(response, request, KEY, given)
                return response
        content = {"title": "Sign in", "trouble": trouble, "target": target}
        return self.html(request, None, "sign_in.html", 401 if trouble else 200, **content)

    async def sign_out(self, request: Request) -> Response:
        """Forget the key."""
        try:
            await read_form(request)
        except Exception as error:
            return self.refused(request, error, None)
        response = RedirectResponse("/sign-in", 303)
        response.delete_cookie(KEY, path="/", httponly=True, samesite="strict")
        return response


def with_later(page: Response, part: Callable[[], Awaitable[str]]) -> Response:
    """Return a page that is streamed up to a part computed later, and the rest when it is done."""
    before, after = bytes(page.body).split(LATER.encode(), 1)

    async def sent() -> AsyncIterator[bytes]:
        yield before
        yield (await part()).encode()
        yield after

    whole = StreamingResponse(sent(), page.status_code)
    kept = [(name, value) for name, value in page.raw_headers if name != b"content-length"]
    whole.raw_headers = [*kept, (b"x-accel-buffering", b"no")]
    return whole


Entry = tuple[str, Page, str, str, Sequence[str]]  # path, page, kind, role, methods
