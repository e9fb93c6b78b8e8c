"""The loop of a GPU for linear bandits whose actions are the same in every round.

``index``, ``radius`` and the constants in capitals are filled in with a policy's own. One thread
plays one replication. What a round touches lies in shared memory: half of the inverse, row by row,
and every action's mean and squared width. As for arms, a reward is drawn when its action is chosen.
Every number is what `halfseen.engine.loops.fixed_set` computes, in the same order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import cuda

from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT, POLICY, Stream
from halfseen.engine.arguments import (
    MEANS,
    SHIFTS,
    SPREAD,
    WIDTHS,
    FixedWorkspace,
    FixedWorld,
    LinearTrack,
)
from halfseen.engine.loops.designs import ROUNDING, gather_expected, shortage
from halfseen.engine.loops.feedback import GAUSSIAN, HALF_RATE, MEAN, feedback
from halfseen.engine.loops.record import record
from halfseen.kernels.cholesky import exceeds
from halfseen.kernels.ridge import gather, next_refactor, refactor, refresh_actions
from halfseen.kernels.ties import tie_edge

if TYPE_CHECKING:
    from halfseen.policies.linear.lin_ucb import index, radius

HAS_RADIUS = False
DIMENSION = 2
SUMS, PULLED, SEEN, SCRATCH = range(4)  # columns of an action's state


class NearWorkspace(NamedTuple):
    """Workspace of a thread.

    In shared memory, with the thread as the last index: half of the inverse, row by row up to the
    diagonal, and every action's mean and squared width; `rows` and `arm_constants` are those of
    the world. In local memory: the state of the actions, and scratch for rare operations.
    """

    rows: Vector
    arm_constants: Vector
    lane: int
    half: Vector
    means: Vector
    widths: Vector
    arm_state: Vector
    matrices: Vector
    vectors: Vector


def leap(
    replication: int, row: int, world: FixedWorld, work: NearWorkspace, track: LinearTrack
) -> None:
    """Play one replication of a policy whose choice changes only on observations."""
    constants, stops, policy_constants = work.arm_constants, world.stops, world.policy_constants
    lane, half, means, widths = work.lane, work.half, work.means, work.widths
    arm_state, regularization = work.arm_state, world.regularization
    actions = world.columns.shape[1]
    environment_stream = (world.key[0], world.key[1], replication, ENVIRONMENT)
    policy_stream = (world.key[0], world.key[1], replication, POLICY)
    best = constants[0, MEAN]
    for k in range(actions):
        best = max(best, constants[k, MEAN])
        for column in range(3):
            arm_state[k, column] = 0.0
    miss = begin(world, work)
    potential = 0.0
    spread = 0.0
    deficit = 0.0
    learned = 0
    due = next_refactor(0, DIMENSION)
    optimism = 0
    censoring = 0
    clock = 0.0
    checkpoint = 0
    stop = stops[0]
    chosen = largest_index(actions, lane, means, widths, spread, 1, policy_stream, policy_constants)
    reward, wait = feedback(constants, chosen, 0, GAUSSIAN, environment_stream)

    while True:
        # Play to the next observation, so that threads that run together also learn together.
        observed = False
        while not observed:
            if clock == stop:
                regret = 0.0
                for k in range(actions):
                    regret += arm_state[k, PULLED] * (best - constants[k, MEAN])
                failed, place = optimism if HAS_RADIUS else -1, (row, checkpoint)
                pulls, observations = arm_state[:actions, PULLED], arm_state[:actions, SEEN]
                record(track, place, regret, failed, censoring, pulls, observations)
                for k in range(world.alphas.size):
                    track.potential[row, checkpoint, k] = potential
                checkpoint += 1
                if checkpoint == stops.size:
                    return
                stop = stops[checkpoint]
            span = wait if clock + wait < stop else stop - clock
            clock += span
            wait -= span
            observed = wait == 0.0
            potential += span * widths[chosen, lane]
            pulled = arm_state[chosen, PULLED]
            seen = arm_state[chosen, SEEN]
            rate = 2.0 * constants[chosen, HALF_RATE] / world.censoring_factor
            before = shortage(rate, pulled, seen)
            pulled += span - 1.0 if observed else span
            after = shortage(rate, pulled, seen)
            deficit += after - before
            arm_state[chosen, PULLED] = pulled
            slack = regularization * (1.0 - 1.0 / world.censoring_factor)
            if deficit > slack and censoring == 0:
                censoring = falls_short(world, work)
            if observed:
                arm_state[chosen, PULLED] = pulled + 1.0
                arm_state[chosen, SEEN] = seen + 1.0
                deficit += shortage(rate, pulled + 1.0, seen + 1.0) - after

        arm_state[chosen, SUMS] += reward
        mean = means[chosen, lane]
        off = mean - constants[chosen, MEAN]
        error = reward - constants[chosen, MEAN]
        s = observe_action(actions, work.rows, chosen, reward - mean, lane, half, means, widths)
        spread += math.log(1.0 + s)
        miss += error * (2.0 * off + error * s) - (off + error * s) ** 2 / (1.0 + s)
        learned += 1
        if learned == due:
            spread, miss = start_afresh(world, work)
            due = next_refactor(learned, DIMENSION)
        if HAS_RADIUS and miss > ROUNDING * radius(spread, policy_constants) ** 2:
            optimism = 1
        now = int(clock) + 1
        chosen = largest_index(
            actions, lane, means, widths, spread, now, policy_stream, policy_constants
        )
        count = int(arm_state[chosen, SEEN])
        reward, wait = feedback(constants, chosen, count, GAUSSIAN, environment_stream)


def begin(world: FixedWorld, work: NearWorkspace) -> float:
    """Reset the state and return the squared error of a zero estimate."""
    inverse, estimate, theta = work.matrices[0], work.vectors[0], world.theta
    miss = 0.0
    for i in range(theta.size):
        estimate[i] = 0.0
        miss += world.regularization * theta[i] ** 2
        for j in range(theta.size):
            inverse[i, j] = 1.0 / world.regularization if i == j else 0.0
    refresh(world.columns, work)
    return miss


def falls_short(world: FixedWorld, work: NearWorkspace) -> int:
    """Return 1 if the observed design falls below its share of the expected one."""
    columns, lam, arm_state = world.columns, world.regularization, work.arm_state
    actions = columns.shape[1]
    observed, expected, factor = work.matrices[0], work.matrices[1], work.matrices[2]
    target, g = work.vectors[0], arm_state[:actions, SCRATCH]
    seen, pulled = arm_state[:actions, SEEN], arm_state[:actions, PULLED]
    gather(columns, seen, seen, lam, observed, target)
    gather_expected(columns, work.arm_constants, pulled, lam, expected, target, g)
    return 0 if exceeds(observed, expected, 1.0 / world.censoring_factor, 0.0, factor) else 1


def start_afresh(world: FixedWorld, work: NearWorkspace) -> tuple[float, float]:
    """Recompute everything from the counts and sums; return the spread and the squared error."""
    columns, lam, theta, arm_state = (
        world.columns,
        world.regularization,
        world.theta,
        work.arm_state,
    )
    actions = columns.shape[1]
    inverse, design, factor = work.matrices[0], work.matrices[1], work.matrices[2]
    estimate, target = work.vectors[0], work.vectors[1]
    gather(columns, arm_state[:actions, SEEN], arm_state[:actions, SUMS], lam, design, target)
    logdet = refactor(design, target, factor, inverse, estimate)
    refresh(columns, work)
    miss = 0.0
    for i in range(theta.size):
        miss += lam * (estimate[i] - theta[i]) ** 2
    for k in range(actions):
        off = work.means[k, work.lane] - work.arm_constants[k, MEAN]
        miss += arm_state[k, SEEN] * off**2
    return logdet - DIMENSION * math.log(lam), miss


def observe_action(
    actions: int,
    rows: Vector,
    chosen: int,
    surprise: float,
    lane: int,
    half: Vector,
    means: Vector,
    widths: Vector,
) -> float:
    """Learn a reward: update the inverse, means and widths; return the width before."""
    x = cuda.local.array(DIMENSION, np.float64)
    v = cuda.local.array(DIMENSION, np.float64)
    for i in range(DIMENSION):
        x[i] = rows[chosen, i]
    s = 0.0
    for i in range(DIMENSION):
        total = 0.0
        for j in range(DIMENSION):
            place = i * (i + 1) // 2 + j if j <= i else j * (j + 1) // 2 + i
            total += half[place, lane] * x[j]
        v[i] = total
        s += x[i] * total
    scale = 1.0 / (1.0 + s)
    for i in range(DIMENSION):
        for j in range(i + 1):
            half[i * (i + 1) // 2 + j, lane] -= (v[i] * v[j]) * scale
    step = surprise / (1.0 + s)
    for k in range(actions):
        along = 0.0
        for i in range(DIMENSION):
            along += rows[k, i] * v[i]
        means[k, lane] += along * step
        left = widths[k, lane] - (along * along) * scale
        widths[k, lane] = left if left > 0.0 else 0.0
    return s


def largest_index(
    actions: int,
    lane: int,
    means: Vector,
    widths: Vector,
    spread: float,
    now: int,
    stream: Stream,
    policy_constants: Vector,
) -> int:
    """Return the action with the largest index, the first among equals."""
    chosen = 0
    first = index(means[0, lane], widths[0, lane], spread, 0.0, 0, now, stream, policy_constants)
    edge = tie_edge(first)
    for k in range(1, actions):
        value = index(
            means[k, lane], widths[k, lane], spread, 0.0, k, now, stream, policy_constants
        )
        if value > edge:
            edge = tie_edge(value)
            chosen = k
    return chosen


def refresh(columns: Vector, work: NearWorkspace) -> None:
    """Write the arrays in shared memory from a recomputed inverse and estimate."""
    actions, lane = columns.shape[1], work.lane
    inverse, estimate = work.matrices[0], work.vectors[0]
    means, widths = work.arm_state[:actions, SCRATCH], work.arm_state[:actions, SCRATCH + 1]
    refresh_actions(columns, inverse, estimate, means, widths)
    for k in range(actions):
        work.means[k, lane] = means[k]
        work.widths[k, lane] = widths[k]
    place = 0
    for i in range(inverse.shape[0]):
        for j in range(i + 1):
            work.half[place, lane] = inverse[i, j]
            place += 1


def choose_in_registers(
    work: FixedWorkspace, now: int, stream: Stream, policy_constants: Vector
) -> int:
    """Return the same as `fixed_set.choose`, without storing the indices."""
    means, widths, shifts = work.lists[MEANS], work.lists[WIDTHS], work.lists[SHIFTS]
    spread, chosen = work.numbers[SPREAD], 0
    first = index(means[0], widths[0], spread, shifts[0], 0, now, stream, policy_constants)
    edge = tie_edge(first)
    for k in range(1, means.size):
        value = index(means[k], widths[k], spread, shifts[k], k, now, stream, policy_constants)
        if value > edge:
            edge = tie_edge(value)
            chosen = k
    return chosen
