"""The stored list of changes: who changed what, and when."""

from __future__ import annotations

import os
from typing import Any

from halfseen.service.event_log import EventLog

MOST = 500  # changes that are read
COLUMNS = ("at", "key", "who", "what", "loop", "detail")
Change = tuple[int, str | None, str, str, str, str]  # in the order of the columns


def add_change(log: EventLog, change: Change) -> None:
    """Store a change: the time in microseconds, the id and name of the key, what, and details."""
    log.begin([])
    names, marks = ", ".join(f'"{name}"' for name in COLUMNS), ", ".join("?" * len(COLUMNS))
    values = (os.urandom(16).hex(), *change)
    log.execute(f"INSERT INTO changes (id, {names}) VALUES (?, {marks})", values)
    log.commit()


def newest_changes(log: EventLog) -> list[tuple[Any, ...]]:
    """Return the newest changes, the last one first."""
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    return log.execute(f'SELECT {names} FROM changes ORDER BY "at" DESC, id LIMIT {MOST}')
