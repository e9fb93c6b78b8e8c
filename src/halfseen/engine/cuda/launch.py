"""A kernel with its arguments, and the memory limits of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import cuda

from halfseen.engine.arguments import FixedWorkspace, Shapes, World
from halfseen.engine.late_arguments import LateWorld
from halfseen.engine.late_vectors import LateVectorWorld

SHARED = 48 * 1024  # bytes of shared memory a block may declare
LOCAL = 16 * 1024  # bytes of local memory per thread beyond which the GPU's caches thrash
THREADS = 128


@dataclass(frozen=True)
class Launch:
    """A kernel with its arguments.

    Attributes
    ----------
    kernel
        Called as ``kernel[blocks, threads](first, rows, given, scratch, tracks)``; without
        `scratch` if the kernel needs no preallocated workspace.
    threads
        Threads per block.
    given
        The world, the same for every replication, with its arrays on the device.
    shapes
        Shape and type of every array one replication works in, by name.
    workspace
        The named tuple in which the kernel takes these arrays.
    precision
        ``"double"`` or ``"single"``.
    finish
        Called after the kernel, with the number of rows and the tracks, to complete the tracks.
    """

    kernel: Any
    threads: int
    given: Any
    shapes: Shapes = field(default_factory=dict)
    workspace: Any = None
    precision: str = "double"
    finish: Callable[[int, Any], None] | None = None

    @property
    def workspace_bytes(self) -> int:
        """Size of the workspace of one replication, in bytes."""
        shapes = self.shapes.values()
        return sum(int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in shapes)


def shared_threads(own: int, common: int, real: Any = np.float64, *, fewest: int = 32) -> int:
    """Return how many threads of a block fit in shared memory, 0 if too few do.

    Each thread needs `own` numbers, and all threads together share `common` ones.
    """
    for threads in (128, 64, 32, 16, 8):
        if threads < fewest:
            break
        if (own * threads + common) * np.dtype(real).itemsize <= SHARED:
            return threads
    return 0


def far_kernel(once: Any, workspace: Any) -> Any:
    """Return a kernel that plays one replication in the GPU's memory.

    Arrays are laid out with the thread as the last index. `once` is the loop of one replication and
    `workspace` returns its workspace, given the arrays of all threads and the number of one; both
    are device functions.
    """

    def kernel(first, rows, world, scratch, track):  # type: ignore[no-untyped-def]
        row = cuda.grid(1)
        if row < rows:
            once(first + row, row, world, workspace(scratch, row), track)

    return cuda.jit(kernel)


@cuda.jit(device=True)
def fixed_workspace(scratch, row):  # type: ignore[no-untyped-def]
    """Return the workspace of one thread for a fixed set of actions."""
    return FixedWorkspace(
        scratch.matrices[:, :, :, row],
        scratch.vectors[:, :, row],
        scratch.lists[:, :, row],
        scratch.numbers[:, row],
        scratch.curvatures[:, :, :, row],
        scratch.memory[:, row],
        scratch.potential[:, row],
        scratch.stop[:, row],
    )


def sent_world(world: World | LateWorld | LateVectorWorld, real: Any = np.float64) -> Any:
    """Return a world with its arrays on the device, its numbers in the given precision."""
    kind: Any = type(world)
    return kind._make(_sent_part(part, real) for part in world)


def _sent_part(part: Any, real: Any) -> Any:
    if hasattr(part, "_fields"):
        return sent_world(part, real)
    if isinstance(part, np.ndarray):
        return sent(part.astype(real) if part.dtype == np.float64 else part)
    return real(part) if isinstance(part, float) else part


def sent(array: Any) -> Any:
    """Return an array on the device, laid out row by row."""
    return cuda.to_device(np.ascontiguousarray(array))
