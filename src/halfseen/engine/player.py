"""A cell's loop with its arguments, ready to be called by any engine, and room for its tracks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from halfseen.engine.cells.arms import Cell, Track
from halfseen.engine.cells.linear import LinearCell


def player(cell: Cell | LinearCell, fit: Callable[..., Callable[..., Any]]) -> Callable[..., None]:
    """Return what plays replications `first` to `last` (excluded) of a cell into its track.

    The track's first row belongs to replication `start`, 0 unless said otherwise. `fit` is
    `fitted` or `compiled`. Replications with actions of their own are played one by one, so that
    one replication's actions at a time are held in memory.
    """
    loop = fit(cell.loop, cell.policy.kernels(), **cell.open_names)
    arguments = cell.arguments()

    def play(first: int, last: int, track: Track, start: int = 0) -> None:
        loop(first, last, *arguments, *track.rows(first - start, last - start))

    if not (isinstance(cell, LinearCell) and cell.own_actions):
        return play
    draw = cell.fit_draw(fit)

    def play_one_by_one(first: int, last: int, track: Track, start: int = 0) -> None:
        for replication in range(first, last):
            own = cell.own_arguments(replication, arguments, draw)
            row = replication - start
            loop(replication, replication + 1, *own, *track.rows(row, row + 1))

    return play_one_by_one


def blank_track(cell: Cell | LinearCell, rows: int) -> Track:
    """Return an empty track with room for some replications of a cell."""
    return cell.blank(rows, cell.groups, getattr(cell.problem, "dimension", 0))
