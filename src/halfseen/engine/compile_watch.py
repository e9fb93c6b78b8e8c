"""Hooks for compilations, so that a progress line can announce them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_watchers: list[Callable[[], None]] = []


@contextmanager
def watching(watcher: Callable[[], None]) -> Iterator[None]:
    """Call the watcher whenever a function is about to be compiled."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def announce() -> None:
    """Tell the watchers that a function is about to be compiled."""
    for watcher in list(_watchers):
        watcher()
