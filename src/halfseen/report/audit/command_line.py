"""The command that repeats an audit."""

from __future__ import annotations

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
        The audit; one of a table in memory gets ``LOG`` for its path, one of a server its scheme
        and ``...`` for the rest of the address, which may hold a password.
    folder
        Where the page is.
    more
        Further options of the command, such as ``traffic``.
    """
    log = quote(found.log)
    if found.log.startswith("the "):
        log = "LOG"
    elif found.log == "standard input":
        log = "-"
    elif "/" not in found.log and found.log in ("postgresql", "postgres", "mysql", "https", "s3"):
        log = f"{found.log}://..."
    asked = found.asked or vars(found.columns)
    options = {k: v for k, v in asked.items() if k not in ONLY_IN_PYTHON} | more
    words = [f"halfseen audit {log}"]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif value not in DEFAULTS and value is not False:
            several = isinstance(value, list | tuple)
            words.append(f"{flag} {quote(','.join(map(str, value)) if several else str(value))}")
    return " ".join([*words, f"--out {quote(str(folder))}"])
