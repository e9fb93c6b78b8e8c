"""Sign-in with a key in a cookie, and protection of forms against cross-site requests."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from halfseen.service.api_calls import Api, read_body
from halfseen.service.api_keys import RANK
from halfseen.service.foreign_requests import refuse_foreign
from halfseen.service.problem_documents import KeyNotSufficient, Malformed, NoValidKey

KEY, FORM = "halfseen_key", "halfseen_form"  # cookies
HOURS = 12
LARGEST_FORM = 512 * 1024  # bytes: a loop may have many arms


@dataclass(frozen=True, slots=True)
class Visitor:
    """A signed-in user.

    Attributes
    ----------
    key
        The id of the key; None where the service asks for none.
    name, role
        What the key is for, and what it may do.
    """

    key: str | None
    name: str
    role: str

    @property
    def edits(self) -> bool:
        """Whether the user may make changes."""
        return self.role == "admin"


ANYONE = Visitor(None, "this machine", "admin")


async def visitor_of(api: Api, request: Request) -> Visitor | None:
    """Return the user of a request; None if there is no valid key.

    A service without keys refuses cross-site requests.
    """
    if api.keys is None:
        refuse_foreign(request.method, request.scope["headers"])
        return ANYONE
    return await visitor_with(api, request.cookies.get(KEY, ""))


async def visitor_with(api: Api, text: str) -> Visitor | None:
    """Return the user of a key, given as its text; None if it is not valid."""
    if api.keys is None or not text:
        return None
    key = api.keys.find(text) or await api.keys.find_again(text)
    return None if key is None else Visitor(key.id, key.name, key.role)


def check_role(visitor: Visitor, role: str) -> None:
    """Refuse a visitor whose key does not suffice."""
    if RANK[visitor.role] < RANK[role]:
        raise KeyNotSufficient(
            f"A key of the role {visitor.role} may not do this.",
            field="role",
            value=visitor.role,
            fix=f"Sign in with a key of the role {role}.",
        )


def form_token(request: Request) -> str:
    """Return the token of forms, which equals a cookie that other sites cannot read."""
    known: str | None = getattr(request.state, "form_token", None)
    if known is None:
        known = request.cookies.get(FORM) or secrets.token_urlsafe(32)
        request.state.form_token = known
    return known


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form that one of these pages sent."""
    headers = request.scope["headers"]
    body = await read_body(headers, request.receive, LARGEST_FORM)
    try:
        fields = dict(parse_qsl(body.decode(), keep_blank_values=True))
    except UnicodeDecodeError:
        raise Malformed("The form is not UTF-8.", fix="Use the form of the page.") from None
    given, kept = fields.pop("token", ""), request.cookies.get(FORM, "")
    origin = request.headers.get("sec-fetch-site", "same-origin")
    same = hmac.compare_digest(given.encode(), kept.encode()) and kept != ""
    if not same or origin not in ("same-origin", "none"):
        raise KeyNotSufficient(
            "The form was not sent by this page, or the page has expired.",
            field="token",
            fix="Open the page again and send the form from there.",
        )
    return fields


def keep(
    response: Response,
    request: Request,
    name: str,
    value: str,
    seconds: int = HOURS * 3600,
    *,
    path: str = "/",
) -> None:
    """Keep a value in a cookie that scripts and other sites cannot read."""
    options: dict[str, Any] = {"httponly": True, "samesite": "strict", "path": path}
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=seconds, secure=secure, **options)


def need_key() -> NoValidKey:
    """Return the error for an invalid key."""
    return NoValidKey("The key is not valid.", fix="Issue one with: halfseen serve keys issue.")
