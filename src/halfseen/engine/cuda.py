"""The cuda engine: the same kernels compiled for a GPU, one thread a replication.

In double precision a GPU makes the choices the other engines make; sums may differ in their last
bits, since it multiplies and adds in one rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from halfseen.engine.cell import Cell, Track
from halfseen.engine.glm_cell import GLMCell
from halfseen.engine.linear_cell import LinearCell
from halfseen.errors import InvalidInput
from halfseen.problems.contexts import RandomActions, SequenceOfActions

MOST_ROWS = 1 << 18  # replications a launch
SHARE = 0.5  # of the GPU's free memory


def device() -> Any:
    """Return numba's cuda module, or explain what is missing."""
    vars(np).setdefault("row_stack", np.vstack)  # NumPy 2.5 lost it, numba-cuda 0.30 imports it
    from numba import cuda

    if not cuda.is_available():
        raise InvalidInput(
            "engine",
            "needs an NVIDIA GPU with its driver, and the package numba-cuda",
            "cuda",
            "Install halfseen[cuda] on a machine with a GPU, or use the cpu engine.",
        )
    return cuda


def refusal(cell: Cell | LinearCell) -> str | None:
    """Return what this engine cannot play of a cell, or None."""
    if not isinstance(cell, LinearCell) or cell.same_actions:
        return None
    actions = cell.problem.actions
    if isinstance(cell, GLMCell):
        return f"generalized linear bandits with {type(actions).__name__}"
    if not isinstance(actions, RandomActions | SequenceOfActions):
        return f"linear bandits with {type(actions).__name__}"
    if cell.own_actions:
        return f"{type(actions).__name__} under a censorship that is a Python function"
    return None


def check(cells: Iterable[Cell | LinearCell]) -> None:
    """Refuse, before anything is played, what cannot be."""
    for cell in cells:
        what = refusal(cell)
        if what is not None:
            raise InvalidInput(
                "engine", f"cannot play {what}", "cuda", "Use the cpu engine for this study."
            )
    device()


def run(
    cell: Cell | LinearCell,
    track: Track,
    *,
    report: Callable[[int], None],
    workers: int = 1,
    start: int = 0,
    single: bool = False,
    most_rows: int = MOST_ROWS,
) -> str:
    """Play the replications from `start` on into the track and return the precision used.

    Replications are launched in batches that fit in the GPU's memory, at most `most_rows` each.
    No number depends on the batches.
    """
    cuda = device()
    from halfseen.engine.cuda_kernels import launch

    plan = launch(cell, single)
    arrays = list(track.arrays().values())
    replications = len(track.regret)
    row_bytes = plan.room_bytes + sum(array[0].nbytes for array in arrays)
    free = SHARE * cuda.current_context().get_memory_info().free
    batch = int(max(1, min(most_rows, replications, free // row_bytes)))
    room = tuple(cuda.device_array((*shape, batch), kind) for shape, kind in plan.room)
    tracks = tuple(cuda.device_array((batch, *array.shape[1:]), array.dtype) for array in arrays)
    parts = (plan.given, room, tracks) if room else (plan.given, tracks)
    for first in range(0, replications, batch):
        rows = min(batch, replications - first)
        plan.kernel[-(-rows // plan.threads), plan.threads](start + first, rows, *parts)
        for source, target in zip(tracks, track.rows(first, first + rows), strict=True):
            if target.flags.c_contiguous and target.size:
                source[:rows].copy_to_host(target)
            else:
                target[...] = source[:rows].copy_to_host()
        report(rows)
    return plan.precision
