"""A kernel with what it is given, and the sizes a GPU sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda

Room = tuple[tuple[tuple[int, ...], Any], ...]
SHARED = 48 * 1024  # bytes a block may declare
LOCAL = 16 * 1024  # bytes a thread works on before the GPU's caches hold too few of them
THREADS = 128


@dataclass(frozen=True)
class Launch:
    """A kernel with what it is given.

    Attributes
    ----------
    kernel
        Called as ``kernel[blocks, threads](first, rows, given, room, tracks)``, without the room
        if there is none.
    threads
        Threads a block.
    given
        The arguments that are the same for every replication, on the device.
    room
        Shape and type of every array one replication works in.
    precision
        ``"double"`` or ``"single"``.
    finish
        Called with the number of rows and the tracks after the kernel, for what it left open.
    """

    kernel: Any
    threads: int
    given: tuple[Any, ...]
    room: Room = ()
    precision: str = "double"
    finish: Callable[[int, tuple[Any, ...]], None] | None = None

    @property
    def room_bytes(self) -> int:
        """How much memory one replication works in."""
        return sum(int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in self.room)


def shared_threads(own: int, common: int, real: Any = np.float64, *, fewest: int = 32) -> int:
    """Return how many threads of a block find room in shared memory, 0 if too few do.

    A thread needs `own` numbers to itself and all of them `common` ones together.
    """
    for threads in (128, 64, 32, 16, 8):
        if threads < fewest:
            break
        if (own * threads + common) * np.dtype(real).itemsize <= SHARED:
            return threads
    return 0


def far_kernel(once: Any) -> Any:
    """Return a kernel that plays one replication in matrices, vectors, lists and sums.

    They lie in the GPU's memory with the thread as the last index. `once` is the loop of one
    replication, a function of the device.
    """

    def kernel(first, rows, given, room, tracks):  # type: ignore[no-untyped-def]
        row = cuda.grid(1)
        if row < rows:
            matrices, vectors = room[0][:, :, :, row], room[1][:, :, row]
            lists, spent = room[2][:, :, row], room[3][:, row]
            once(first + row, row, *given, matrices, vectors, lists, spent, *tracks)

    return cuda.jit(kernel)


def sent(array: Any) -> Any:
    """Return an array on the device, laid out row by row."""
    return cuda.to_device(np.ascontiguousarray(array))
