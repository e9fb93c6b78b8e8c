"""Fingerprints of the code with which an agent was saved: other code would misread its state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from halfseen.errors import InvalidInput, StorageError
from halfseen.fingerprint import NoFingerprint, fingerprint


def code_of(**parts: Any) -> dict[str, str]:
    """Return the fingerprints of an agent's parts, or refuse what has none."""
    found = {}
    for name, part in parts.items():
        try:
            found[name] = fingerprint(part)
        except NoFingerprint as error:
            raise InvalidInput(
                name,
                f"must be made of code and values to be saved ({error})",
                part,
                "Give it plain numbers, arrays and functions only.",
            ) from None
    return found


def check_code(path: Path | str, saved: dict[str, str], now: dict[str, str]) -> None:
    """Refuse an agent whose code is not what it was when it was saved."""
    changed = [name for name in now if saved.get(name) != now[name]]
    if changed:
        raise StorageError(
            f"{path} was saved with other code of its {' and '.join(changed)}: its numbers would"
            " mean something else now. Load it with the code it was saved with, or begin a new"
            " agent."
        )
