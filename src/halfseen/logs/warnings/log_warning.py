"""Something about a log that its reader must know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
