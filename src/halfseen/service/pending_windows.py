"""The windows of pending decisions, in the order in which they close."""

from __future__ import annotations

from collections.abc import Iterator

from halfseen.service.known_decisions import Known

PATIENCE = 10_000_000  # microseconds a clock may lag behind the log before it counts as set back


def was_set_back(last: int, now: int) -> bool:
    """Return whether the clock is so far behind the last event that it must have been set back."""
    return now < last - PATIENCE


class PendingWindows:
    """Pending decisions by the length of their window; among equal ones the first shown is first.

    A decision keeps the window of the revision under which it was made.
    """

    def __init__(self) -> None:
        self._queues: dict[int, dict[str, Known]] = {}  # by the length in microseconds

    def open(self, entry: Known, at: int, window: int) -> None:
        """Begin the window of a decision that is shown now."""
        entry.expires = at + window
        self.restore(entry, window)

    def restore(self, entry: Known, window: int) -> None:
        """Add a decision whose window has begun."""
        self._queues.setdefault(window, {})[str(entry.id)] = entry

    def close(self, decision: str, window: int) -> None:
        """Drop a decision that has ended."""
        self._queues.get(window, {}).pop(decision, None)

    def expired(self, now: int) -> Iterator[Known]:
        """Yield the decisions whose window has closed."""
        for queue in self._queues.values():
            for entry in queue.values():
                assert entry.expires is not None
                if entry.expires >= now:
                    break
                yield entry

    def step_back(self, now: int) -> None:
        """Let no window close later than it would if its decision were shown now."""
        for window, queue in self._queues.items():
            for entry in reversed(queue.values()):
                assert entry.expires is not None
                if entry.expires <= now + window:
                    break
                entry.expires = now + window
