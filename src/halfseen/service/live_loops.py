"""The loops that a process serves, each at the end of its log."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from halfseen.errors import HalfseenError
from halfseen.service import loop_events, loop_table
from halfseen.service.database import Database
from halfseen.service.event_log import EventLog, end_thread
from halfseen.service.fold import LoopState, Refold
from halfseen.service.loop_config import LoopConfig
from halfseen.service.loop_events import Event
from halfseen.service.refusals import LoopAside, StorageUnavailable, UnknownLoop
from halfseen.service.state_snapshots import read_configs
from halfseen.service.writer import LiveLoop

Result = TypeVar("Result")


class LiveLoops:
    """The loops of a database, read on a separate connection."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._reader = EventLog(database)
        self._pool = ThreadPoolExecutor(1, "halfseen-reader")
        self._stopped = False
        self._loops: dict[str, LiveLoop] = {}
        self._by_id: dict[int, LiveLoop] = {}
        self._aside: dict[int, tuple[str, str]] = {}  # name, and why

    def loops(self) -> list[LoopConfig]:
        """Return the configuration of every loop."""
        return [loop.state.config for loop in self._loops.values()]

    def loop(self, name: str) -> LiveLoop:
        """Return a loop by its name; UnknownLoop if there is none."""
        found = self._loops.get(name)
        if found is None:
            for number, (other, _) in self._aside.items():
                if other == name:
                    raise self._refusal(number)
            raise UnknownLoop(
                f"There is no loop {name!r}.",
                field="loop",
                value=name,
                fix="Create it, or use the name of another one.",
            )
        return found

    def config(self, name: str) -> LoopConfig:
        """Return the configuration of a loop; UnknownLoop if there is none."""
        return self.loop(name).state.config

    async def read(self, query: Callable[[EventLog], Result]) -> Result:
        """Run a query on the read connection, in its thread."""
        if self._stopped:
            raise StorageUnavailable("The service has stopped. Start it again.")
        return await asyncio.get_running_loop().run_in_executor(self._pool, query, self._reader)

    def stop_reading(self) -> None:
        """Close the read connection once its thread has ended, whoever still waits for it."""
        if not self._stopped:
            self._stopped = True
            end_thread(self._pool, self._reader.close, server=self.database.server)

    async def refresh_loops(self) -> None:
        """Load new loops from the database, and mark archived ones."""
        for number, name, archived, base in await self.read(loop_table.listed):
            if number not in self._by_id and number not in self._aside:
                await self._open(number, name)
            live = self._by_id.get(number)
            if live is not None:
                live.archived, live.base = archived is not None, max(live.base, base)

    async def _open(self, number: int, name: str) -> None:
        with suppress(LoopAside):
            base, state, snapshot = await self._newest(number, name)
            if number not in self._by_id:
                live = LiveLoop(number, name, state, base=base, snapshot=snapshot)
                self._loops[name] = self._by_id[number] = live

    async def _newest(self, number: int, name: str) -> tuple[int, LoopState, int]:
        """Load a loop from the database; LoopAside if its log cannot be folded."""

        def load(log: EventLog) -> tuple[int, LoopState, int]:
            with log.steady():
                return loop_table.newest(log, number)

        try:
            return await self.read(load)
        except StorageUnavailable:
            raise
        except Exception as error:
            raise self._put_aside(number, name, error) from None

    @property
    def aside(self) -> dict[str, str]:
        """The loops whose log cannot be folded, each with a sentence that says why."""
        return dict(self._aside.values())

    def _put_aside(self, number: int, name: str, error: Exception) -> LoopAside:
        """Stop serving a loop whose log cannot be folded; return the error for its requests."""
        self._loops.pop(name, None)
        self._by_id.pop(number, None)
        if number not in self._aside:
            said = str(error) if isinstance(error, HalfseenError) else type(error).__name__
            where = "".join(f"{note}: " for note in getattr(error, "__notes__", ()))
            reason = (
                f"Loop {name} is put aside: its log cannot be replayed ({where}{said.rstrip('.')})."
                " The other loops are served."
            )
            self._aside[number] = name, reason
            print(f"halfseen: {reason}", file=sys.stderr)
        return self._refusal(number)

    def _refusal(self, number: int) -> LoopAside:
        name, reason = self._aside[number]
        fix = "Restore a backup, or start a version of halfseen that can replay it."
        return LoopAside(reason, field="loop", value=name, fix=fix)

    def _catch_up(self, log: EventLog, live: LiveLoop, events: list[Event]) -> None:
        """Fold the events of other processes; called inside the writer's transaction."""
        new = [event for event in events if event.seq > live.state.seq]  # the tail folds too
        if new and not _rewritten(live.state.seq, new):
            try:
                live.state.fold_all(new)
                return
            except Refold:
                if live.state.learn_of(read_configs(log, live.id)):
                    live.state.fold_all(new)
                    return
            except Exception:
                pass  # the newest snapshot holds what was erased
        live.base, live.state, live.snapshot = loop_table.newest(log, live.id)

    async def _reload(self, live: LiveLoop) -> None:
        """Load newer events of one loop, and a new configuration."""
        configs = await self.read(partial(read_configs, loop=live.id))
        if max(configs) != max(live.state.configs) and not live.state.learn_of(configs):
            await self._load(live)
        await self.follow(live)

    async def _load(self, live: LiveLoop) -> None:
        """Reload the state of a loop."""
        live.base, live.state, live.snapshot = await self._newest(live.id, live.name)

    async def follow(self, live: LiveLoop) -> int:
        """Fold the events of a loop that this process has not seen; return how many."""
        count = 0
        while True:
            state = live.state
            found = await self.read(partial(EventLog.read, loop=live.id, after=state.seq))
            if live.state is not state:
                continue
            if not found:
                base = await self.read(partial(loop_table.base_of, loop=live.id))
                if base <= live.state.seq:
                    return count
                await self._load(live)  # the last events were deleted after a snapshot
                continue
            new = [event for event in found if event.seq > state.seq]  # the writer folds too
            count += len(new)
            if not await self._fold(live, state, new):
                await self._load(live)

    async def _fold(self, live: LiveLoop, state: LoopState, new: list[Event]) -> bool:
        """Fold events; return False if the state must be reloaded instead."""
        if new and _rewritten(state.seq, new):
            return False
        if any(event.kind == loop_events.REVISED for event in new):
            configs = await self.read(partial(read_configs, loop=live.id))
            if not state.learn_of(configs):
                return False
        try:
            state.fold_all(new)
        except Exception:  # the newest snapshot holds what was erased
            return False
        return True


def _rewritten(seq: int, events: list[Event]) -> bool:
    """Return whether another process has deleted or renamed some of the events that follow one."""
    if events[-1].seq != seq + len(events):
        return True
    told = (event for event in events if event.kind != loop_events.FORGOTTEN)
    return any(event.decision.startswith(loop_events.ERASED) for event in told)
