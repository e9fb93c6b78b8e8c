"""Group commit: queued requests are written in one transaction, then folded, then answered."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from halfseen.service.event_log import EventLog
from halfseen.service.exchange import Answer, Item
from halfseen.service.fold import LoopState
from halfseen.service.loop_events import Event
from halfseen.service.planning import Plan
from halfseen.service.refusals import NotStored, QueueFull, Refusal, StorageUnavailable

MOST_ITEMS = 2000  # in one transaction
LONGEST_PAUSE = 0.005  # seconds
FIRST_WAIT, LONGEST_WAIT = 0.05, 2.0  # seconds between tries while the database fails
Answers = list[Answer | Refusal]


def microseconds() -> int:
    """Return the time in microseconds since 1970."""
    return time.time_ns() // 1000


@dataclass(slots=True)
class LiveLoop:
    """A loop that this process serves."""

    id: int
    name: str
    state: LoopState
    archived: bool = False
    base: int = 0  # a replay begins after this event
    snapshot: int = 0  # the event of the newest snapshot


@dataclass(slots=True)
class Call:
    """Queued requests of one client; empty to close a loop's windows.

    A transaction that fails because of its content is retried call by call.
    """

    loop: LiveLoop
    items: Sequence[Item] = ()
    key: str | None = None
    future: asyncio.Future[Answers] | None = None
    answers: Answers = field(default_factory=list)
    alone: bool = False


class Writer:
    """The one writer of this process.

    Parameters
    ----------
    log
        The log on a connection of its own.
    queue_limit
        How many items may wait; more are refused.
    catch_up
        Called with a loop and the events that other processes have added to it.
    put_aside
        Called with a loop that cannot be folded and the reason; returns the error for its requests.
    clock
        The time in microseconds.
    """

    def __init__(
        self,
        log: EventLog,
        *,
        queue_limit: int,
        catch_up: Callable[[LiveLoop, list[Event]], None],
        put_aside: Callable[[LiveLoop, Exception], Refusal],
        clock: Callable[[], int] = microseconds,
    ) -> None:
        self.log, self.clock, self.queue_limit = log, clock, queue_limit
        self._catch_up, self._put_aside = catch_up, put_aside
        self._calls: deque[Call] = deque()
        self._jobs: deque[tuple[Callable[[EventLog], Any], asyncio.Future[Any]]] = deque()
        self._sweeps: dict[int, LiveLoop] = {}
        self._wake = asyncio.Event()
        self._pool = ThreadPoolExecutor(1, "halfseen-writer")
        self._closing = False
        self.queued = 0
        self.failing = False
        self.failures = 0
        self.commit_seconds: deque[float] = deque(maxlen=10_000)
        self._usual = 0.0  # recent duration of a commit in seconds
        self._expected = 1  # calls in progress when the last transaction ended
        self._enough: asyncio.Future[None] | None = None
        self._task = asyncio.get_running_loop().create_task(self._run())

    def submit(
        self, loop: LiveLoop, items: Sequence[Item], key: str | None
    ) -> asyncio.Future[Answers]:
        """Queue requests; the answers come once their events are on disk."""
        self._refuse_if_closing()
        if self.queued + len(items) > self.queue_limit:
            raise QueueFull(
                f"{self.queued:,} requests are queued; at most {self.queue_limit:,} may be."
                " Nothing was stored.",
                fix="Try again in a second.",
            )
        future: asyncio.Future[Answers] = asyncio.get_running_loop().create_future()
        self._calls.append(Call(loop, items, key, future))
        self.queued += len(items)
        self._wake.set()
        if self._enough is not None and len(self._calls) >= self._expected:
            _finish(self._enough)
        return future

    def _refuse_if_closing(self) -> None:
        if self._closing:
            raise StorageUnavailable("The service is stopping. Nothing was stored; try again.")

    def sweep(self, loop: LiveLoop) -> None:
        """Close the windows of a loop that have passed, with the next transaction."""
        self._sweeps[loop.id] = loop
        self._wake.set()

    async def do(self, job: Callable[[EventLog], Any]) -> Any:
        """Run a job with the log in the writer's thread, between transactions."""
        self._refuse_if_closing()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.append((job, future))
        self._wake.set()
        return await future

    async def close(self) -> None:
        """Write queued requests, then stop."""
        self._closing = True
        self._wake.set()
        await self._task
        self._pool.shutdown()
        self.log.close()

    async def _run(self) -> None:
        wait = FIRST_WAIT
        while True:
            if not (self._calls or self._jobs or self._sweeps):
                if self._closing:
                    return
                if self.failing:
                    wait = await self._probe(wait)
                    continue
                self._wake.clear()
                await self._wake.wait()
                continue
            while self._jobs:
                await self._run_job(*self._jobs.popleft())
            if not (self._calls or self._sweeps):
                continue
            if len(self._calls) < self._expected:
                await self._gather()
            if await self._transaction():
                wait, self.failing = FIRST_WAIT, False
                continue
            self.failing = True
            wait = await self._failed(wait)

    async def _probe(self, wait: float) -> float:
        """Test whether the database can be written again; return how long to wait if not."""
        try:
            await self._in_thread(self.log.probe)
        except StorageUnavailable:
            return await self._failed(wait)
        self.failing = False
        return FIRST_WAIT

    async def _failed(self, wait: float) -> float:
        """Wait after a failure; return how long to wait after the next one."""
        self.failures += 1
        await asyncio.sleep(0.0 if self._closing else wait)
        return min(2.0 * wait, LONGEST_WAIT)

    async def _gather(self) -> None:
        """Wait for the clients that were just answered, at most half as long as a commit takes."""
        loop = asyncio.get_running_loop()
        self._enough = loop.create_future()
        pause = min(0.5 * self._usual, LONGEST_PAUSE)
        timer = loop.call_later(pause, _finish, self._enough)
        await self._enough
        timer.cancel()
        self._enough = None

    async def _run_job(self, job: Callable[[EventLog], Any], future: asyncio.Future[Any]) -> None:
        try:
            result = await self._in_thread(job, self.log)
        except Exception as error:
            self.log.rollback()
            self.failing = self.failing or isinstance(error, StorageUnavailable)
            if not future.cancelled():
                future.set_exception(error)
            return
        if not future.cancelled():
            future.set_result(result)

    def _in_thread(self, function: Callable[..., Any], *values: Any) -> asyncio.Future[Any]:
        return asyncio.get_running_loop().run_in_executor(self._pool, function, *values)

    def _taken(self) -> list[Call]:
        """Take the calls of the next transaction from the queue."""
        if self._calls and self._calls[0].alone:
            return [self._calls.popleft()]
        calls: list[Call] = []
        items = 0
        while self._calls and items < MOST_ITEMS:
            call = self._calls.popleft()
            items += len(call.items)
            calls.append(call)
        sweeps, self._sweeps = self._sweeps, {}
        return calls + [Call(loop) for loop in sweeps.values()]

    async def _transaction(self) -> bool:
        """Write queued requests; return False if the database failed."""
        calls = self._taken()
        if not calls:
            return True
        loops = {call.loop.id: call.loop for call in calls}
        server = self.log.server
        wanted = [(loop, self._unknown(loop, calls)) for _, loop in sorted(loops.items())]
        try:
            opened = self._open(wanted) if not server else await self._in_thread(self._open, wanted)
            lost = self._follow(opened)
            plans = {} if lost else self._plan(calls, opened)
            again = any(plan.set_back for plan in plans.values())
            events = [event for plan in plans.values() for event in plan.events]
            if events:
                began = time.perf_counter()
                grown = [number for number, plan in plans.items() if plan.events]
                if server:
                    await self._in_thread(self._write, events, grown)
                else:
                    self.log.append(events)
                    await self._in_thread(self.log.commit)
                self._took(time.perf_counter() - began)
            elif server:
                await self._in_thread(self.log.rollback)
            else:
                self.log.rollback()
        except StorageUnavailable as refusal:
            if not self.failing:
                print(f"halfseen: {refusal.in_full()}", file=sys.stderr)
            self._fail(calls, refusal)
            return False
        except Exception as error:
            self.log.rollback()
            if len(calls) > 1:
                self._calls.extendleft(replace(call, alone=True) for call in reversed(calls))
                return True
            reason = error.in_full() if isinstance(error, NotStored) else type(error).__name__
            print(f"halfseen: loop {calls[0].loop.name}: {reason}", file=sys.stderr)
            self._fail(calls, error)
            return True
        if lost:
            self._calls.extendleft(reversed(self._refuse(calls, lost)))
            return True
        for number, plan in plans.items():
            loop = loops[number]
            if plan.events and loop.state.seq >= plan.events[0].seq - 1:  # else the next catches up
                try:
                    loop.state.fold_all(plan.events)
                except Exception as error:
                    lost[number] = self._put_aside(loop, error)
        if again:
            self._calls.extendleft(reversed(self._refuse(calls, lost)))
            return True
        self._answer(self._refuse(calls, lost))
        return True

    def _follow(self, opened: list[Any]) -> dict[int, Refusal]:
        """Fold the events of other processes; return the errors of loops that cannot be folded."""
        lost = {}
        for loop, tip, newer, _ in opened:
            try:
                if tip > loop.state.seq:
                    self._catch_up(loop, newer)
                if tip > loop.state.seq:  # the last events were deleted after a snapshot
                    self._catch_up(loop, [])
            except StorageUnavailable:
                raise
            except Exception as error:
                lost[loop.id] = self._put_aside(loop, error)
        return lost

    def _refuse(self, calls: list[Call], lost: dict[int, Refusal]) -> list[Call]:
        """Refuse the calls of loops that cannot be folded; return the others."""
        for number, refusal in lost.items():
            self._fail([call for call in calls if call.loop.id == number], refusal)
        return [call for call in calls if call.loop.id not in lost]

    def _took(self, seconds: float) -> None:
        self.commit_seconds.append(seconds)
        self._usual += 0.1 * (seconds - self._usual)

    def _unknown(self, loop: LiveLoop, calls: list[Call]) -> list[str]:
        """Return the ids to look up because they may have been dropped from memory."""
        state = loop.state
        if state.complete and loop.base == 0:
            return []
        items = (item for call in calls if call.loop is loop for item in call.items)
        names = [item.id for item in items if type(item.id) is str]
        return [name for name in names if state.find(name) is None]

    def _open(self, wanted: list[tuple[LiveLoop, list[str]]]) -> list[Any]:
        """Begin the transaction; return each loop's newer events and stored decisions."""
        tips = self.log.begin([loop.id for loop, _ in wanted])
        opened = []
        for loop, names in wanted:
            newer: list[Event] = []
            if tips[loop.id] > loop.state.seq:
                newer = list(self.log.all_events(loop.id, loop.state.seq))
            stored = self.log.events_of(loop.id, names) if names else {}
            opened.append((loop, tips[loop.id], newer, stored))
        return opened

    def _plan(self, calls: list[Call], opened: list[Any]) -> dict[int, Plan]:
        """Plan all requests, and store their answers in the calls."""
        now = self.clock()
        plans = {}
        for loop, _, _, stored in opened:
            plans[loop.id] = Plan(loop.state, now, stored, archived=loop.archived)
        if any(plan.set_back for plan in plans.values()):
            return {number: plan for number, plan in plans.items() if plan.set_back}
        for call in calls:
            plan = plans[call.loop.id]
            call.answers = [plan.answer(item, call.key) for item in call.items]
            if call.future is None:
                plan.sweep()
        return plans

    def _write(self, events: list[Event], grown: list[int]) -> None:
        self.log.append(events)
        self.log.commit(grown)

    def _answer(self, calls: list[Call]) -> None:
        self._expected = len(self._calls) + sum(call.future is not None for call in calls)
        for call in calls:
            self.queued -= len(call.items)
            if call.future is not None and not call.future.done():
                call.future.set_result(call.answers)

    def _fail(self, calls: list[Call], error: Exception) -> None:
        for call in calls:
            self.queued -= len(call.items)
            if call.future is not None and not call.future.done():
                call.future.set_exception(error)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
