"""The decision service without HTTP: crash-safe loops that decide and learn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from halfseen.service import erasure, loop_table
from halfseen.service.database import Database
from halfseen.service.decision_rows import decision_rows
from halfseen.service.event_log import EventLog
from halfseen.service.exchange import Item
from halfseen.service.key_table import KeyTable
from halfseen.service.live_loops import LiveLoops
from halfseen.service.loop_config import LoopConfig
from halfseen.service.loop_events import Event
from halfseen.service.loop_status import loop_counts, loop_status
from halfseen.service.pending_windows import was_set_back
from halfseen.service.refusals import Conflict, ReadOnly, StorageUnavailable
from halfseen.service.state_snapshots import (
    EVERY,
    Capture,
    check_snapshots,
    packed,
    read_configs,
    write_snapshot,
)
from halfseen.service.tailing import Tail
from halfseen.service.writer import Answers, LiveLoop, Writer, microseconds

QUEUE_LIMIT = 10_000
SWEEP_SECONDS = 1.0
Result = TypeVar("Result")


class Service(LiveLoops):
    """Loops of decisions on one database; made by `Service.open`.

    All methods belong to the asyncio loop in which the service was opened. The state of a loop is
    always exactly the fold of its committed events: a choice is committed before it is folded or
    answered.
    """

    def __init__(
        self,
        database: Database,
        *,
        queue_limit: int = QUEUE_LIMIT,
        snapshot_every: int = EVERY,
        clock: Callable[[], int] = microseconds,
    ) -> None:
        super().__init__(database)
        self.read_only = database.read_only
        self.clock, self.snapshot_every = clock, snapshot_every
        self._tasks: list[asyncio.Task[None]] = []
        self._snapshotting: set[int] = set()
        self._retiring: set[asyncio.Task[None]] = set()
        log = EventLog(database)
        self.writer = Writer(
            log,
            queue_limit=queue_limit,
            catch_up=partial(self._catch_up, log),
            put_aside=lambda live, error: self._put_aside(live.id, live.name, error),
            clock=clock,
        )
        self.tail = Tail(database, self)
        self.keys = KeyTable(self)

    @classmethod
    async def open(
        cls,
        database: str | Path,
        *,
        read_only: bool = False,
        queue_limit: int = QUEUE_LIMIT,
        snapshot_every: int = EVERY,
        sweep: bool = True,
        clock: Callable[[], int] = microseconds,
    ) -> Service:
        """Open a database and bring every loop to the end of its log.

        Parameters
        ----------
        database
            The path of a SQLite file, or ``postgresql://user:password@host/base``.
        read_only
            True for read-only access, for example beside another process on a SQLite file.
        queue_limit
            How many requests may wait for the disk.
        snapshot_every
            After how many events of a loop a snapshot is taken, or as many as are pending if more.
        sweep
            False to leave closing windows to other processes.
        clock
            The time in microseconds since 1970.

        Raises
        ------
        StorageError
            If the database cannot be used, or another process serves it.
        """
        opened = await asyncio.to_thread(Database, database, read_only=read_only)
        service = cls(opened, queue_limit=queue_limit, snapshot_every=snapshot_every, clock=clock)
        try:
            await service.refresh_loops()
        except BaseException as error:
            await service._disconnect()
            if isinstance(error, StorageUnavailable):
                raise error.in_full() from None
            raise
        if not read_only:  # the process may have been killed between an erasure and its scrubbing
            with suppress(StorageUnavailable):
                await service.writer.do(EventLog.scrub)
        start = asyncio.get_running_loop().create_task
        if opened.server or read_only:
            service._tasks.append(start(service.tail.run()))
        if sweep and not read_only:
            service._tasks.append(start(service._sweep_forever()))
        return service

    async def close(self) -> None:
        """Finish queued requests, take snapshots and close the database."""
        try:
            for task in [*self._tasks, *self._retiring]:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            served = [] if self.read_only else list(self._loops.values())
            for loop in served:
                if loop.state.seq > loop.snapshot:
                    with suppress(StorageUnavailable):
                        await self._write_snapshot(loop)
        finally:
            await self._disconnect()

    async def _disconnect(self) -> None:
        """Finish queued requests and close every connection."""
        await self.writer.close()
        await asyncio.to_thread(self.tail.close)
        await asyncio.to_thread(self.stop_reading)
        self.database.close()

    @property
    def ready(self) -> bool:
        """Whether the database can be written and followed."""
        return not self.writer.failing and not self.tail.failing

    async def submit(self, loop: str, items: Sequence[Item], key: str | None = None) -> Answers:
        """Carry out requests, and answer each once its events are on disk.

        Parameters
        ----------
        loop
            The name of the loop.
        items
            `Decide`, `Activate`, `Served` and `Outcome`, in any mixture.
        key
            The id of the API key, which is kept with the events.

        Returns
        -------
        list
            One answer per item, or the refusal of that item.

        Raises
        ------
        UnknownLoop, QueueFull, StorageUnavailable, ReadOnly
            If none of the items can be carried out.
        """
        live = self.loop(loop)
        self._may_write()
        answers = await self.writer.submit(live, items, key)
        self._snapshot_if_due(live)
        return answers

    async def create_loop(self, config: LoopConfig) -> LoopConfig:
        """Create a loop; one of the same name and configuration is left as it is."""
        self._may_write()
        known = self._loops.get(config.name)
        if known is None:
            made = await self.writer.do(lambda log: loop_table.create(log, config, self.clock()))
            await self.refresh_loops()
            known = self.loop(config.name)
            if made:
                return known.state.config
        if known.state.config != config:
            raise Conflict(
                f"Loop {config.name} exists with other settings.",
                field="name",
                value=config.name,
                fix="Revise that loop, or use another name.",
            )
        return known.state.config

    async def revise_loop(self, config: LoopConfig, after: int | None = None) -> dict[str, Any]:
        """Change the configuration of a loop.

        Arms may be added at the end and retired. Any other change of what is learned folds the
        whole log again under the new configuration.

        Parameters
        ----------
        config
            The new configuration.
        after
            The revision it changes, the one in force here if None. Conflict if there is another.

        Returns
        -------
        dict
            ``revision``, ``refolded``, and the ``estimates`` per arm before and after.
        """
        self._may_write()
        live = self.loop(config.name)
        loop_table.check_revision(live, config)
        before = loop_status(live)["arms"]
        refolds = not config.same_but_arms(live.state.rules)
        known = live.state.revision if after is None else after
        revision = await self.writer.do(
            lambda log: loop_table.revise(log, live, config, self.clock(), known)
        )
        await self._reload(live)
        after = loop_status(live)["arms"]
        return {"revision": revision, "refolded": refolds, "before": before, "after": after}

    async def archive_loop(self, name: str) -> None:
        """Close a loop for decisions; outcomes are still accepted."""
        self._may_write()
        live = self.loop(name)
        await self.writer.do(lambda log: loop_table.archive(log, live.id, self.clock()))
        live.archived = True

    async def loops_of(self, decision: str) -> list[str]:
        """Return the names of the loops that know a decision.

        Raises
        ------
        LoopAside
            If a loop knows it whose log cannot be folded.
        """
        found = [loop.name for loop in self._loops.values() if loop.state.find(decision)]
        alone = not self.database.server and not self.read_only and not self._aside
        complete = (loop.state.complete and not loop.base for loop in self._loops.values())
        if found or (alone and all(complete)):
            return found
        stored = await self.read(lambda log: log.events_of(None, [decision]))
        known = {event.loop for event in stored.get(decision, ())}
        for number in known & self._aside.keys():
            raise self._refusal(number)
        return [loop.name for loop in self._loops.values() if loop.id in known]

    async def status(self, name: str) -> dict[str, Any]:
        """Return what a loop has learned and how its decisions ended."""
        return loop_status(self.loop(name))

    async def events(self, name: str, after: int = 0) -> AsyncIterator[list[Event]]:
        """Go through the events of a loop in lists."""
        number = self.loop(name).id
        while found := await self.read(partial(EventLog.read, loop=number, after=after)):
            yield found
            after = found[-1].seq

    async def rows(self, name: str, batch: int = 5000) -> AsyncIterator[list[dict[str, Any]]]:
        """Go through the decisions of a loop in lists of rows, one row per decision.

        A row is what `halfseen audit` and `halfseen value` read: the arm really shown with its
        propensity, the reward (None if it is missing), the version and the times.
        """
        live, after = self.loop(name), 0
        while True:
            rows, after = await self.read(
                partial(decision_rows, live=live, after=after, most=batch)
            )
            if rows:
                yield rows
            if not after:
                return

    async def forget(self, decision: str, loop: str | None = None) -> int:
        """Erase a decision from the log and from memory; return in how many loops it was.

        What was learned from it stays.
        """
        self._may_write()
        live = list(self._loops.values()) if loop is None else [self.loop(loop)]
        found = sum([await erasure.forget(self, one, decision) for one in live])
        if loop is None and self._aside:
            await self.loops_of(decision)  # refuses what an unreadable loop still holds
        return found

    async def apply_retention(self) -> dict[str, int]:
        """Delete the events that are older than each loop keeps them; return how many."""
        self._may_write()
        found, failed = {}, []
        for live in list(self._loops.values()):
            days = live.state.rules.retention
            if days is None:
                continue
            try:
                found[live.name] = await erasure.delete_older(self, live, days)
            except Exception as error:
                error.add_note(f"loop {live.name}")
                failed.append(error)
        if failed:
            raise failed[0]
        return found

    async def archive(
        self, folder: str | Path, *, days: float, loop: str | None = None
    ) -> list[Path]:
        """Move the decisions older than so many days to Parquet files; return their paths."""
        self._may_write()
        live = list(self._loops.values()) if loop is None else [self.loop(loop)]
        written = [await erasure.archive_older(self, one, Path(folder), days) for one in live]
        return [path for path in written if path is not None]

    async def check(self) -> list[str]:
        """Return the disagreements between snapshots and a replay of the log."""
        found = list(self.aside.values())
        for live in list(self._loops.values()):
            one = live

            def compare(log: EventLog, one: LiveLoop = one) -> list[str]:
                with log.steady():
                    base = loop_table.base_of(log, one.id)
                    return check_snapshots(log, one.id, base, read_configs(log, one.id))

            found += await self.read(compare)
        return found

    def numbers(self) -> dict[str, Any]:
        """Return figures for monitoring; the commit times are those since the last call."""
        taken = self.writer.commit_seconds
        seconds = [taken.popleft() for _ in range(len(taken))]
        return {
            "queue": self.writer.queued,
            "lag_events": self.tail.lag,
            "commit_seconds": seconds,
            "failures": self.writer.failures,
            "aside": len(self._aside),
            "loops": {name: loop_counts(loop) for name, loop in self._loops.items()},
        }

    def _may_write(self) -> None:
        if self.read_only:
            raise ReadOnly("The service was opened to read only.")

    async def _sweep_forever(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            self.sweep()

    def sweep(self) -> None:
        """Ask the writer to close the windows that have passed."""
        now = self.clock()
        for live in self._loops.values():
            state = live.state
            set_back = state.tally.pending and was_set_back(state.tally.last_at, now)
            if set_back or next(state.pending.expired(now), None) is not None:
                self.writer.sweep(live)
            self._snapshot_if_due(live)

    def _snapshot_if_due(self, live: LiveLoop) -> None:
        # The cost of a snapshot grows with the pending decisions: with many of them it is taken
        # rarely.
        due = live.snapshot + max(self.snapshot_every, live.state.tally.pending)
        if live.state.seq < due or live.id in self._snapshotting:
            return
        self._snapshotting.add(live.id)
        task = asyncio.get_running_loop().create_task(self._snapshot(live))
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    async def _snapshot(self, live: LiveLoop) -> None:
        try:
            with suppress(StorageUnavailable):
                await self._write_snapshot(live)
        finally:
            self._snapshotting.discard(live.id)

    async def _write_snapshot(self, live: LiveLoop) -> None:
        capture, revision = Capture(live.state), max(live.state.configs)
        lines = []
        for line in capture.lines():
            lines.append(line)
            await asyncio.sleep(0.0)  # others are answered
        stored = await asyncio.to_thread(packed, lines)
        live.snapshot = max(live.snapshot, capture.seq)  # if it fails the next one is far, too
        place: Any = {"loop": live.id, "seq": capture.seq, "revision": revision}
        await self.writer.do(partial(write_snapshot, stored=stored, **place))
