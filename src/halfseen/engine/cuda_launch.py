"""A kernel with what it is given, and the sizes a GPU sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda

Room = tuple[tuple[tuple[int, ...], Any], ...]
SHARED = 48 * 1024  # bytes a block may declare
LOCAL = 16 * 1024  # bytes a thread works on before the GPU's caches hold too few of them
THREADS = 128
REGISTERS_DIMENSION = 16  # vectors up to this long stay in registers


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
    """

    kernel: Any
    threads: int
    given: tuple[Any, ...]
    room: Room = ()
    precision: str = "double"

    @property
    def room_bytes(self) -> int:
        """How much memory one replication works in."""
        return sum(int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in self.room)


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
