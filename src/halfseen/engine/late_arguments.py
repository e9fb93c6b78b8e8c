"""Input and workspace of the loop over arms with late feedback."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.engine.arguments import Shapes, arm_shapes

# Columns of `LateWorkspace.arm_state` beyond those of arms: messages sent that arrive in time, and
# decisions given up without one.
COMING, LOST = 4, 5
# Columns of `LateWorkspace.messages`: the next message of the same list, and the arm.
NEXT, ARM = range(2)
# Columns of `LateWorkspace.slots` and `LateWorkspace.queues`: the ends of a list of messages.
HEAD, TAIL = range(2)
NONE, NEVER = -1, -2  # instead of a next message: there is none; this one never arrives


class LateWorld(NamedTuple):
    """An armed bandit, its delays and a policy's constants.

    `delays` has two rows per arm, the laws for rewards of 0 and for others, in the format of
    `delay_time`, with `lists`; `window` is infinite if no decision is given up. With `conversions`
    1 a reward of 0 is never sent. `rule` and `scales` are those of `winning_arm` if a winner is
    declared.
    """

    arm_constants: Vector
    law: Any
    availability: int
    available: NDArray[Any]
    chances: Vector
    policy_constants: Vector
    key: tuple[int, int]
    stops: Vector
    alphas: Vector
    regularization: float
    delays: Vector
    lists: Vector
    window: float
    conversions: int
    rule: Vector
    scales: Vector


class LateWorkspace(NamedTuple):
    """The workspace: as for arms, and the outstanding messages.

    The message of round s has number s modulo the length of `messages`. Those that arrive in the
    same round form a list, whose ends are in `slots`; `queues` are lists of each arm's rewards that
    have arrived and that the policy has not requested yet. `totals` and `kept` are the state of
    `winning_arm`.
    """

    values: Vector
    winners: NDArray[Any]
    state: Vector
    arm_state: Vector
    plays: Vector
    playable: NDArray[Any]
    potential: Vector
    stop: NDArray[Any]
    rewards: Vector
    messages: NDArray[Any]
    slots: NDArray[Any]
    queues: NDArray[Any]
    totals: Vector
    kept: Vector


def late_shapes(arms: int, statistics: int, orders: int, messages: int, slots: int) -> Shapes:
    """Return the shape and type of every array of a `LateWorkspace`.

    The numbers of messages and slots are rounded up to powers of two.
    """
    messages, slots = (1 << (size - 1).bit_length() for size in (messages, slots))
    return arm_shapes(arms, statistics, orders) | {
        "arm_state": ((arms, 6), np.float64),
        "rewards": ((messages,), np.float64),
        "messages": ((messages, 2), np.int64),
        "slots": ((slots, 2), np.int64),
        "queues": ((arms, 2), np.int64),
        "totals": ((arms,), np.float64),
        "kept": ((arms, 2), np.float64),
    }
