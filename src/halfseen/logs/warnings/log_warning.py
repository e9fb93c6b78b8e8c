"""Warnings about a log, and the checks behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from halfseen.display import Shown

SURE = 1e-3  # level of each test
CHANCE = "Each warning that rests on a test appears by chance in about 1 of 1,000 logs."
State = Literal["found", "small", "not found", "cannot be looked for"]


@dataclass(frozen=True, repr=False)
class LogWarning(Shown):
    """A finding that would change the conclusions.

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
    voids
        True if every rate, factor and mean of the audit is invalid until it is resolved.
    """

    kind: str
    finding: str
    effect: str
    remedy: str
    facts: dict[str, Any] = field(default_factory=dict)
    voids: bool = False

    def __str__(self) -> str:
        return f"{self.finding} {self.effect} {self.remedy}"


@dataclass(frozen=True)
class Check:
    """One check of a log.

    Attributes
    ----------
    kind
        Its name, for programs. The warning may be of a narrower kind.
    looked_for
        What it is, in words.
    state
        "found"; "small": found, but too small to matter; "not found"; "cannot be looked for".
    detail
        What was found, how large it would have had to be, or why it cannot be looked for.
    p
        The p-value, corrected for every choice inside the test; None if it is not a test.
    warning
        The warning, if it was found.
    """

    kind: str
    looked_for: str
    state: State
    detail: str
    p: float | None = None
    warning: LogWarning | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the warning as plain values."""
        return {key: value for key, value in vars(self).items() if key != "warning"}


def judged(
    kind: str, looked_for: str, p: float, warning: LogWarning, *, matters: bool, not_found: str
) -> Check:
    """Return a test's result: a warning, a note if the effect is too small, or nothing found."""
    if p >= SURE:
        return Check(kind, looked_for, "not found", not_found, p)
    if not matters:
        return Check(kind, looked_for, "small", warning.finding, p)
    return Check(kind, looked_for, "found", warning.finding, p, warning)


def unknown(kind: str, looked_for: str, why: str) -> Check:
    """Return a check that could not be made."""
    return Check(kind, looked_for, "cannot be looked for", why)


def checks_in_words(checks: tuple[Check, ...]) -> str:
    """Return what was not found and what could not be looked for, a line each."""
    lines = []
    for state, title in (
        ("not found", "Tested and not found"),
        ("cannot be looked for", "Not testable in this log"),
    ):
        named = [
            f"  {c.looked_for}{f': {c.detail}' if c.detail else ''}"
            for c in checks
            if c.state == state
        ]
        lines += [f"{title}:", *named] if named else []
    return "\n".join([*lines, CHANCE])
