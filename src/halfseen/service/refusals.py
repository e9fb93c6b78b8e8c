"""Errors of the service, each with an HTTP status and a fix."""

from __future__ import annotations

from typing import Any

from halfseen.errors import HalfseenError, InvalidInput, StorageError, sentence, shorten


class Refusal(HalfseenError):
    """A request that cannot be carried out.

    Attributes
    ----------
    status
        The HTTP status.
    title
        A short title for all errors of this kind.
    field, value, fix
        The field, the value given, and how to fix it; None where not applicable.
    """

    status = 400
    title = "Bad request"

    def __init__(
        self, detail: str, *, field: str | None = None, value: Any = None, fix: str | None = None
    ) -> None:
        self.field, self.value, self.fix = field, value, fix
        super().__init__(sentence(detail))


class InvalidField(Refusal):
    """A field of a request has an invalid value."""

    status = 422
    title = "Invalid field"

    @classmethod
    def of(cls, error: InvalidInput) -> InvalidField:
        """Return the refusal of a value that the library refuses."""
        return cls(str(error), field=error.field, value=shorten(error.value), fix=error.fix)


class UnknownLoop(Refusal):
    """There is no loop of this name."""

    status = 404
    title = "Unknown loop"


class UnknownDecision(Refusal):
    """There is no decision of this id where one is needed."""

    status = 404
    title = "Unknown decision"


class Conflict(Refusal):
    """The request contradicts what the log holds already."""

    status = 409
    title = "Conflict"


class QueueFull(Refusal):
    """The queue of requests is full."""

    status = 429
    title = "Too many requests waiting"


class NotStored(Refusal):
    """The database permanently rejects what this request would store. Nothing was stored.

    Attributes
    ----------
    reason
        The database's message, which may contain its address: for the operator, not for clients.
    """

    status = 500
    title = "Not stored"

    def __init__(self, detail: str, *, reason: str = "", fix: str | None = None) -> None:
        super().__init__(detail, fix=fix)
        self.reason = reason

    def in_full(self) -> StorageError:
        """Return the error with its reason."""
        return StorageError(
            f"{self} The database says: {self.reason}." if self.reason else str(self)
        )


class StorageUnavailable(NotStored):
    """The database is unavailable. Nothing of the request was stored; try again."""

    status = 503
    title = "Storage unavailable"
    retry_after = 1  # seconds


class LoopAside(Refusal):
    """The log of a loop cannot be folded. The other loops are served."""

    status = 503
    title = "Loop put aside"
    retry_after = 60  # seconds


class ReadOnly(Refusal):
    """The service was opened to read only."""

    status = 403
    title = "Read only"
