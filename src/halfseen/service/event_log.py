"""Appending to the log in one order, and reading it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, wait
from contextlib import contextmanager, suppress
from typing import Any

from halfseen.errors import no_password
from halfseen.service.database import Database
from halfseen.service.loop_events import COLUMNS, OFTEN, ONCE, Event, kinds_in
from halfseen.service.refusals import NotStored, StorageUnavailable

CHANNEL = "halfseen_events"
PATIENCE, INSIST = 5.0, 0.2  # seconds until a thread is interrupted, and interrupted again
NEVER_TAKEN = {"DataError", "IntegrityError", "NotSupportedError"}  # not worth a retry
_NAMES = ", ".join(f'"{name}"' for name in COLUMNS)
_INSERT = f"INSERT INTO events ({_NAMES}) VALUES ({', '.join('?' * len(COLUMNS))})"
_SELECT = f"SELECT {_NAMES} FROM events"


def driver_errors() -> tuple[type[Exception], ...]:
    """Return what the drivers of the databases raise."""
    try:
        import psycopg
    except ImportError:
        return (sqlite3.Error, OSError)
    return (sqlite3.Error, psycopg.Error, OSError)


def end_thread(pool: Executor, close: Callable[[], None], *, server: bool) -> None:
    """End the thread of a pool and close what it uses.

    On a server, where a lock may be waited for, what takes long is interrupted: a connection that
    is closed fails in the thread that waits for it.
    """
    ended = pool.submit(close)
    patience = PATIENCE if server else None
    while wait([ended], patience).not_done:
        close()
        patience = INSIST
    pool.shutdown()
    ended.result()


class EventLog:
    """The log on one connection, which one thread at a time may use.

    Every method raises `StorageUnavailable` for a transient failure of the database, `NotStored`
    for a permanent one; the connection is then closed, and the next call makes a new one.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.server = database.server
        self._errors = driver_errors()
        self._connection: Any = None

    def _run(self, statement: str, values: Sequence[Any] = ()) -> Any:
        if self._connection is None:
            self._connection = self.database.connect()
        if self.server:
            statement = statement.replace("?", "%s")
        return self._connection.execute(statement, values)

    def _failed(self, error: Exception) -> NotStored:
        self.close()
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        said = "The database is unavailable. Nothing was stored; try again."
        kinds = {kind.__name__ for kind in type(error).__mro__}  # of any driver
        if kinds & NEVER_TAKEN:
            said = "The database rejects the values of this request. Nothing was stored."
            return NotStored(said, reason=no_password(reason), fix="Send other values.")
        if "ProgrammingError" in kinds:
            said = "The database rejects a statement of halfseen. Nothing was stored."
        return StorageUnavailable(said, reason=no_password(reason))

    def close(self) -> None:
        """Close the connection and roll back what was not committed."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(*self._errors):
                connection.close()

    def begin(self, loops: Sequence[int]) -> dict[int, int]:
        """Begin a transaction, lock loops, and return the last event of each."""
        try:
            self._run("BEGIN" if self.server else "BEGIN IMMEDIATE")
            if self.server and loops:
                marks = ", ".join("?" * len(loops))
                lock = f"SELECT id FROM loops WHERE id IN ({marks}) ORDER BY id FOR UPDATE"
                self._run(lock, sorted(loops)).fetchall()
            return {loop: self._tip(loop) for loop in loops}
        except self._errors as error:
            raise self._failed(error) from None

    def _tip(self, loop: int) -> int:
        last = "(SELECT max(seq) FROM events WHERE loop = ?)"  # the last ones may be archived
        base = "(SELECT base FROM loops WHERE id = ?)"
        row = self._run(f"SELECT {last}, {base}", (loop, loop)).fetchone()
        return max(int(found or 0) for found in row)

    def append(self, events: Sequence[Event]) -> None:
        """Insert events, which have their places already."""
        try:
            if self.server:
                with self._connection.cursor() as cursor:
                    cursor.executemany(_INSERT.replace("?", "%s"), events)
            else:
                self._connection.executemany(_INSERT, events)
        except self._errors as error:
            raise self._failed(error) from None

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement in the transaction, and return its rows."""
        try:
            cursor = self._run(statement, values)
            return cursor.fetchall() if cursor.description else []
        except self._errors as error:
            raise self._failed(error) from None

    def commit(self, loops: Iterable[int] = ()) -> None:
        """Commit; when it returns everything is on disk. Tell other processes which loops grew."""
        try:
            if self.server:
                told = ",".join(map(str, loops))
                self._run("SELECT pg_notify(?, ?)", (CHANNEL, told))
            self._run("COMMIT")
        except self._errors as error:
            raise self._failed(error) from None

    def probe(self) -> None:
        """Write a row, to test whether the database accepts it."""
        self.begin([])
        self.execute("DELETE FROM meta WHERE name = 'probe'")
        self.execute("INSERT INTO meta (name, value) VALUES ('probe', '')")
        self.commit()

    def rollback(self) -> None:
        """Roll the transaction back."""
        try:
            if self._connection is not None:
                self._run("ROLLBACK")
        except self._errors:
            self.close()

    def scrub(self) -> None:
        """Remove deleted data from SQLite's journal."""
        if not self.server:
            self.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Read a consistent snapshot, whatever others write meanwhile."""
        view = " ISOLATION LEVEL REPEATABLE READ READ ONLY" if self.server else ""
        self.execute(f"BEGIN{view}")
        try:
            yield
        finally:
            self.rollback()

    def tip(self, loop: int) -> int:
        """Return the last event of a loop."""
        try:
            return self._tip(loop)
        except self._errors as error:
            raise self._failed(error) from None

    def read(
        self, loop: int, after: int, upto: int | None = None, most: int = 10_000
    ) -> list[Event]:
        """Return the events after one, in order, at most so many."""
        values: list[Any] = [loop, after]
        limit = ""
        if upto is not None:
            limit = " AND seq <= ?"
            values.append(upto)
        query = f"{_SELECT} WHERE loop = ? AND seq > ?{limit} ORDER BY seq LIMIT ?"
        return [Event(*row) for row in self.execute(query, [*values, most])]

    def all_events(self, loop: int, after: int, upto: int | None = None) -> Iterator[Event]:
        """Yield the events after one, in order."""
        while found := self.read(loop, after, upto):
            yield from found
            after = found[-1].seq

    def events_of(self, loop: int | None, decisions: Sequence[str]) -> dict[str, list[Event]]:
        """Return the events of decisions by their ids, those that there are; None: of all loops."""
        found: dict[str, list[Event]] = {}
        within = "" if loop is None else " AND loop = ?"
        own = [] if loop is None else [loop]
        for start in range(0, len(decisions), 500):
            some = decisions[start : start + 500]
            marks = ", ".join("?" * len(some))
            for kinds in (ONCE, OFTEN):
                query = f"{_SELECT} WHERE decision IN ({marks}){within} AND {kinds_in(kinds)}"
                for row in self.execute(query, [*some, *own]):
                    found.setdefault(row[3], []).append(Event(*row))
        return {name: sorted(events) for name, events in found.items()}
