"""Output that survives a closed pipe, and answers that survive a failing report."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from halfseen.errors import one_line

Page = TypeVar("Page", bound=Path | None)


def print_json(content: Any) -> None:
    """Print plain values as JSON; infinities and NaN become null."""
    from halfseen.logs.audit_export import plain

    print(json.dumps(plain(content), indent=1, allow_nan=False))


def print_text(text: object) -> None:
    """Print text with control characters escaped."""
    print("\n".join(map(one_line, str(text).split("\n"))))


def answer_first(
    text: Callable[[], None],
    content: Callable[[Path | None], dict[str, Any]],
    as_json: bool,
    write: Callable[[], Page],
) -> Page:
    """Print an answer before its page is written; JSON, which names the page, after it.

    Parameters
    ----------
    text
        Prints the answer.
    content
        Returns it as plain values, given the page or None if there is none.
    as_json
        Which of the two is wanted.
    write
        Writes the page.
    """
    if not as_json:
        try:
            text()
            sys.stdout.flush()
        except BrokenPipeError:
            output_to_nowhere()
        return write()
    try:
        page = write()
    except Exception:
        print_json(content(None))
        raise
    print_json(content(page))
    return page


def output_to_nowhere() -> None:
    """Discard all further output, including what is buffered."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, io.UnsupportedOperation):  # a stream without a file
        sys.stdout = io.StringIO()
