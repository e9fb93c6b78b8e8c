"""The loop over a fixed set of actions, of linear and generalized linear bandits.

As in `halfseen.engine.loops.arms`, what differs by policy and bandit is filled in: ``index``, the
constants in capitals, and ``reset``, ``shake``, ``learn`` and ``misses``, which are those of
`halfseen.engine.loops.fixed_linear` or `halfseen.engine.loops.fixed_glm`. ``feedback`` is the law
of the rewards. For each action the next observed reward and the number of pulls until it is
observed are drawn in advance; policies whose choice changes only on observations jump from one
observation to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT, POLICY, Stream
from halfseen.engine.arguments import (
    BASIS,
    COUNTS,
    DESIGN,
    DUE,
    EIGENVALUES,
    ESTIMATE,
    EXPECTED_DESIGN,
    EXPLORING,
    FACTOR,
    INVERSE,
    LEARNED,
    MEANS,
    OBSERVED,
    PULLED,
    REWARDS,
    SCRATCH,
    SHAKE,
    SHIFTS,
    SPREAD,
    STALE,
    SUMS,
    TARGET,
    VALUES,
    WAITING,
    WIDTHS,
    G,
)
from halfseen.engine.loops.designs import gather_expected, powered_width, record_designs, shortage
from halfseen.engine.loops.feedback import HALF_RATE, MEAN
from halfseen.engine.loops.record import cleared, record, record_potential
from halfseen.kernels.cholesky import exceeds, factor_often
from halfseen.kernels.compile_hints import inline, loop, shared
from halfseen.kernels.jacobi import eigen
from halfseen.kernels.ridge import gather, next_refactor, refresh_actions
from halfseen.kernels.ties import tie_edge
from halfseen.policies.linear.base import LinearKnowledge

if TYPE_CHECKING:
    from halfseen.engine.arguments import FixedWorkspace, FixedWorld, LinearTrack
    from halfseen.engine.late_tracks import LateLinearTrack
    from halfseen.engine.loops.feedback import gaussian_feedback as feedback
    from halfseen.engine.loops.fixed_linear import learn, misses, reset, shake
    from halfseen.policies.linear.lin_ucb import index
    from halfseen.policies.linear.vids import choose as own_choice

JUMPS = False  # the choice changes only on an observation
CHOOSES = False  # the policy chooses by itself, not by the largest index
IMPUTES = False  # missing rewards are learned as 0
SAMPLES = False  # the policy is given a random shift every round
POWERS = False  # some order of the potential is not 1, which takes eigenvectors
EXPLORES = False  # the most uncertain action is played until every direction was observed once
HAS_RADIUS = False
POLLS = True  # check for requests to stop


@loop
def play(
    first: int, last: int, world: FixedWorld, work: FixedWorkspace, track: LinearTrack
) -> None:
    """Play replications `first` to `last` (excluded) and write their tracks, row by row."""
    for replication in range(first, last):
        if POLLS and work.stop[0] != 0:
            return
        play_once(replication, replication - first, world, work, track)


@inline
def play_once(
    replication: int, row: int, world: FixedWorld, work: FixedWorkspace, track: LinearTrack
) -> None:
    """Play one replication using preallocated workspace."""
    constants, alphas, stops = world.arm_constants, world.alphas, world.stops
    lists, potential, stopped = work.lists, work.potential, work.stop
    widths, pulled, seen, wait = lists[WIDTHS], lists[PULLED], lists[OBSERVED], lists[WAITING]
    rewards, values, axes = lists[REWARDS], work.vectors[EIGENVALUES], work.matrices[BASIS]
    horizon = stops[stops.size - 1]
    slack = world.regularization * (1.0 - 1.0 / world.censoring_factor)
    environment_stream = (world.key[0], world.key[1], replication, ENVIRONMENT)
    policy_stream = (world.key[0], world.key[1], replication, POLICY)
    best = begin(world, work)
    reset(world, work)
    if CHOOSES:
        remember_nothing(world, work)
    for k in range(wait.size):
        rewards[k], wait[k] = feedback(constants, k, 0, environment_stream)
    regret = 0.0
    deficit = 0.0
    optimism = 0
    censoring = 0
    clock = 0.0
    checkpoint = 0
    changed = True
    chosen = 0

    while clock < horizon:
        if POLLS and stopped[0] != 0:
            return
        if changed and POWERS:
            decompose(work)
        if SAMPLES:
            shake(work, policy_stream, int(clock) + 1)
            project_rows(world.rows, work)
        if changed or not JUMPS:
            if CHOOSES:
                chosen = choose_freely(world, work, int(clock) + 1, policy_stream)
            else:
                chosen = choose(work, int(clock) + 1, policy_stream, world.policy_constants)
        changed = False

        span = wait[chosen] if JUMPS else 1.0
        stop = stops[checkpoint]
        if clock + span > stop:
            span = stop - clock
        clock += span
        for k in range(alphas.size):
            if POWERS and alphas[k] != 1.0:
                potential[k] += span * powered_width(world.rows[chosen], values, axes, alphas[k])
            else:
                potential[k] += span * widths[chosen]
        regret += span * (best - constants[chosen, MEAN])
        wait[chosen] -= span
        observed = wait[chosen] == 0.0

        rate = 2.0 * constants[chosen, HALF_RATE] / world.censoring_factor
        before = shortage(rate, pulled[chosen], seen[chosen])
        pulled[chosen] += span - 1.0 if observed else span  # an observed round is counted below
        after = shortage(rate, pulled[chosen], seen[chosen])
        deficit += after - before
        if deficit > slack and censoring == 0:
            censoring = falls_short(world, work)
        if observed:
            pulled[chosen] += 1.0
            seen[chosen] += 1.0
            deficit += shortage(rate, pulled[chosen], seen[chosen]) - after

        if observed or IMPUTES:
            learn(world, work, chosen, rewards[chosen] if observed else 0.0)
            changed = True
            if HAS_RADIUS and optimism == 0 and misses(world, work):
                optimism = 1
        if observed:
            gained, left = feedback(constants, chosen, int(seen[chosen]), environment_stream)
            rewards[chosen] = gained
            wait[chosen] = left

        if clock == stop:
            place, failed = (row, checkpoint), optimism if HAS_RADIUS else -1
            record(track, place, regret, failed, censoring, pulled, seen)
            record_potential(track, place, potential)
            record_both(world, work, track, row, checkpoint)
            checkpoint += 1


@shared
def begin(world: FixedWorld, work: FixedWorkspace) -> float:
    """Reset the state and return the largest mean."""
    inverse, estimate, lists, numbers = (
        work.matrices[INVERSE],
        work.vectors[ESTIMATE],
        work.lists,
        work.numbers,
    )
    d = estimate.size
    for i in range(d):
        estimate[i] = 0.0
        for j in range(d):
            inverse[i, j] = 1.0 / world.regularization if i == j else 0.0
    refresh_actions(world.columns, inverse, estimate, lists[MEANS], lists[WIDTHS])
    for which in (COUNTS, SUMS, PULLED, OBSERVED, SHIFTS):
        cleared(lists[which])
    cleared(work.potential)
    cleared(numbers)
    numbers[DUE] = next_refactor(0, d)
    numbers[STALE] = 1.0
    best = -np.inf
    for k in range(lists.shape[1]):
        if world.arm_constants[k, MEAN] > best:
            best = world.arm_constants[k, MEAN]
    return best


@inline
def choose(work: FixedWorkspace, now: int, stream: Stream, policy_constants: Vector) -> int:
    """Return the action with the largest index, the first among equals."""
    means, widths, values = work.lists[MEANS], work.lists[WIDTHS], work.lists[VALUES]
    shifts, spread = work.lists[SHIFTS], work.numbers[SPREAD]
    exploring = EXPLORES and work.numbers[EXPLORING] > 0.0
    for k in range(means.size):
        if exploring:
            values[k] = widths[k]
        else:
            values[k] = index(
                means[k], widths[k], spread, shifts[k], k, now, stream, policy_constants
            )
    chosen = 0
    edge = tie_edge(values[0])
    for k in range(1, means.size):
        if values[k] > edge:
            edge = tie_edge(values[k])
            chosen = k
    return chosen


def remember_nothing(world: FixedWorld, work: FixedWorkspace) -> None:
    """Clear the policy's memory, and write the probabilities of being observed that it may read."""
    cleared(work.memory)
    for k in range(world.rows.shape[0]):
        work.lists[SHIFTS, k] = 2.0 * world.arm_constants[k, HALF_RATE]


@inline
def choose_freely(world: FixedWorld, work: FixedWorkspace, now: int, stream: Stream) -> int:
    """Return the choice of a policy with its own `choose` kernel."""
    lists, numbers = work.lists, work.numbers
    if numbers[STALE] > 0.0:
        refresh_posterior(world, work)
        numbers[STALE] = 0.0
    known = LinearKnowledge(
        work.vectors[SHAKE],
        work.matrices[FACTOR],
        numbers[LEARNED],
        lists[PULLED],
        lists[OBSERVED],
        lists[SHIFTS],
        1,
    )
    return own_choice(world.rows, known, work.memory, now, stream, world.policy_constants)


def refresh_posterior(world: FixedWorld, work: FixedWorkspace) -> None:
    """Write the estimate and the factor of the inverse of the design, read from its lower half."""
    inverse, vectors = work.matrices[INVERSE], work.vectors
    factor_often(inverse, work.matrices[FACTOR])
    estimate_theta(inverse, world.columns, work.lists[SUMS], vectors[TARGET], vectors[SHAKE])


@shared
def estimate_theta(
    inverse: Vector, columns: Vector, sums: Vector, target: Vector, estimate: Vector
) -> None:
    """Write the ridge estimate from the sum of the rewards of each action."""
    d = estimate.size
    for i in range(d):
        column, total = columns[i], 0.0
        for k in range(sums.size):
            total += sums[k] * column[k]
        target[i] = total
    for i in range(d):
        total = 0.0
        for j in range(d):
            total += (inverse[i, j] if j <= i else inverse[j, i]) * target[j]
        estimate[i] = total


@inline
def project_rows(rows: Vector, work: FixedWorkspace) -> None:
    """Write the product of every action with the random shift."""
    moved, shifts = work.vectors[SHAKE], work.lists[SHIFTS]
    for k in range(shifts.size):
        total = 0.0
        for i in range(moved.size):
            total += rows[k, i] * moved[i]
        shifts[k] = total


@shared
def decompose(work: FixedWorkspace) -> None:
    """Write the eigenvalues and eigenvectors of the inverse."""
    inverse, scratch = work.matrices[INVERSE], work.matrices[SCRATCH]
    for i in range(inverse.shape[0]):
        for j in range(i + 1):
            scratch[i, j] = inverse[i, j]
            scratch[j, i] = inverse[i, j]
    eigen(scratch, work.vectors[EIGENVALUES], work.matrices[BASIS])


def gather_designs(world: FixedWorld, work: FixedWorkspace) -> None:
    """Write the observed and the expected design."""
    columns, lam, lists = world.columns, world.regularization, work.lists
    matrices, target, g = work.matrices, work.vectors[TARGET], lists[G]
    gather(columns, lists[OBSERVED], lists[OBSERVED], lam, matrices[DESIGN], target)
    gather_expected(
        columns, world.arm_constants, lists[PULLED], lam, matrices[EXPECTED_DESIGN], target, g
    )


@shared
def falls_short(world: FixedWorld, work: FixedWorkspace) -> int:
    """Return 1 if the observed design falls below its share of the expected one."""
    gather_designs(world, work)
    work.numbers[STALE] = 1.0  # the factor was used as scratch
    observed, expected = work.matrices[DESIGN], work.matrices[EXPECTED_DESIGN]
    share = 1.0 / world.censoring_factor
    return 0 if exceeds(observed, expected, share, 0.0, work.matrices[FACTOR]) else 1


@shared
def record_both(
    world: FixedWorld,
    work: FixedWorkspace,
    track: LinearTrack | LateLinearTrack,
    row: int,
    checkpoint: int,
) -> None:
    """Write log det W - d log lambda and the eigenvalues of both designs."""
    gather_designs(world, work)
    record_designs(
        work.matrices[DESIGN],
        work.matrices[EXPECTED_DESIGN],
        world.regularization,
        work.matrices[SCRATCH],
        track.spread[row, checkpoint],
        track.eigenvalues[row, checkpoint],
    )
