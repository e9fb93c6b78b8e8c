"""The loop over arms with late feedback, and for policies that count their plays.

The names ``index``, ``choose``, ``learn``, ``width``, ``fill``, ``pull``, ``mature``, ``feedback``,
``dated_feedback`` and the constants in capitals are filled in, as in `halfseen.engine.loops.arms`.

A round is: choose, play, send the message, deliver the messages that have arrived, give up those
that are too old. Every round sends one message. Outstanding messages are numbered by their round,
modulo the window, and those that arrive in the same round form a list, oldest first: O(1) per
round, O(window) memory. Both lengths are powers of two, so that a remainder is a bit mask: 64-bit
divisions would cost more than the rest of the round.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from halfseen.draws import AVAILABILITY, ENVIRONMENT, POLICY, Stream, unit, words
from halfseen.engine.arguments import PULLS, REWARD, SEEN, WAIT
from halfseen.engine.late_arguments import ARM, COMING, HEAD, LOST, NEVER, NEXT, NONE, TAIL
from halfseen.engine.loops.arms import forget_winner, look_for_winner
from halfseen.engine.loops.feedback import (
    FIXED,
    HALF_RATE,
    MEAN,
    PATIENCE,
    dated_feedback,
    discount,
    feedback,
    write_playable,
)
from halfseen.engine.loops.record import cleared, record, record_potential
from halfseen.kernels.compile_hints import inline, loop
from halfseen.kernels.delay_times import delay_time
from halfseen.kernels.ties import outside
from halfseen.kernels.tournament import build, climb, inner_nodes
from halfseen.policies.arms.base import STRATUM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from halfseen.engine.late_arguments import LateWorkspace, LateWorld
    from halfseen.engine.late_tracks import LateTrack
    from halfseen.policies.arms.base import _no_age as mature
    from halfseen.policies.arms.base import count_and_sum as learn
    from halfseen.policies.arms.base import count_pull as pull
    from halfseen.policies.arms.imed import choose
    from halfseen.policies.arms.impute import zero as fill
    from halfseen.policies.arms.ucb import index, width

WAITS = False  # an index, or the choice, changes only on an observation
CHOOSES = False  # the policy chooses by itself, not by the largest index
FILLS = False  # missing rewards are replaced by `fill`
HAS_WIDTH = False
PULLS_COUNT = False  # the policy also learns from its plays
MATURES = False  # the policy also learns as decisions grow older
QUEUES = False  # the policy receives a reward only when it requests its arm
COVARIATE = False  # the policy observes a covariate in every round
LATE = True  # rewards have delays; otherwise they are observed immediately or never
POLLS = True  # check for requests to stop
DECLARES = False  # record the round in which a winner is declared


@loop
def play(first: int, last: int, world: LateWorld, work: LateWorkspace, track: LateTrack) -> None:
    """Play replications `first` to `last` (excluded) and write their tracks, row by row."""
    for replication in range(first, last):
        if POLLS and work.stop[0] != 0:
            return
        if DECLARES:
            forget_winner(replication - first, work, track)
        play_once(replication, replication - first, world, work, track)


@inline
def play_once(
    replication: int, row: int, world: LateWorld, work: LateWorkspace, track: LateTrack
) -> None:
    """Play one replication using preallocated workspace."""
    constants, alphas, stops = world.arm_constants, world.alphas, world.stops
    arm_state, potential = work.arm_state, work.potential
    environment_stream = (world.key[0], world.key[1], replication, ENVIRONMENT)
    availability_stream = (world.key[0], world.key[1], replication, AVAILABILITY)
    policy_stream = (world.key[0], world.key[1], replication, POLICY)
    begin(world, work, environment_stream, availability_stream, policy_stream)
    best = largest_mean(world, work)
    follows = WAITS and not CHOOSES and world.availability == FIXED
    chosen = build(work.values, work.winners, inner_nodes(work.playable.size))
    changed = True
    regret = 0.0
    optimism = 0
    censoring = 0
    fed = 0
    checkpoint = 0
    horizon = int(stops[stops.size - 1])

    for clock in range(1, horizon + 1):
        if POLLS and work.stop[0] != 0:
            return
        if world.availability != FIXED:
            write_playable(world, clock, availability_stream, work.playable)
            best = largest_mean(world, work)
        if QUEUES:
            chosen, fed, failed = ask(world, work, fed, policy_stream)
            optimism = failed if failed > optimism else optimism
        elif CHOOSES:
            if changed or not WAITS or world.availability != FIXED:
                chosen = choice(world, work, clock, policy_stream)
                changed = False
        elif not follows:
            chosen = choice(world, work, clock, policy_stream)

        arm = chosen
        weight = 1.0 / (arm_state[arm, SEEN] + world.regularization)
        for k in range(alphas.size):
            potential[k] += discount(weight, alphas[k])
        regret += best - constants[arm, MEAN]
        pulled = arm_state[arm, PULLS] + 1.0
        if COVARIATE:
            count = int(arm_state[arm, PULLS])
            reward, delay, stratum = joint_outcome(world.law, arm, count, environment_stream)
            work.state[arm, STRATUM] = stratum
        else:
            reward, delay = outcome(world, arm_state, arm, clock, environment_stream)
        arm_state[arm, PULLS] = pulled
        send(world, work, clock, arm, reward, delay)
        coming = arm_state[arm, COMING]
        if pulled >= constants[arm, PATIENCE] and coming < constants[arm, HALF_RATE] * pulled:
            censoring = 1
        if PULLS_COUNT:
            pull(work.state, arm, world.policy_constants)

        slot = clock & (work.slots.shape[0] - 1)
        news = work.slots[slot, HEAD]
        while news >= 0:
            after = work.messages[news, NEXT]
            arm = work.messages[news, ARM]
            work.messages[news, NEXT] = NONE
            arm_state[arm, SEEN] += 1.0
            if DECLARES:
                look_for_winner(row, arm, work.rewards[news], float(clock), world, work, track)
            if QUEUES:
                enqueue(work, arm, news)
            else:
                if CHOOSES:
                    work.plays[arm] = arm_state[arm, PULLS]
                changed = True
                learn(work.state, arm, work.rewards[news], world.policy_constants)
                chosen, failed = learned(world, work, arm, clock, chosen, policy_stream)
                optimism = failed if failed > optimism else optimism
            news = after
        work.slots[slot, HEAD] = NONE

        if clock > world.window:
            old = int(clock - world.window) & (work.messages.shape[0] - 1)
            arm = work.messages[old, ARM]
            if work.messages[old, NEXT] == NEVER:
                arm_state[arm, LOST] += 1.0
                if FILLS:
                    changed = True
                    guess = fill(work.state, arm, world.policy_constants)
                    if guess == guess:
                        learn(work.state, arm, guess, world.policy_constants)
                    chosen, failed = learned(world, work, arm, clock, chosen, policy_stream)
                    optimism = failed if failed > optimism else optimism
        if MATURES:
            mature(work.state, work.messages[:, ARM], clock, world.policy_constants)

        if clock == stops[checkpoint]:
            place, failed = (row, checkpoint), optimism if HAS_WIDTH else -1
            pulls, observations = arm_state[:, PULLS], arm_state[:, SEEN]
            record(track, place, regret, failed, censoring, pulls, observations)
            record_potential(track, place, potential)
            for k in range(arm_state.shape[0]):
                open_ones = arm_state[k, PULLS] - arm_state[k, SEEN] - arm_state[k, LOST]
                track.pending[row, checkpoint, k] = int(open_ones)
            checkpoint += 1


@inline
def outcome(
    world: LateWorld, arm_state: NDArray[np.float64], arm: int, clock: int, stream: Stream
) -> tuple[float, float]:
    """Return the reward of playing an arm and its delay, infinite if it never arrives."""
    if LATE:
        count = int(arm_state[arm, PULLS])
        reward, u = dated_feedback(world.arm_constants, arm, count, world.law, stream)
        law = 2 * arm + 1 if reward > 0.0 else 2 * arm
        return reward, delay_time(world.delays, law, u, world.lists)
    wait = arm_state[arm, WAIT] - 1.0
    reward = arm_state[arm, REWARD]
    if wait > 0.0:
        arm_state[arm, WAIT] = wait
        return reward, math.inf
    count = int(arm_state[arm, COMING]) + 1
    upcoming, wait = feedback(world.arm_constants, arm, count, world.law, stream)
    arm_state[arm, REWARD] = upcoming
    arm_state[arm, WAIT] = wait
    return reward, 0.0


@inline
def joint_outcome(
    table: NDArray[np.float64], arm: int, count: int, stream: Stream
) -> tuple[float, float, float]:
    """Return a reward of 0 or 1, its delay, 0 or infinite, and the value of the covariate."""
    high, low, seen_high, seen_low = words(stream, count, arm)
    u = unit(high, low)
    cell = 0
    while 2 * cell < table.shape[1] - 2 and u >= table[arm, 2 * cell]:
        cell += 1
    delay = 0.0 if unit(seen_high, seen_low) < table[arm, 2 * cell + 1] else math.inf
    return float(cell % 2), delay, float(cell // 2)


@inline
def send(
    world: LateWorld, work: LateWorkspace, clock: int, arm: int, reward: float, delay: float
) -> None:
    """Put the message of a round into the list of the round in which it arrives."""
    number = clock & (work.messages.shape[0] - 1)
    work.messages[number, ARM] = arm
    work.messages[number, NEXT] = NEVER
    if delay > world.window or (world.conversions == 1 and reward == 0.0):
        return
    work.arm_state[arm, COMING] += 1.0
    work.messages[number, NEXT] = NONE
    if delay >= work.slots.shape[0]:  # after the last round
        return
    work.rewards[number] = reward
    slot = (clock + int(delay)) & (work.slots.shape[0] - 1)
    if work.slots[slot, HEAD] >= 0:
        work.messages[work.slots[slot, TAIL], NEXT] = number
    else:
        work.slots[slot, HEAD] = number
    work.slots[slot, TAIL] = number


def begin(
    world: LateWorld,
    work: LateWorkspace,
    environment_stream: Stream,
    availability_stream: Stream,
    policy_stream: Stream,
) -> None:
    """Reset the state; without delays, draw every arm's first observation."""
    arms, statistics = work.state.shape
    leaves = inner_nodes(arms)
    for arm in range(arms):
        for k in range(statistics):
            work.state[arm, k] = 0.0
        for k in range(work.arm_state.shape[1]):
            work.arm_state[arm, k] = 0.0
        if not LATE:
            reward, wait = feedback(world.arm_constants, arm, 0, world.law, environment_stream)
            work.arm_state[arm, WAIT] = wait
            work.arm_state[arm, REWARD] = reward
        work.plays[arm] = 0.0
        work.queues[arm, HEAD] = NONE
    for slot in range(work.slots.shape[0]):
        work.slots[slot, HEAD] = NONE
    write_playable(world, 1, availability_stream, work.playable)
    for node in range(leaves + arms, work.values.size):  # leaves without an arm
        work.values[node] = -np.inf
    for arm in range(arms):
        work.winners[leaves + arm] = arm
        work.values[leaves + arm] = -np.inf
        if WAITS and not CHOOSES and (work.playable[arm] == 1 or world.availability != FIXED):
            value = index(work.state, arm, 1, policy_stream, world.policy_constants)
            work.values[leaves + arm] = value
    cleared(work.potential)


@inline
def choice(world: LateWorld, work: LateWorkspace, clock: int, stream: Stream) -> int:
    """Return the policy's choice among the playable arms."""
    if CHOOSES:
        return choose(work.state, work.plays, work.playable, clock, stream, world.policy_constants)
    leaves = inner_nodes(work.playable.size)
    top = -np.inf
    chosen = -1
    for arm in range(work.playable.size):
        if work.playable[arm] == 0:
            continue
        if WAITS and not QUEUES:
            value = work.values[leaves + arm]
        else:
            value = index(work.state, arm, clock, stream, world.policy_constants)
        if value > top or chosen < 0:
            top = value
            chosen = arm
    return chosen


@inline
def learned(
    world: LateWorld, work: LateWorkspace, arm: int, clock: int, chosen: int, stream: Stream
) -> tuple[int, int]:
    """Update the index of an arm after a reward.

    Returns the arm with the largest index, if the tournament is used, and 1 if the confidence
    interval misses the mean.
    """
    failed = 0
    if HAS_WIDTH or (WAITS and not CHOOSES):
        value = index(work.state, arm, clock, stream, world.policy_constants)
        if HAS_WIDTH:
            reach = width(work.state, arm, clock, world.policy_constants)
            if outside(world.arm_constants[arm, MEAN], value, reach):
                failed = 1
        if WAITS and not CHOOSES:
            leaves = inner_nodes(work.playable.size)
            if world.availability == FIXED:
                chosen = climb(work.values, work.winners, leaves, arm, value)
            else:
                work.values[leaves + arm] = value
    return chosen, failed


def enqueue(work: LateWorkspace, arm: int, number: int) -> None:
    """Add a message to the queue of an arm's rewards that the policy has not requested yet."""
    if work.queues[arm, HEAD] >= 0:
        work.messages[work.queues[arm, TAIL], NEXT] = number
    else:
        work.queues[arm, HEAD] = number
    work.queues[arm, TAIL] = number


def ask(world: LateWorld, work: LateWorkspace, fed: int, stream: Stream) -> tuple[int, int, int]:
    """Deliver queued rewards until the policy requests an arm whose queue is empty.

    Returns the arm, the number of rewards delivered to the policy, and 1 if a confidence interval
    missed its mean. The policy's clock counts the rewards, so that it behaves as without delays.
    """
    failed = 0
    while True:
        arm = choice(world, work, fed + 1, stream)
        number = work.queues[arm, HEAD]
        if number < 0:
            return arm, fed, failed
        work.queues[arm, HEAD] = work.messages[number, NEXT]
        work.messages[number, NEXT] = NONE
        fed += 1
        if CHOOSES:
            work.plays[arm] += 1.0
        learn(work.state, arm, work.rewards[number], world.policy_constants)
        if HAS_WIDTH:
            value = index(work.state, arm, fed, stream, world.policy_constants)
            reach = width(work.state, arm, fed, world.policy_constants)
            if outside(world.arm_constants[arm, MEAN], value, reach):
                failed = 1


def largest_mean(world: LateWorld, work: LateWorkspace) -> float:
    """Return the largest mean of the playable arms."""
    best = -np.inf
    for arm in range(work.playable.size):
        if work.playable[arm] == 1 and world.arm_constants[arm, MEAN] > best:
            best = world.arm_constants[arm, MEAN]
    return best
