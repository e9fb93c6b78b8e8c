"""One line of JSON for every request: which loop, what, how it ended and how long it took."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from time import time
from typing import TextIO

LONGEST_NAME = 64
MOST_LINES = 1000  # that wait to be written


class RequestLog:
    """Writes a line a request, a few at a time; never bodies, keys or features.

    Parameters
    ----------
    stream
        Where to; None to write nothing.

    Examples
    --------
    >>> import io
    >>> log = RequestLog(io.StringIO())
    >>> log.note("offers", "decide", 201, 0.0015)
    >>> log.flush()
    >>> json.loads(log.stream.getvalue())["ms"]
    1.5
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.stream = stream
        self._lines: list[tuple[float, str, str, int, float]] = []

    def note(self, loop: str, kind: str, status: int, seconds: float) -> None:
        """Note a request."""
        if self.stream is None:
            return
        self._lines.append((time(), loop, kind, status, seconds))
        if len(self._lines) >= MOST_LINES:
            self.flush()

    def flush(self) -> None:
        """Write what was noted."""
        lines, self._lines = self._lines, []
        if self.stream is None or not lines:
            return
        self.stream.write("".join(map(_line, lines)))
        self.stream.flush()


def _line(noted: tuple[float, str, str, int, float]) -> str:
    at, loop, kind, status, seconds = noted
    moment = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
    content = {
        "at": moment.replace("+00:00", "Z"),
        "loop": loop[:LONGEST_NAME],
        "kind": kind,
        "status": status,
        "ms": round(seconds * 1000.0, 3),
    }
    return json.dumps(content) + "\n"
