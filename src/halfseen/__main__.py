"""The command, which can be left with Ctrl-C from its first moment on."""

from __future__ import annotations

from typing import NoReturn

from halfseen.interrupts import leave_at_once


def main() -> NoReturn:
    """Run the command."""
    leave_at_once()
    from halfseen.cli import main as run

    run()


if __name__ == "__main__":
    main()
