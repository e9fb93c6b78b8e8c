"""The loops that a process serves, each at the end of its log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from halfseen.service import loop_events, loop_table
from halfseen.service.database import Database
from halfseen.service.event_log import EventLog
from halfseen.service.fold import LoopState, Refold
from halfseen.service.loop_config import LoopConfig
from halfseen.service.loop_events import Event
from halfseen.service.refusals import UnknownLoop
from halfseen.service.state_snapshots import load_state, read_configs
from halfseen.service.writer import LiveLoop

Result = TypeVar("Result")


class LiveLoops:
    """The loops of a database, read on a connection of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._reader = EventLog(database)
        self._reading = asyncio.Lock()
        self._loops: dict[str, LiveLoop] = {}
        self._by_id: dict[int, LiveLoop] = {}

    def loops(self) -> list[LoopConfig]:
        """Return the configuration of every loop."""
        return [loop.state.config for loop in self._loops.values()]

    def loop(self, name: str) -> LiveLoop:
        """Return a loop by its name; UnknownLoop if there is none."""
        found = self._loops.get(name)
        if found is None:
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
        """Run a query on the connection for reading, in a thread."""
        async with self._reading:
            return await asyncio.to_thread(query, self._reader)

    async def refresh_loops(self) -> None:
        """Take in the loops that are new in the database, and what was archived."""
        for number, name, archived, base in await self.read(loop_table.listed):
            live = self._by_id.get(number)
            if live is None:
                configs = await self.read(partial(read_configs, loop=number))
                state, snapshot = await self.read(
                    partial(load_state, loop=number, base=base, configs=configs)
                )
                if number in self._by_id:
                    continue
                live = LiveLoop(number, name, state, snapshot=snapshot)
                self._loops[name] = self._by_id[number] = live
            live.archived, live.base = archived is not None, base

    def _catch_up(self, log: EventLog, live: LiveLoop, events: list[Event]) -> None:
        """Fold what other processes have added; called inside the writer's transaction."""
        new = [event for event in events if event.seq > live.state.seq]  # the tail folds, too
        try:
            if new and new[0].seq == live.state.seq + 1:
                live.state.fold_all(new)
                return
        except Refold:
            if live.state.learn_of(read_configs(log, live.id)):
                live.state.fold_all(new)
                return
        # Other rules, or events that another process has deleted after it took a snapshot.
        live.base = loop_table.base_of(log, live.id)
        configs = read_configs(log, live.id)
        live.state, live.snapshot = load_state(log, live.id, live.base, configs)

    async def _reload(self, live: LiveLoop) -> None:
        """Take in newer events of one loop, and a new configuration."""
        configs = await self.read(partial(read_configs, loop=live.id))
        if max(configs) != max(live.state.configs) and not live.state.learn_of(configs):
            await self._load(live)
        await self.follow(live)

    async def _load(self, live: LiveLoop) -> None:
        """Load the state of a loop anew."""

        def load(log: EventLog) -> tuple[int, LoopState, int]:
            base = loop_table.base_of(log, live.id)
            return base, *load_state(log, live.id, base, read_configs(log, live.id))

        live.base, live.state, live.snapshot = await self.read(load)

    async def follow(self, live: LiveLoop) -> int:
        """Fold the events of a loop that this process has not seen; return how many."""
        count = 0
        while True:
            state = live.state
            found = await self.read(partial(EventLog.read, loop=live.id, after=state.seq))
            if live.state is not state:
                continue
            if not found:
                return count
            new = [event for event in found if event.seq > state.seq]  # the writer folds, too
            count += len(new)
            if new and new[0].seq > state.seq + 1:
                await self._load(live)
                continue
            if any(event.kind == loop_events.REVISED for event in new):
                configs = await self.read(partial(read_configs, loop=live.id))
                if not state.learn_of(configs):
                    await self._load(live)
                    continue
            state.fold_all(new)
