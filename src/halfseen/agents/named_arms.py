"""The arms of an agent, by number or by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.errors import InvalidInput

Playable = np.ndarray[Any, np.dtype[np.uint8]]
MOST = 10_000_000


@dataclass(frozen=True)
class Arms:
    """How many arms there are, and their names if they have any."""

    count: int
    names: tuple[str, ...] | None = None
    places: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def checked(cls, arms: Any) -> Arms:
        """Return the arms from their number or their names, or refuse."""
        if isinstance(arms, str | bytes) or not isinstance(arms, Iterable):
            return cls(checks.whole("Agent.arms", arms, at_least=1, at_most=MOST))
        names = tuple(arms)
        for place, name in enumerate(names):
            if not isinstance(name, str) or not name:
                raise InvalidInput(
                    f"Agent.arms[{place}]", "must be a name", name, 'Use text, as in ["a", "b"].'
                )
        places = {name: place for place, name in enumerate(names)}
        if len(places) < len(names):
            twice = next(name for place, name in enumerate(names) if places[name] != place)
            raise InvalidInput("Agent.arms", "must name each arm once", twice, "Leave one out.")
        checks.whole("Agent.arms", len(names), at_least=1, at_most=MOST)
        return cls(len(names), names, places)

    def name(self, place: int) -> Any:
        """Return what an arm is called: its name, or else its number."""
        return place if self.names is None else self.names[place]

    def place(self, what: str, arm: Any) -> int:
        """Return the number of an arm that is called so, or refuse."""
        if self.names is not None:
            if isinstance(arm, str) and arm in self.places:
                return self.places[arm]
            few = ", ".join(self.names[:5]) + (", ..." if len(self.names) > 5 else "")
            raise InvalidInput(what, f"must name an arm ({few})", arm, "Leave it out.")
        whole = isinstance(arm, int | np.integer) and not isinstance(arm, bool)
        if not whole or not 0 <= arm < self.count:
            raise InvalidInput(
                what, f"must name arms from 0 to {self.count - 1}", arm, "Leave it out."
            )
        return int(arm)

    def playable(self, available: Iterable[Any]) -> Playable:
        """Return a 1 for every arm on offer, else a 0."""
        if isinstance(available, str | bytes) or not isinstance(available, Iterable):
            raise InvalidInput("available", "must name arms in a list", available, "Use [0, 1].")
        playable = np.zeros(self.count, np.uint8)
        offered = list(available)
        for arm in offered:
            playable[self.place("available", arm)] = 1
        if not offered:
            raise InvalidInput("available", "must name at least one arm", offered, "Add an arm.")
        return playable
