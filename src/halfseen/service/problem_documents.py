"""Errors as problem documents (RFC 9457)."""

from __future__ import annotations

import json
from typing import Any

from halfseen.errors import DecisionError, InvalidInput, StorageError, shorten
from halfseen.service.refusals import Conflict, InvalidField, Refusal, StorageUnavailable

MEDIA_TYPE = b"application/problem+json"
Headers = tuple[tuple[bytes, bytes], ...]


class Malformed(Refusal):
    """The body is not JSON, or not of the shape the operation takes."""

    status = 400
    title = "Malformed request"


class NoValidKey(Refusal):
    """There is no key, or it is not valid."""

    status = 401
    title = "No valid key"


class KeyNotSufficient(Refusal):
    """The key's role does not allow this."""

    status = 403
    title = "Key not sufficient"


class NotFound(Refusal):
    """There is nothing at this address."""

    status = 404
    title = "Not found"


class MethodNotAllowed(Refusal):
    """The address is there, but not for this method."""

    status = 405
    title = "Method not allowed"

    def __init__(self, detail: str, *, allowed: str, fix: str) -> None:
        super().__init__(detail, fix=fix)
        self.allowed = allowed


class TooLarge(Refusal):
    """The body or the batch is larger than the service takes."""

    status = 413
    title = "Too large"


class InternalError(Refusal):
    """An unexpected error; the document reveals no internals."""

    status = 500
    title = "Internal error"


def problem_of(error: BaseException) -> Refusal:
    """Return an error as a refusal.

    >>> problem_of(InvalidInput("reward", "must be a number", "x", "Give one.")).status
    422
    >>> str(problem_of(ZeroDivisionError("secret")))
    'An error in halfseen itself.'
    """
    if isinstance(error, Refusal):
        return error
    if isinstance(error, InvalidInput):
        return InvalidField.of(error)
    if isinstance(error, DecisionError):
        return Conflict(str(error), fix="Send what was sent before, or use another id.")
    if isinstance(error, StorageError):
        return StorageUnavailable(str(error), fix="Send the same request again later.")
    return InternalError("An error in halfseen itself.", fix="See the output of the service.")


def invalid(field: str, requirement: str, value: object, fix: str) -> InvalidField:
    """Return the refusal of a field whose value cannot be used."""
    return InvalidField.of(InvalidInput(field, requirement, value, fix))


def document(refusal: Refusal) -> dict[str, Any]:
    """Return the problem document of a refusal.

    >>> document(Malformed("The body is not JSON.", fix="Send an object."))["title"]
    'Malformed request'
    """
    content: dict[str, Any] = {
        "type": "about:blank",
        "title": refusal.title,
        "status": refusal.status,
        "detail": str(refusal),
    }
    if refusal.field is not None:
        content |= {"field": refusal.field, "value": plain_value(refusal.value)}
    if refusal.fix:
        content["fix"] = refusal.fix
    return content


def document_bytes(refusal: Refusal) -> bytes:
    """Return the problem document of a refusal as JSON."""
    return json.dumps(document(refusal), allow_nan=False).encode()


def headers_of(refusal: Refusal) -> Headers:
    """Return the headers that go with a refusal."""
    if refusal.status in (429, 503):
        seconds = getattr(refusal, "retry_after", 1)
        return ((b"retry-after", str(seconds).encode()),)
    if refusal.status == 401:
        return ((b"www-authenticate", b'Bearer realm="halfseen"'),)
    if isinstance(refusal, MethodNotAllowed):
        return ((b"allow", refusal.allowed.encode()),)
    return ()


def plain_value(value: object) -> Any:
    """Return a value for a problem document: short, and valid JSON.

    >>> plain_value(3), plain_value("x" * 200)[-1], plain_value([1, 2])
    (3, '…', '[1, 2]')
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return value
    text = value if isinstance(value, str) else shorten(value)
    return _valid_text(text if len(text) <= 80 else text[:79] + "…")


def _valid_text(text: str) -> str:
    """Return the text without lone surrogates, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()
