"""The sample log of `halfseen audit demo`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit

NAME = "demo"


def is_demo(log: str) -> bool:
    """Return whether the sample log is requested; a file of that name is read as a log."""
    return log == NAME and not Path(log).exists()


def run_demo(options: dict[str, Any]) -> Audit:
    """Audit the sample log, with its own columns where none were named, and say so on stderr."""
    from halfseen.logs.audit import audit
    from halfseen.logs.datasets import load_demo

    data = load_demo()
    named = data.columns | {name: value for name, value in options.items() if value is not None}
    given = " ".join(f"--{name.replace('_', '-')} {data.columns[name]}" for name in data.columns)
    print(
        f"{data.description}\nFor a log of your own: halfseen audit FILE {given}\n", file=sys.stderr
    )
    return replace(audit(data.log, **named), log=NAME)
