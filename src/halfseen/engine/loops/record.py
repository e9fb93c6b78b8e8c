"""Recording of a checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from halfseen.checks import Vector

if TYPE_CHECKING:
    from halfseen.engine.arguments import Track


def record(
    track: Track,
    place: tuple[int, int],
    regret: float,
    optimism_failed: int,
    censoring_failed: int,
    pulled: Vector,
    seen: Vector,
) -> None:
    """Write the regret, events and counts at a checkpoint; `place` is its row and number."""
    row, checkpoint = place
    track.regret[row, checkpoint] = regret
    track.optimism_failed[row, checkpoint] = optimism_failed
    track.censoring_failed[row, checkpoint] = censoring_failed
    for k in range(pulled.size):
        track.pulls[row, checkpoint, k] = int(pulled[k])
        track.observations[row, checkpoint, k] = int(seen[k])


def record_potential(track: Track, place: tuple[int, int], potential: Vector) -> None:
    """Write the potential of every order."""
    row, checkpoint = place
    for k in range(track.potential.shape[2]):
        track.potential[row, checkpoint, k] = potential[k]


def cleared(vector: Any) -> None:
    """Set a vector to 0."""
    for k in range(vector.size):
        vector[k] = 0.0
