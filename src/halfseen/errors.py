"""The exceptions halfseen raises on purpose."""


class HalfseenError(Exception):
    """Base of every error halfseen raises on purpose."""


class InvalidInput(HalfseenError, ValueError):
    """A value the user gave cannot be used; the message names it and says how to fix it."""

    def __init__(self, field: str, requirement: str, value: object, fix: str) -> None:
        self.field = field
        self.requirement = requirement
        self.value = value
        self.fix = fix
        super().__init__(f"`{field}` {requirement}; got {shorten(value)}. {fix}")


class DecisionError(HalfseenError):
    """Feedback for a decision the agent never made or has already settled."""


class StorageError(HalfseenError):
    """A file cannot be read or written."""


def shorten(value: object, width: int = 80) -> str:
    """Write a value in at most `width` characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= width else text[: width - 1] + "…"
