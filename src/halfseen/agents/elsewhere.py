"""Decisions that are proposed by one agent and recorded by others that share its log."""

from __future__ import annotations

from abc import abstractmethod
from hashlib import sha256
from struct import unpack
from threading import RLock
from typing import Any, NamedTuple

from halfseen.agents.ledger import HELD, Entry, Ledger
from halfseen.draws import Stream, uniform
from halfseen.errors import DecisionError, shorten


class Turn(NamedTuple):
    """The inputs of the random draws of one decision, besides the agent's state."""

    clock: int
    key: tuple[int, int]
    coin: float  # uniform; decides whether the floor chooses


class Shared:
    """Methods of agents that share a log of decisions.

    Such an agent never calls `choose`: it proposes, the decision is logged, and every agent that
    reads the log records it. The draws of a proposal depend on the seed and the decision's id, so
    neither the process nor the order of proposals matters, and a proposal leaves no trace.
    """

    seed: int
    floor: float
    _key: tuple[int, int]
    _floor_stream: Stream
    _ledger: Ledger
    _lock: RLock

    def _turn(self) -> Turn:
        """Return the agent's own next turn."""
        clock = self._ledger.made + 1
        coin = uniform(self._floor_stream, clock, 0) if self.floor > 0.0 else 1.0
        return Turn(clock, self._key, coin)

    @abstractmethod
    def _decide(self, offer: Any, turn: Turn) -> Entry:
        """Return a new decision that is not recorded yet."""

    @abstractmethod
    def _arrays(self) -> tuple[Any, ...]:
        """Return the arrays of the state, which `choose` may use as workspace."""

    def _show(self, entry: Entry) -> None:
        """Record that a decision is shown."""

    def propose(self, offer: Any = None, *, id: str, ahead: int = 0) -> Entry:
        """Return the agent's decision under this id without recording it.

        Parameters
        ----------
        offer
            The arms on offer, as a 1 or 0 for each, None for all; or the actions of a linear agent.
        id
            The decision's id, of which the draws are a function.
        ahead
            How many decisions were proposed that are not recorded yet.
        """
        digest = sha256(f"{self.seed}/decision/{id}".encode()).digest()
        first, second, third = unpack("<IIQ", digest[:16])
        coin = (third >> 11) * 2.0**-53
        turn = Turn(self._ledger.made + 1 + ahead, (first, second), coin)
        with self._lock:
            arrays = self._arrays()
            kept = [array.copy() for array in arrays]
            try:
                return self._decide(offer, turn)
            finally:
                for array, before in zip(arrays, kept, strict=True):
                    array[...] = before

    def record(self, entry: Entry) -> None:
        """Record a decision made on the same log, held or shown; it gets its number."""
        ledger = self._ledger
        with self._lock:
            if entry.id in ledger.open or entry.id in ledger.settled:
                raise DecisionError(
                    f"Decision {shorten(entry.id)} was made already. Nothing was changed."
                )
            if entry.state != HELD:
                self._show(entry)
            ledger.add(entry)
            entry.number = entry.since

    def forget(self, id: str) -> None:
        """Drop a settled decision from memory; what was learned from it stays."""
        with self._lock:
            self._ledger.settled.pop(id, None)
