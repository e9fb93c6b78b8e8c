"""Input and workspace of the loops over vectors with late feedback."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.engine.arguments import Shapes

# Rows of `LateVectorWorkspace.counts`, numbers of every action or region: messages that arrive in
# time, and decisions given up.
COMING, LOST = range(2)
# Rows of `LateVectorWorkspace.unsettled`: decisions younger than the window, and those of them
# without an answer; how many of each action, or 1 or 0 for every message where actions change.
RECENT, OPEN = range(2)


class LateVectorWorld(NamedTuple):
    """A world of vectors and its delays.

    `own` is a `FixedWorld` or a `ChangingWorld`; `delays`, `lists`, `window` and `conversions` are
    as in `LateWorld`, with two laws per action, or two in all where actions change.
    """

    own: Any
    delays: Vector
    lists: Vector
    window: float
    conversions: int


class LateVectorWorkspace(NamedTuple):
    """Workspace of the loops over vectors with late feedback.

    `own` is a `FixedWorkspace` or a `ChangingWorkspace`; `rewards`, `messages` and `slots` are as
    in `LateWorkspace`. `sent` has the action of every message where actions change, `design` is
    lambda I plus the sum of a a' over messages that arrive in time.
    """

    own: Any
    stop: NDArray[Any]
    rewards: Vector
    messages: NDArray[Any]
    slots: NDArray[Any]
    sent: Vector
    counts: Vector
    unsettled: Vector
    design: Vector


def late_vector_shapes(groups: int, dimension: int, slots: int, *, fixed: bool) -> Shapes:
    """Return the shape and type of every array of a `LateVectorWorkspace` except `own`.

    The number of messages is rounded up to a power of two.
    """
    size = 1 << (slots - 1).bit_length()
    return {
        "stop": ((1,), np.uint8),
        "rewards": ((size,), np.float64),
        "messages": ((size, 2), np.int64),
        "slots": ((size, 2), np.int64),
        "sent": ((1 if fixed else size, dimension), np.float64),
        "counts": ((2, groups), np.float64),
        "unsettled": ((2, groups if fixed else size), np.float64),
        "design": ((dimension, dimension), np.float64),
    }
