"""Single decisions for the live agent: the choice and learning steps of the loop over arms.

As in `halfseen.engine.loops.arms`, ``index``, ``choose`` and ``learn`` are filled in with a
policy's own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import POLICY

if TYPE_CHECKING:
    from halfseen.policies.arms.base import count_and_sum as learn
    from halfseen.policies.arms.base import count_pull as pull
    from halfseen.policies.arms.imed import choose
    from halfseen.policies.arms.impute import zero as fill
    from halfseen.policies.arms.ucb import index

CHOOSES = False  # the policy chooses by itself


def select(
    state: Vector,
    plays: Vector,
    playable: NDArray[Any],
    clock: int,
    key0: int,
    key1: int,
    table: Vector,
) -> int:
    """Return the policy's choice, or the playable arm with the largest index, first of equals."""
    if CHOOSES:
        return choose(state, plays, playable, clock, (key0, key1, 0, POLICY), table)
    chosen = -1
    top = -math.inf
    for arm in range(playable.size):
        if playable[arm] == 1:
            value = index(state, arm, clock, (key0, key1, 0, POLICY), table)
            if value > top or chosen < 0:
                top = value
                chosen = arm
    return chosen


def played(state: Vector, arm: int, table: Vector) -> None:
    """Record that an arm was played."""
    pull(state, arm, table)


def absorb(state: Vector, arm: int, reward: float, table: Vector) -> None:
    """Learn one observed reward."""
    learn(state, arm, reward, table)


def pass_over(state: Vector, arm: int, table: Vector) -> None:
    """Learn the reward that the policy imputes for a missing one."""
    guess = fill(state, arm, table)
    if guess == guess:
        learn(state, arm, guess, table)
