"""The controls of a page, and how their values are read from the URL."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from halfseen import checks
from halfseen.errors import InvalidInput
from halfseen.phrases import counted

LONGEST = 2_000  # longest value in a URL, in characters


@dataclass(frozen=True)
class Control:
    """A slider, or one slider for each entry of a list.

    Attributes
    ----------
    name
        In the address.
    label
        On the page.
    low, high, step
        The range, both ends included, and the step of the slider. On a logarithmic slider the step
        is in decades.
    start
        The initial value: a number, or one for each entry.
    entries
        The least and the largest number of entries of a list; None for a single number.
    whole
        Whether numbers are whole.
    log
        Whether the slider is logarithmic.
    rises
        Whether every entry must be above the one before.
    first
        The number of the first entry on the page.
    follows
        The name of the list that this one must be as long as, and how many entries longer.
    """

    name: str
    label: str
    low: float
    high: float
    step: float
    start: Any
    entries: tuple[int, int] | None = None
    whole: bool = False
    log: bool = False
    rises: bool = False
    first: int = 1
    follows: tuple[str, int] | None = None

    def read(self, text: str | None) -> Any:
        """Return the number or list given in a URL, or the initial value."""
        if text is None:
            return self.start
        parts = text[:LONGEST].split(",")
        if self.entries is None:
            return self._number(parts[0] if len(parts) == 1 else text)
        least, most = self.entries
        if not least <= len(parts) <= most:
            raise InvalidInput(
                self.name,
                f"must be {least} to {most} numbers separated by commas",
                text[:60],
                f"Write {self.write(self.start)}.",
            )
        found = tuple(self._number(part) for part in parts)
        if self.rises and any(high <= low for low, high in pairwise(found)):
            raise InvalidInput(
                self.name,
                "must rise from each number to the next",
                self.write(found),
                "Put the smaller one first.",
            )
        return found

    def _number(self, text: str) -> Any:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InvalidInput(
                self.name, "must be a number", text[:60], f"Write {self.write(self.start)}."
            )
        if self.whole:
            low, high = int(self.low), int(self.high)
            return checks.whole(self.name, value, at_least=low, at_most=high)
        return checks.number(self.name, value, at_least=self.low, at_most=self.high)

    def write(self, value: Any) -> str:
        """Return a value as written in a URL.

        >>> Control("p", "p", 0, 1, 0.1, (0.5,), entries=(1, 3)).write((0.25, 1.0))
        '0.25,1'
        """
        values = value if isinstance(value, tuple) else (value,)
        return ",".join(format(v, ".10g") for v in values)

    def to_dict(self, value: Any) -> dict[str, Any]:
        """Return what the page's script needs to build the sliders."""
        return {
            "name": self.name,
            "label": self.label,
            "low": self.low,
            "high": self.high,
            "step": self.step,
            "entries": self.entries,
            "log": self.log,
            "rises": self.rises,
            "first": self.first,
            "whole": self.whole,
            "follows": self.follows,
            "value": value,
        }


def read_all(controls: tuple[Control, ...], query: Mapping[str, str]) -> dict[str, Any]:
    """Return the value of every control; unknown names and lists that do not fit are refused."""
    names = [control.name for control in controls]
    for name in query:
        if name not in names:
            raise InvalidInput(
                "the address",
                f"must set nothing but {', '.join(names[:-1])} and {names[-1]}",
                name[:60],
                "Leave it out.",
            )
    values = {control.name: control.read(query.get(control.name)) for control in controls}
    for control in controls:
        if control.follows is None:
            continue
        leader, more = control.follows
        wanted = len(values[leader]) + more
        found = values[control.name]
        if len(found) != wanted and control.name not in query:
            values[control.name] = (found * wanted)[:wanted]
        elif len(found) != wanted:
            raise InvalidInput(
                control.name,
                f"must be {counted('number', wanted)}, {_beside(leader, more)}",
                control.write(found),
                f"Give {counted('number', wanted)} separated by commas.",
            )
    return values


def _beside(leader: str, more: int) -> str:
    return f"one for each entry of {leader}" if more == 0 else f"{more} more than {leader}"
