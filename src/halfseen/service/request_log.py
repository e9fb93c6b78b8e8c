"""The request log: one line of JSON with loop, kind, status and duration per request."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from json.encoder import encode_basestring_ascii as quoted
from time import time
from typing import TextIO

LONGEST_NAME = 64
MOST_LINES = 1000  # not yet written, at most


class RequestLog:
    """Writes one line per request, in batches; never bodies, keys or features.

    Parameters
    ----------
    stream
        Where to; None to write nothing.

    Examples
    --------
    >>> import io, json
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
        """Write the buffered lines."""
        lines, self._lines = self._lines, []
        if self.stream is None or not lines:
            return
        self.stream.write("".join(map(_line, lines)))
        self.stream.flush()


def _line(noted: tuple[float, str, str, int, float]) -> str:
    at, loop, kind, status, seconds = noted
    whole, rest = divmod(at, 1.0)
    return (
        f'{{"at": "{utc_second(int(whole))}.{int(rest * 1000):03d}Z", "loop":'
        f' {quoted(loop[:LONGEST_NAME])}, "kind": "{kind}", "status": {status},'
        f' "ms": {seconds * 1000.0:.3f}}}\n'
    )


@lru_cache(maxsize=16)
def utc_second(seconds: int) -> str:
    """Return a time in whole seconds since 1970 as a text in UTC, without the zone.

    >>> utc_second(0)
    '1970-01-01T00:00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
