"""How much of the time of a cell was spent compiling its loop."""

from __future__ import annotations

import time


class CompileTime:
    """A clock that runs from when a function is about to be compiled until it is played.

    >>> clock = CompileTime()
    >>> clock.stop()
    >>> clock.taken()
    0.0
    """

    def __init__(self) -> None:
        self._since: float | None = None
        self._seconds = 0.0

    def start(self) -> None:
        """Start, unless the clock runs already."""
        if self._since is None:
            self._since = time.perf_counter()

    def stop(self) -> None:
        """Stop, if the clock runs."""
        if self._since is not None:
            self._seconds += time.perf_counter() - self._since
            self._since = None

    def taken(self) -> float:
        """Return the seconds since the last call."""
        self.stop()
        seconds, self._seconds = self._seconds, 0.0
        return seconds
