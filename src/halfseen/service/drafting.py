"""The decisions of a transaction as its events will leave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from halfseen.agents.ledger import HELD, PENDING
from halfseen.service.fold import LoopState
from halfseen.service.known_decisions import Known, Orphan
from halfseen.service.loop_events import Event


class Draft:
    """State of a decision after uncommitted events, for later requests of the same transaction.

    The decisions are copied to a state of their own, and the events folded there. What that state
    learns is discarded with it.
    """

    def __init__(self, state: LoopState) -> None:
        self._state = state.empty()
        self._folded: dict[str, int] = {}

    def after(
        self, name: str, events: Sequence[Event], entry: Known | None, orphan: Orphan | None
    ) -> tuple[Known | None, Orphan | None]:
        """Return a decision, and the outcomes that wait for it, as events leave them.

        Parameters
        ----------
        name
            The id.
        events
            What the transaction adds about it so far.
        entry, orphan
            What is committed of it.
        """
        state = self._state
        folded = self._folded.get(name)
        if folded is None:
            folded = 0
            self._copy(name, entry, orphan)
        for event in events[folded:]:
            state.seq = event.seq - 1
            state.fold(event)
        self._folded[name] = len(events)
        return state.find(name), state.orphans.get(name)

    def _copy(self, name: str, entry: Known | None, orphan: Orphan | None) -> None:
        ledger: Any = self._state.agent._ledger
        if entry is not None:
            shown = self._state.tally.shown
            shown[entry.shown] = shown.get(entry.shown, 0) + 1
            copied = replace(entry)
            if isinstance(copied.payload, bytes):  # from the log
                copied.payload = np.frombuffer(copied.payload, dtype="<f8")
            (ledger.open if entry.state in (HELD, PENDING) else ledger.settled)[name] = copied
        if orphan is not None:
            self._state.orphans[name] = replace(orphan, rewards=list(orphan.rewards))
