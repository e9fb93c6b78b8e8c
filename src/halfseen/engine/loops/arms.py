"""The loop over arms: it plays rounds, keeps the state, and writes the track at the checkpoints.

The names ``index``, ``choose``, ``learn``, ``width``, ``fill`` and the constants in capitals are
filled in with a policy's own by `halfseen.engine.specialise`; the rest is the same for every
policy.

For each arm the loop draws in advance the next observed reward and the number of pulls until it is
observed. These waiting times are geometric, so the distribution is that of a coin flip at every
pull, and a policy whose choice changes only on observations costs nothing between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.draws import AVAILABILITY, ENVIRONMENT, POLICY, Stream
from halfseen.engine.arguments import PULLS, REWARD, SEEN, WAIT
from halfseen.engine.loops.feedback import (
    FIXED,
    HALF_RATE,
    MEAN,
    PATIENCE,
    discount,
    feedback,
    write_playable,
)
from halfseen.engine.loops.record import cleared, record, record_potential
from halfseen.kernels.compile_hints import inline, loop
from halfseen.kernels.ties import outside
from halfseen.kernels.tournament import build, climb, inner_nodes
from halfseen.kernels.winning import NONE, winning_arm

if TYPE_CHECKING:
    from halfseen.engine.arguments import ArmTrack, ArmWorkspace, ArmWorld
    from halfseen.policies.arms.base import count_and_sum as learn
    from halfseen.policies.arms.imed import choose
    from halfseen.policies.arms.impute import zero as fill
    from halfseen.policies.arms.ucb import index, width

WAITS = False  # an index, or the choice, changes only on an observation
CHOOSES = False  # the policy chooses by itself, not by the largest index
JUMPS = False  # WAITS, and every round offers the same arms
FILLS = False  # missing rewards are replaced by `fill`
HAS_WIDTH = False
POLLS = True  # check for requests to stop
DECLARES = False  # record the round in which a winner is declared


@loop
def play(first: int, last: int, world: ArmWorld, work: ArmWorkspace, track: ArmTrack) -> None:
    """Play replications `first` to `last` (excluded) and write their tracks, row by row."""
    for replication in range(first, last):
        if POLLS and work.stop[0] != 0:
            return
        if DECLARES:
            forget_winner(replication - first, work, track)
        play_once(replication, replication - first, world, work, track)


@inline
def play_once(
    replication: int, row: int, world: ArmWorld, work: ArmWorkspace, track: ArmTrack
) -> None:
    """Play one replication using preallocated workspace."""
    constants, policy_constants = world.arm_constants, world.policy_constants
    law, alphas, stops = world.law, world.alphas, world.stops
    regularization = world.regularization
    values, winners, state, arm_state = work.values, work.winners, work.state, work.arm_state
    playable, potential, stopped, plays = work.playable, work.potential, work.stop, work.plays
    arms = constants.shape[0]
    leaves = inner_nodes(arms)
    horizon = stops[stops.size - 1]
    environment_stream = (world.key[0], world.key[1], replication, ENVIRONMENT)
    availability_stream = (world.key[0], world.key[1], replication, AVAILABILITY)
    policy_stream = (world.key[0], world.key[1], replication, POLICY)
    best = begin(world, work, environment_stream, availability_stream, policy_stream)
    if CHOOSES:
        chosen = choose(state, plays, playable, 1, policy_stream, policy_constants)
    else:
        chosen = build(values, winners, leaves)
    changed = False
    regret = 0.0
    optimism = 0
    censoring = 0
    clock = 0.0
    checkpoint = 0

    while clock < horizon:
        if POLLS and stopped[0] != 0:
            return
        if not JUMPS:
            if world.availability != FIXED:
                now = int(clock) + 1
                write_playable(world, now, availability_stream, playable)
                best = largest_mean(world, work)
            if CHOOSES:
                if changed or not WAITS or world.availability != FIXED:
                    now = int(clock) + 1
                    chosen = choose(state, plays, playable, now, policy_stream, policy_constants)
                    changed = False
            else:
                top = -np.inf
                chosen = -1
                for arm in range(arms):
                    if playable[arm] == 0:
                        continue
                    if WAITS:
                        value = values[leaves + arm]
                    else:
                        now = int(clock) + 1
                        value = index(state, arm, now, policy_stream, policy_constants)
                    if value > top or chosen < 0:
                        top = value
                        chosen = arm

        span = arm_state[chosen, WAIT] if JUMPS else 1.0
        stop = stops[checkpoint]
        if clock + span > stop:
            span = stop - clock
        clock += span
        arm = chosen
        seen = arm_state[arm, SEEN]
        weight = 1.0 / (seen + regularization)
        for k in range(alphas.size):
            potential[k] += span * discount(weight, alphas[k])
        regret += span * (best - constants[arm, MEAN])
        pulled = arm_state[arm, PULLS] + span
        arm_state[arm, PULLS] = pulled
        wait = arm_state[arm, WAIT] - span
        arm_state[arm, WAIT] = wait
        observed = wait == 0.0

        if pulled >= constants[arm, PATIENCE]:
            before = pulled - 1.0 if observed else pulled
            if before >= constants[arm, PATIENCE] and seen < constants[arm, HALF_RATE] * before:
                censoring = 1
            if observed and seen + 1.0 < constants[arm, HALF_RATE] * pulled:
                censoring = 1
        if observed:
            seen += 1.0
            arm_state[arm, SEEN] = seen
            if CHOOSES:
                plays[arm] = pulled
            learn(state, arm, arm_state[arm, REWARD], policy_constants)
            if DECLARES:
                look_for_winner(row, arm, arm_state[arm, REWARD], clock, world, work, track)
        elif FILLS:
            guess = fill(state, arm, policy_constants)
            if guess == guess:
                learn(state, arm, guess, policy_constants)
        if (observed or FILLS) and CHOOSES:
            if JUMPS:
                now = int(clock) + 1
                chosen = choose(state, plays, playable, now, policy_stream, policy_constants)
            else:
                changed = True
        if (observed or FILLS) and ((WAITS and not CHOOSES) or HAS_WIDTH):
            value = index(state, arm, int(clock), policy_stream, policy_constants)
            if HAS_WIDTH:
                reach = width(state, arm, int(clock), policy_constants)
                if outside(constants[arm, MEAN], value, reach):
                    optimism = 1
            if JUMPS and not CHOOSES:
                chosen = climb(values, winners, leaves, arm, value)
            elif WAITS and not CHOOSES:
                values[leaves + arm] = value
        if observed:
            reward, wait = feedback(constants, arm, int(seen), law, environment_stream)
            arm_state[arm, REWARD] = reward
            arm_state[arm, WAIT] = wait

        if clock == stop:
            place, failed = (row, checkpoint), optimism if HAS_WIDTH else -1
            pulls, observations = arm_state[:, PULLS], arm_state[:, SEEN]
            record(track, place, regret, failed, censoring, pulls, observations)
            record_potential(track, place, potential)
            checkpoint += 1


def begin(
    world: ArmWorld,
    work: ArmWorkspace,
    environment_stream: Stream,
    availability_stream: Stream,
    policy_stream: Stream,
) -> float:
    """Reset the state, draw every arm's first observation and return the largest mean."""
    arms, statistics = work.state.shape
    leaves = inner_nodes(arms)
    for arm in range(arms):
        for k in range(statistics):
            work.state[arm, k] = 0.0
        reward, wait = feedback(world.arm_constants, arm, 0, world.law, environment_stream)
        work.arm_state[arm, PULLS] = 0.0
        work.arm_state[arm, SEEN] = 0.0
        work.arm_state[arm, WAIT] = wait
        work.arm_state[arm, REWARD] = reward
        work.plays[arm] = 0.0
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
    return largest_mean(world, work)


def forget_winner(row: int, work: Any, track: Any) -> None:
    """Reset the sums of rewards and the winner at the start of a replication."""
    cleared(work.totals)
    track.winner[row] = NONE
    track.winner_round[row] = 0


def look_for_winner(
    row: int, arm: int, reward: float, clock: float, world: Any, work: Any, track: Any
) -> None:
    """Add the reward just observed of an arm and record the first winner declared."""
    if track.winner[row] != NONE:
        return
    work.totals[arm] += reward
    seen = work.arm_state[:, SEEN]
    found = winning_arm(seen, work.totals, work.kept, world.rule, world.scales, arm)
    if found != NONE:
        track.winner[row] = found
        track.winner_round[row] = int(clock)


def largest_mean(world: ArmWorld, work: ArmWorkspace) -> float:
    """Return the largest mean of the playable arms."""
    best = -np.inf
    for arm in range(work.playable.size):
        if work.playable[arm] == 1 and world.arm_constants[arm, MEAN] > best:
            best = world.arm_constants[arm, MEAN]
    return best
