"""The cuda engine: the same kernels compiled for a GPU, one thread per replication.

In double precision a GPU makes the same choices as the other engines; sums may differ in their last
bits, since it uses fused multiply-add.

A launch cannot be interrupted: it runs to its end on the GPU unless the process ends. Launches and
copies are made in another thread, so that the main thread can handle Ctrl-C; when the command then
exits, the launch ends too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.engine.arguments import Track
from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.glm import GLMCell
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.crew import stepwise
from halfseen.engine.player import blank_track
from halfseen.engine.reduce import Fold, Part, Span
from halfseen.errors import InvalidInput

if TYPE_CHECKING:
    from halfseen.engine.cuda.launch import Launch

MOST_ROWS = 1 << 20  # most replications per launch
SHARE = 0.5  # share of the GPU's free memory that is used


def device() -> Any:
    """Return numba's cuda module, or explain what is missing."""
    vars(np).setdefault("row_stack", np.vstack)  # removed in NumPy 2.5, imported by numba-cuda 0.30
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
    """Return the feature of a cell that this engine does not support, or None."""
    if not isinstance(cell, LinearCell):
        return None if cell.level is None else "a study that stops at a winner"
    if cell.same_actions:
        return None
    if cell.policy.choose is not None:
        return f"{type(cell.policy).__name__} on actions that change"
    actions = cell.problem.actions
    if isinstance(cell, GLMCell):
        return f"generalized linear bandits with {type(actions).__name__}"
    if actions.kernels is None and actions.given is None:
        return f"linear bandits with {type(actions).__name__}"
    if cell.own_actions:
        return f"{type(actions).__name__} under a censorship that is a Python function"
    return None


def check(cells: Iterable[Cell | LinearCell]) -> None:
    """Raise for unsupported cells before anything is simulated."""
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

    No number depends on the batch size, which is at most `most_rows`.
    """
    device()
    precision = "double"
    for rows, used in stepwise(_played(cell, track, start, single, most_rows)):
        precision = used
        report(rows)
    return precision


def _played(
    cell: Cell | LinearCell, track: Track, start: int, single: bool, most_rows: int
) -> Iterator[tuple[int, str]]:
    """Play into a track; yield the number of replications played and the precision."""
    from halfseen.engine.cuda.kernels import launch

    plan = launch(cell, single)
    span = (start, start + len(track.regret))
    for first, rows, played in _launched(plan, span, track, most_rows):
        if plan.finish is not None:
            plan.finish(rows, played)
        targets: Any = track.rows(first - start, first - start + rows)
        for source, target in zip(played, targets, strict=True):
            if target.flags.c_contiguous and target.size:
                source[:rows].copy_to_host(target)
            else:
                target[...] = source[:rows].copy_to_host()
        yield rows, plan.precision


def played_part(
    cell: Cell | LinearCell,
    first: int,
    last: int,
    *,
    report: Callable[[int], None],
    single: bool = False,
    most_rows: int = MOST_ROWS,
) -> tuple[Part, str]:
    """Play replications and reduce them on the device; return the statistics and the precision."""
    device()
    fold, precision = Fold(), "double"
    for rows, used in stepwise(_folded(cell, (first, last), fold, single, most_rows)):
        precision = used
        report(rows)
    return Part(fold.moments, fold.histograms), precision


def _folded(
    cell: Cell | LinearCell, span: Span, fold: Fold, single: bool, most_rows: int
) -> Iterator[tuple[int, str]]:
    """Play and reduce; yield the number of replications played and the precision."""
    from halfseen.engine.cuda.kernels import launch
    from halfseen.engine.cuda.reduce import part_of

    plan = launch(cell, single)
    for begin, rows, played in _launched(plan, span, blank_track(cell, 1), most_rows):
        fold.add(part_of(played._asdict(), begin, rows))
        yield rows, plan.precision


def _launched(
    plan: Launch, span: Span, like: Track, most_rows: int
) -> Iterator[tuple[int, int, Any]]:
    """Play replications in batches that fit in the GPU's memory.

    Yields the first replication of a batch, their number and their track on the device, which the
    next batch overwrites.
    """
    cuda = device()
    arrays = like.arrays()
    row_bytes = plan.workspace_bytes + sum(array[0].nbytes for array in arrays.values())
    free = SHARE * cuda.current_context().get_memory_info().free
    batch = int(max(1, min(most_rows, span[1] - span[0], free // row_bytes)))
    scratch = {n: cuda.device_array((*shape, batch), k) for n, (shape, k) in plan.shapes.items()}
    kind: Any = type(like)
    track = kind._make(cuda.device_array((batch, *a.shape[1:]), a.dtype) for a in like)
    given = (plan.given, plan.workspace(**scratch)) if scratch else (plan.given,)
    for first in range(*span, batch):
        rows = min(batch, span[1] - first)
        plan.kernel[-(-rows // plan.threads), plan.threads](first, rows, *given, track)
        yield first, rows, track
