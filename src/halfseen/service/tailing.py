"""Following the events of other processes on the same database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from halfseen.errors import HalfseenError
from halfseen.service.database import Database
from halfseen.service.event_log import CHANNEL, EventLog, driver_errors, end_thread
from halfseen.service.refusals import LoopAside, StorageUnavailable

if TYPE_CHECKING:
    from halfseen.service.decision_service import Service

POLL_SECONDS = 0.2
Result = TypeVar("Result")


class Tail:
    """Folds the events of other processes: notified by the server, and polled every 200 ms.

    Attributes
    ----------
    lag
        How many events the process had not folded when it last looked.
    failing
        True while the database cannot be read.
    """

    def __init__(self, database: Database, service: Service) -> None:
        self._service, self._database = service, database
        self._log = EventLog(database)
        self._listener: Any = None
        self._errors = driver_errors()
        self._pool = ThreadPoolExecutor(1, "halfseen-tail")
        self._closed = False
        self.lag = 0
        self.failing = False

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            try:
                await self._something_new()
                await self._service.refresh_loops()
                await self._follow()
                self.failing = False
            except HalfseenError:
                self.failing = True
                await asyncio.sleep(POLL_SECONDS)

    async def _follow(self) -> None:
        live = list(self._service._by_id.values())
        tips = await self._in_thread(lambda: [self._log.tip(loop.id) for loop in live])
        behind = [max(0, tip - loop.state.seq) for loop, tip in zip(live, tips, strict=True)]
        self.lag = sum(behind)
        for loop, count in zip(live, behind, strict=True):
            if count:
                with suppress(LoopAside):
                    await self._service.follow(loop)

    def _in_thread(self, function: Callable[[], Result]) -> asyncio.Future[Result]:
        return asyncio.get_running_loop().run_in_executor(self._pool, function)

    async def _something_new(self) -> None:
        """Wait until something is written, or for a moment."""
        if self._database.server:
            await self._in_thread(self._listen)
        else:
            await asyncio.sleep(POLL_SECONDS)

    def _listen(self) -> None:
        try:
            if self._listener is None:
                self._listener = self._database.connect()
                self._listener.execute(f"LISTEN {CHANNEL}")
            for _ in self._listener.notifies(timeout=POLL_SECONDS, stop_after=1):
                pass
        except self._errors as error:
            self._close_listener()
            raise StorageUnavailable(f"The database cannot be read now ({error}).") from None

    def _close_listener(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            with suppress(*self._errors):
                listener.close()

    def close(self) -> None:
        """Close the connections once the thread that uses them has ended."""
        if not self._closed:
            self._closed = True
            end_thread(self._pool, self._disconnect, server=self._database.server)

    def _disconnect(self) -> None:
        self._close_listener()
        self._log.close()
