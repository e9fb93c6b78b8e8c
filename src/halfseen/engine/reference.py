"""The reference engine: the loop and the kernels as plain Python."""

from __future__ import annotations

from collections.abc import Callable

from halfseen.engine.cell import Cell, Track
from halfseen.engine.linear_cell import LinearCell
from halfseen.engine.specialise import fitted


def run(
    cell: Cell | LinearCell, track: Track, *, report: Callable[[int], None], workers: int
) -> None:
    """Play every replication of the cell, one after the other, into the track."""
    loop = fitted(cell.loop, cell.policy.kernels(), **cell.open_names)
    arguments = cell.arguments()
    for replication in range(len(track.regret)):
        loop(replication, replication + 1, *arguments, *track.rows(replication, replication + 1))
        report(1)
