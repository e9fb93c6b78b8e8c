"""Worker threads, so that the main thread can handle Ctrl-C.

Python delivers Ctrl-C only to the main thread, between two bytecode instructions. A compiled loop,
the compiler or a GPU may run for hours within one instruction. They therefore run in separate
threads while the main thread waits.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

PATIENCE = 0.2  # seconds to wait for an interrupted task
LOOK = 0.1  # seconds between two polls of the results
Found = TypeVar("Found")
_END: Any = object()


class Crew:
    """Daemon threads that run tasks from a queue."""

    def __init__(self, workers: int) -> None:
        self._tasks: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self._results: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                self._results.put((task(), None))
            except BaseException as error:
                self._results.put((None, error))

    def submit(self, task: Callable[[], Any]) -> None:
        """Queue a task for the next free thread."""
        self._tasks.put(task)

    def result(self) -> Any:
        """Wait for the next task to end; return its result or raise its exception."""
        while True:
            try:
                found, error = self._results.get(timeout=LOOK)
            except Empty:
                continue
            if error is not None:
                raise error
            return found

    def run(self, task: Callable[[], Found]) -> Found:
        """Run a task alone and return its result.

        It may compile, for which numba imports the modules of kernels. If the calling thread is
        itself importing a module, it runs the task: another thread would wait for that import
        forever.
        """
        if _importing():
            return task()
        self.submit(task)
        return self.result()

    def close(self, patience: float = PATIENCE) -> None:
        """Drop queued tasks and wait some seconds for the running ones."""
        while not self._tasks.empty():
            try:
                self._tasks.get_nowait()
            except Empty:
                break
        for _ in self._threads:
            self._tasks.put(None)
        deadline = time.monotonic() + patience
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))


def stepwise(steps: Iterator[Found]) -> Iterator[Found]:
    """Yield from an iterator that runs in another thread."""
    crew = Crew(1)
    try:
        while True:
            found = crew.run(partial(next, steps, _END))
            if found is _END:
                return
            yield found
    finally:
        crew.close()


def _importing() -> bool:
    """Return whether the calling thread is in the middle of importing a module."""
    machinery = vars(importlib._bootstrap)
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_globals is machinery:
            return True
    return False
