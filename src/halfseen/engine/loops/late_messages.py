"""Outstanding messages in the loops over vectors: sent, delivered in their round, or given up.

The message of round s has number s modulo the length of the ring. Those that arrive in the same
round form a list, oldest first: O(1) per round, O(window) memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfseen.engine.late_arguments import ARM, HEAD, NEVER, NEXT, NONE, TAIL
from halfseen.engine.late_vectors import COMING, LOST
from halfseen.engine.loops.record import cleared
from halfseen.kernels.compile_hints import inline
from halfseen.kernels.delay_times import delay_time

if TYPE_CHECKING:
    from halfseen.checks import Vector
    from halfseen.engine.late_tracks import LateLinearTrack
    from halfseen.engine.late_vectors import LateVectorWorkspace, LateVectorWorld


def clear_messages(work: LateVectorWorkspace, regularization: float) -> None:
    """Clear all messages."""
    for slot in range(work.slots.shape[0]):
        work.slots[slot, HEAD] = NONE
    for row in range(2):
        cleared(work.counts[row])
        cleared(work.unsettled[row])
    for i in range(work.design.shape[0]):
        for j in range(work.design.shape[0]):
            work.design[i, j] = regularization if i == j else 0.0


@inline
def delay_of(world: LateVectorWorld, group: int, reward: float, u: float) -> float:
    """Return the delay for a uniform number, infinite if the reward never arrives."""
    law = 2 * group + 1 if reward > 0.0 else 2 * group
    return delay_time(world.delays, law, u, world.lists)


@inline
def send(
    world: LateVectorWorld,
    work: LateVectorWorkspace,
    clock: int,
    group: int,
    reward: float,
    delay: float,
) -> bool:
    """Put the message of a round into the list of the round in which it arrives.

    Returns whether it ever arrives.
    """
    number = clock & (work.messages.shape[0] - 1)
    work.messages[number, ARM] = group
    work.messages[number, NEXT] = NEVER
    if delay > world.window or (world.conversions == 1 and reward == 0.0):
        return False
    work.counts[COMING, group] += 1.0
    work.messages[number, NEXT] = NONE
    if delay >= work.slots.shape[0]:  # after the last round
        return True
    work.rewards[number] = reward
    slot = (clock + int(delay)) & (work.slots.shape[0] - 1)
    if work.slots[slot, HEAD] >= 0:
        work.messages[work.slots[slot, TAIL], NEXT] = number
    else:
        work.slots[slot, HEAD] = number
    work.slots[slot, TAIL] = number
    return True


@inline
def given_up(world: LateVectorWorld, work: LateVectorWorkspace, clock: int) -> int:
    """Return the number of the decision that is given up at the end of a round, -1 if none is."""
    if not clock > world.window:
        return NONE
    old = int(clock - world.window) & (work.messages.shape[0] - 1)
    if work.messages[old, NEXT] != NEVER:
        return NONE
    work.counts[LOST, work.messages[old, ARM]] += 1.0
    return old


def record_pending(
    track: LateLinearTrack, place: tuple[int, int], work: LateVectorWorkspace, pulled: Vector
) -> None:
    """Write how many decisions are open, given how often each action was played."""
    row, checkpoint = place
    seen = track.observations[row, checkpoint]
    for k in range(pulled.size):
        track.pending[row, checkpoint, k] = int(pulled[k] - work.counts[LOST, k]) - seen[k]
