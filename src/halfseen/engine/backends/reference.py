"""The reference engine: the loop and the kernels as plain Python."""

from __future__ import annotations

from collections.abc import Callable

from halfseen.engine.arguments import Track
from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.player import player
from halfseen.engine.specialise import fitted


def run(
    cell: Cell | LinearCell,
    track: Track,
    *,
    report: Callable[[int], None],
    workers: int,
    start: int = 0,
) -> None:
    """Play the replications from `start` on, one after the other, into the track."""
    play = player(cell, fitted)
    for replication in range(start, start + len(track.regret)):
        play(replication, replication + 1, track, start)
        report(1)
