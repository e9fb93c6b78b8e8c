"""Output of loops with late feedback: one row per replication, one column per checkpoint."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector


class LateTrack(NamedTuple):
    """A track with the open decisions of each arm: those whose feedback may still arrive."""

    regret: Vector
    pulls: NDArray[Any]
    observations: NDArray[Any]
    potential: Vector
    optimism_failed: NDArray[np.int8]
    censoring_failed: NDArray[np.int8]
    pending: NDArray[Any]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return self._asdict()

    def rows(self, first: int, last: int) -> LateTrack:
        """Return the part that belongs to some replications."""
        return type(self)._make(array[first:last] for array in self)


class LateWinnerTrack(NamedTuple):
    """A track with the open decisions, and the first winner declared as in `WinnerTrack`."""

    regret: Vector
    pulls: NDArray[Any]
    observations: NDArray[Any]
    potential: Vector
    optimism_failed: NDArray[np.int8]
    censoring_failed: NDArray[np.int8]
    winner: NDArray[Any]
    winner_round: NDArray[Any]
    pending: NDArray[Any]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return self._asdict()

    def rows(self, first: int, last: int) -> LateWinnerTrack:
        """Return the part that belongs to some replications."""
        return type(self)._make(array[first:last] for array in self)


class LateLinearTrack(NamedTuple):
    """A track of vectors with the open decisions of each action or region."""

    regret: Vector
    pulls: NDArray[Any]
    observations: NDArray[Any]
    potential: Vector
    optimism_failed: NDArray[np.int8]
    censoring_failed: NDArray[np.int8]
    spread: Vector
    eigenvalues: Vector
    pending: NDArray[Any]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return self._asdict()

    def rows(self, first: int, last: int) -> LateLinearTrack:
        """Return the part that belongs to some replications."""
        return type(self)._make(array[first:last] for array in self)
