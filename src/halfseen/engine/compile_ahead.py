"""Compile the loops of a study's later cells in other processes while the first cell plays.

Numba compiles one function at a time in a process. Each process here is a plain ``python -c`` that
receives pickled cells, compiles their loops into the cache of compiled code and ends when there are
no more, or when this process ends. It never runs the user's main script: functions defined only in
that script are compiled by the process that plays them, as is anything that fails to compile here.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from halfseen.engine.backends.cpu import cores
from halfseen.engine.code_cache import can_write, stems_kept
from halfseen.engine.compile_watch import announce
from halfseen.engine.crew import LOOK, Crew
from halfseen.engine.native_call import NativeCall
from halfseen.engine.player import AnyCell, cell_loop, ready
from halfseen.engine.specialise import compiled

VARIABLE = "HALFSEEN_COMPILE_AHEAD"
MOST_PROCESSES = 8  # each takes about 0.2 GB
MOST_BYTES = 2**26  # largest pickled cell that is sent to another process
PATIENCE = 120.0  # seconds to wait for code that another process compiles
DONE = b"halfseen compiled\n"
WORKER = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer);"
    " from halfseen.engine.compile_ahead import work; work()"
)


@dataclass(eq=False)
class Job:
    """A cell whose loop is to be compiled."""

    cell: AnyCell
    content: bytes
    ended: Event = field(default_factory=Event)


@contextmanager
def compiling_ahead(cells: Sequence[AnyCell], threads: int) -> Iterator[Callable[[AnyCell], None]]:
    """Compile loops of cells that are about to be played in this order.

    Yields a function to call before a cell is played: it waits for code that another process is
    compiling, and compiles other cells in the meantime.
    """
    most = min(threads - 1, spare_cores(), _most_processes())
    jobs = _jobs(cells) if most > 0 and len(cells) > 1 and can_write() else {}
    if not jobs:
        yield lambda cell: None
        return
    pool = Pool()
    try:
        pool.start(list(jobs.values()), most)
        yield lambda cell: pool.settle(jobs.get(cell_loop(cell, compiled)))
    finally:
        pool.close()


def spare_cores() -> int:
    """Return the number of idle cores, not counting the one this process uses."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return min(cores() - 1, round(cores() - load))


def _most_processes() -> int:
    """Return how many processes may be started; 0 if they cannot help."""
    told = os.environ.get(VARIABLE, "").strip()
    if told.isdecimal():
        return int(told)
    # An application that embeds Python would start itself again.
    is_python = os.path.basename(sys.executable or "").lower().startswith(("python", "pypy"))
    return MOST_PROCESSES if is_python and not getattr(sys, "frozen", False) else 0


def _jobs(cells: Sequence[AnyCell]) -> dict[Any, Job]:
    """Return the cells to compile by their loops, one cell per loop, without the first cell's."""
    loops: dict[Any, AnyCell] = {}
    for cell in cells:
        loops.setdefault(cell_loop(cell, compiled), cell)
    loops.pop(cell_loop(cells[0], compiled))
    kept = stems_kept()
    found = {}
    for loop, cell in loops.items():
        if isinstance(loop, NativeCall) and loop.may_be_kept and not kept & set(loop.stems):
            with suppress(Exception):  # user classes may raise anything when pickled
                content = pickle.dumps(cell)
                if len(content) <= MOST_BYTES and b"__main__" not in content:
                    found[loop] = Job(cell, content)
    return found


def as_a_process_gets_it(noun: Any) -> Any:
    """Return a pickled copy, or the object itself if another process could not import its class.

    >>> as_a_process_gets_it((0.5, "arm"))
    (0.5, 'arm')
    """
    try:
        return pickle.loads(pickle.dumps(noun))
    except (pickle.PicklingError, AttributeError):  # made in a function or a notebook
        return noun


class Pool:
    """Processes that compile jobs in order."""

    def __init__(self) -> None:
        self._waiting: deque[Job] = deque()
        self._lock = Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[Thread] = []

    def start(self, jobs: list[Job], most: int) -> None:
        """Start a process per job, at most `most`, or as many as the system allows."""
        self._waiting.extend(jobs)
        with suppress(OSError):
            while len(self._processes) < min(most, len(jobs)):
                self._processes.append(_process())
        for process in self._processes:
            self._threads.append(Thread(target=self._feed, args=(process,), daemon=True))
            self._threads[-1].start()

    def _feed(self, process: subprocess.Popen[bytes]) -> None:
        """Send jobs to a process one by one, each when the previous one has finished."""
        assert process.stdin is not None
        assert process.stdout is not None
        job: Job | None = None
        with suppress(OSError), process.stdin:  # the process ends when it is closed
            pickle.dump(sys.path, process.stdin)
            while (job := self._take(0)) is not None:
                pickle.dump(job.content, process.stdin)
                process.stdin.flush()
                if DONE not in iter(process.stdout.readline, b""):
                    break
                job.ended.set()
        if job is not None:
            job.ended.set()

    def _take(self, place: int) -> Job | None:
        """Return the next job, or with -1 the last one, that nobody has taken."""
        with self._lock:
            if not self._waiting:
                return None
            job = self._waiting[place]
            del self._waiting[place]
            return job

    def settle(self, job: Job | None) -> None:
        """Wait until a job is done or left to the caller."""
        if job is None:
            return
        with self._lock:
            if job in self._waiting:
                self._waiting.remove(job)
                job.ended.set()
        deadline = time.monotonic() + PATIENCE
        while not job.ended.is_set() and time.monotonic() < deadline:
            announce()
            other = self._take(-1)
            if other is not None:
                _compile_here(other.cell)
                other.ended.set()
            else:
                job.ended.wait(LOOK)

    def close(self) -> None:
        """End the processes, even in the middle of a job."""
        with self._lock:
            self._waiting.clear()
        for process in self._processes:
            process.kill()
        for thread in self._threads:
            thread.join()
        for process in self._processes:
            with process:  # closes its pipes and waits for it
                pass


def _process() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-c", WORKER],
        env=os.environ | {VARIABLE: "0"},  # for user modules that simulate when imported
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _compile_here(cell: AnyCell) -> None:
    """Compile a cell's loop in a thread; errors are raised when the cell is played."""
    crew = Crew(1)
    try:
        with suppress(Exception):
            crew.run(partial(ready, cell))
    finally:
        crew.close()


def work() -> None:
    """Compile the cells that arrive on stdin, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # discards output of imported modules
    arrived: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(arrived,), daemon=True).start()
    while True:
        with suppress(Exception):  # the process that plays the cell tries again and reports it
            ready(pickle.loads(arrived.get()))
        answers.write(DONE)


def _listen(arrived: SimpleQueue[bytes]) -> None:
    """Pass on incoming data; end this process immediately when the input is closed."""
    with suppress(Exception):
        while True:
            arrived.put(pickle.load(sys.stdin.buffer))
    os._exit(0)
