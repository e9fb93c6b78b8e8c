"""The command that repeats an audit."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit

ONLY_IN_PYTHON = ("cost", "level")  # options of `halfseen.audit` that the command does not have
DEFAULTS: tuple[Any, ...] = (None, (), [], "", ".")


def command_line(found: Audit, folder: Path, more: dict[str, Any]) -> str:
    """Return the command that makes the same page.

    Parameters
    ----------
    found
        The audit; a table in memory or standard input gets ``LOG`` for its path, a server its
        scheme and ``...`` for the rest of the address, which may hold a password.
    folder
        Where the page is.
    more
        Further options of the command, such as ``traffic``.
    """
    piped = found.log == "standard input"
    asked = found.asked or vars(found.columns)
    options = {k: v for k, v in asked.items() if k not in ONLY_IN_PYTHON} | more
    words = [f"halfseen audit {log_in_command(found.log)}"]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif name == "fail_if":
            words += [f"{flag} {quote(limit)}" for limit in value or ()]
        elif value not in DEFAULTS and value is not False:
            words.append(f"{flag} {quote(_written(value))}")
    return " ".join([*words, f"--out {quote(str(folder))}", *(["< LOG"] if piped else [])])


def _written(value: Any) -> str:
    """Write an option's value; in a list, names that contain a comma are quoted."""
    if not isinstance(value, list | tuple):
        return str(value)
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(value)
    return line.getvalue()


def log_in_command(log: str) -> str:
    """Return a log's name as a command takes it.

    >>> log_in_command("the log.csv"), log_in_command("the dict"), log_in_command("postgresql")
    ("'the log.csv'", 'LOG', 'postgresql://...')
    """
    if log.removeprefix("the ").isidentifier() and log.startswith("the "):  # an object in Python
        return "LOG"
    if log == "standard input":
        return "-"
    if "/" not in log and log in ("postgresql", "postgres", "mysql", "https", "s3"):
        return f"{log}://..."
    return quote(log)
