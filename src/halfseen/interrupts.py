"""What Ctrl-C does to the command."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STOPPED = 130  # the exit code of a command that was stopped by Ctrl-C
TIDYING = 5.0  # seconds after which a second Ctrl-C ends the process at once


def leave_at_once() -> None:
    """Let Ctrl-C end the process with one line and exit code 130: there is nothing to lose yet.

    A KeyboardInterrupt would come out of imports and of C code as a traceback.
    """

    def leave(number: int, frame: Any) -> None:
        os.write(2, b"\nStopped.\n")
        os._exit(STOPPED)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


@contextmanager
def heard_once() -> Iterator[None]:
    """Raise KeyboardInterrupt on the first Ctrl-C and ignore others while results are saved.

    Compiled code that is interrupted may raise another error instead (numpy's `tofile` raises
    TypeError): whatever is raised after Ctrl-C leaves as KeyboardInterrupt.
    """
    before = signal.getsignal(signal.SIGINT)
    first = 0.0

    def interrupt(number: int, frame: Any) -> None:
        nonlocal first
        if not first:
            first = time.monotonic()
            raise KeyboardInterrupt
        if time.monotonic() - first > TIDYING:
            os._exit(STOPPED)

    if before in (signal.SIG_IGN, None):
        yield
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except Exception:
        if first:
            raise KeyboardInterrupt from None
        raise
    finally:
        if not first:
            signal.signal(signal.SIGINT, before)
