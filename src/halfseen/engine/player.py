"""A cell's loop bound to its arguments, for any engine, and empty tracks for its results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from halfseen.engine.arguments import Track, World
from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.specialise import compiled

AnyCell = Cell | LinearCell


def player(
    cell: AnyCell,
    fit: Callable[..., Callable[..., Any]],
    *,
    stop: NDArray[Any] | None = None,
    world: World | None = None,
) -> Callable[..., None]:
    """Return a function that plays replications `first` to `last` (excluded) into a track.

    The track's first row belongs to replication `start`, 0 by default. `fit` is `fitted` or
    `compiled`, `world` the cell's own unless given. As soon as ``stop[0]`` is not 0 the loops
    return and leave the current replications unfinished. Replications with their own actions are
    played one by one, so that the actions of only one are held in memory.
    """
    loop = cell_loop(cell, fit)
    given = cell.world() if world is None else world

    def play(first: int, last: int, track: Track, start: int = 0) -> None:
        work = cell.workspace() if stop is None else cell.workspace()._replace(stop=stop)
        if not cell.own_actions:
            loop(first, last, given, work, track.rows(first - start, last - start))
            return
        for replication in range(first, last):
            own = cell.own_world(replication, given, draw)  # type: ignore[arg-type, union-attr]
            row = replication - start
            loop(replication, replication + 1, own, work, track.rows(row, row + 1))

    if cell.own_actions:
        draw = cell.fit_draw(fit)  # type: ignore[union-attr]
    return play


def cell_loop(cell: AnyCell, fit: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
    """Return a cell's loop, `fitted` or `compiled`."""
    return fit(cell.loop, cell.policy.kernels(), **cell.open_names)


def ready(cell: AnyCell) -> Callable[..., None]:
    """Return the function that plays a cell, its loop compiled for the types of its arguments."""
    play = player(cell, compiled)
    play(0, 0, blank_track(cell, 1))
    return play


def blank_track(cell: AnyCell, rows: int) -> Track:
    """Return an empty track for a number of replications of a cell."""
    return cell.blank(rows, cell.groups, getattr(cell.problem, "dimension", 0))
