"""Something about a log that its reader must know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from halfseen.tables import brief

SURE = 1e-3  # the chance of a false warning from a test


@dataclass(frozen=True)
class Caution:
    """Something that would change the conclusions.

    Attributes
    ----------
    kind
        Its name, for programs.
    finding
        What was found.
    effect
        What it does to the conclusions.
    remedy
        What to do.
    facts
        The numbers behind it.
    """

    kind: str
    finding: str
    effect: str
    remedy: str
    facts: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.finding} {self.effect} {self.remedy}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Write some of the names.

    >>> listed(["a", "b"]), listed(["a", "b", "c"], 2)
    ('a, b', 'a, b and 1 more')
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(brief(name, 40) for name in names[:most]) + more
