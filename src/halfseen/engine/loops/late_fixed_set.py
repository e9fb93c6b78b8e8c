"""The loop over a fixed set of actions with late feedback.

The open names are those of `halfseen.engine.loops.fixed_set`; ``choose`` and ``choose_freely`` are
its own, and ``dated_feedback`` is the law of the rewards. A round is: choose, play, send the
message, deliver the messages that have arrived, give up those that are too old. Every round is
played.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfseen.draws import ENVIRONMENT, POLICY
from halfseen.engine.arguments import (
    BASIS,
    DESIGN,
    EIGENVALUES,
    EXPECTED_DESIGN,
    FACTOR,
    OBSERVED,
    PULLED,
    SHAKE,
    STALE,
    SUMS,
    TARGET,
    WIDTHS,
    G,
)
from halfseen.engine.late_arguments import ARM, HEAD, NEVER, NEXT, NONE
from halfseen.engine.late_vectors import COMING, OPEN, RECENT
from halfseen.engine.loops.designs import gather_expected, powered_width, shortage
from halfseen.engine.loops.feedback import HALF_RATE, MEAN
from halfseen.engine.loops.fixed_set import (
    begin,
    decompose,
    project_rows,
    record_both,
    refresh_posterior,
    remember_nothing,
)
from halfseen.engine.loops.late_messages import (
    clear_messages,
    delay_of,
    given_up,
    record_pending,
    send,
)
from halfseen.engine.loops.record import record, record_potential
from halfseen.kernels.cholesky import exceeds
from halfseen.kernels.compile_hints import inline, loop, shared
from halfseen.kernels.ridge import gather
from halfseen.policies.linear.base import LateKnowledge

if TYPE_CHECKING:
    from halfseen.checks import Vector
    from halfseen.draws import Stream
    from halfseen.engine.arguments import FixedWorkspace, FixedWorld
    from halfseen.engine.late_tracks import LateLinearTrack
    from halfseen.engine.late_vectors import LateVectorWorkspace, LateVectorWorld
    from halfseen.engine.loops.feedback import gaussian_dated as dated_feedback
    from halfseen.engine.loops.fixed_linear import learn, misses, reset, shake
    from halfseen.engine.loops.fixed_set import choose, choose_freely
    from halfseen.policies.linear.otf_lin_ucb import one_sided as own_choice

PULLS_COUNT = False  # the design counts every play immediately, rewards when they arrive
WAITS = False  # the choice changes only when something is learned
CHOOSES = False  # the policy chooses by itself, not by the largest index
IMPUTES = False  # rewards that are given up are learned as 0
SAMPLES = False  # the policy is given a random shift every round
POWERS = False  # some order of the potential is not 1, which takes eigenvectors
HAS_RADIUS = False
POLLS = True  # check for requests to stop


@loop
def play(
    first: int,
    last: int,
    world: LateVectorWorld,
    work: LateVectorWorkspace,
    track: LateLinearTrack,
) -> None:
    """Play replications `first` to `last` (excluded) and write their tracks, row by row."""
    for replication in range(first, last):
        if POLLS and work.stop[0] != 0:
            return
        play_once(replication, replication - first, world, work, track)


@inline
def play_once(
    replication: int,
    row: int,
    world: LateVectorWorld,
    work: LateVectorWorkspace,
    track: LateLinearTrack,
) -> None:
    """Play one replication using preallocated workspace."""
    fixed, own = world.own, work.own
    constants, alphas, stops = fixed.arm_constants, fixed.alphas, fixed.stops
    lists, potential, coming = own.lists, own.potential, work.counts[COMING]
    widths, pulled, seen = lists[WIDTHS], lists[PULLED], lists[OBSERVED]
    values, axes = own.vectors[EIGENVALUES], own.matrices[BASIS]
    slack = fixed.regularization * (1.0 - 1.0 / fixed.censoring_factor)
    environment_stream = (fixed.key[0], fixed.key[1], replication, ENVIRONMENT)
    policy_stream = (fixed.key[0], fixed.key[1], replication, POLICY)
    best = begin(fixed, own)
    reset(fixed, own)
    clear_messages(work, fixed.regularization)
    if CHOOSES:
        remember_nothing(fixed, own)
    regret = 0.0
    deficit = 0.0
    optimism = 0
    censoring = 0
    checkpoint = 0
    changed = True
    chosen = 0

    for clock in range(1, int(stops[stops.size - 1]) + 1):
        if POLLS and work.stop[0] != 0:
            return
        if changed and POWERS:
            decompose(own)
        if SAMPLES:
            shake(own, policy_stream, clock)
            project_rows(fixed.rows, own)
        if changed or not WAITS:
            if PULLS_COUNT:
                chosen = choose_counting(world, work, clock, policy_stream)
            elif CHOOSES:
                chosen = choose_freely(fixed, own, clock, policy_stream)
            else:
                chosen = choose(own, clock, policy_stream, fixed.policy_constants)
        changed = False

        for k in range(alphas.size):
            if POWERS and alphas[k] != 1.0:
                potential[k] += powered_width(fixed.rows[chosen], values, axes, alphas[k])
            else:
                potential[k] += widths[chosen]
        regret += best - constants[chosen, MEAN]
        reward, delay = outcome(world, chosen, int(pulled[chosen]), clock, environment_stream)
        rate = 2.0 * constants[chosen, HALF_RATE] / fixed.censoring_factor
        before = shortage(rate, pulled[chosen], coming[chosen])
        send(world, work, clock, chosen, reward, delay)
        pulled[chosen] += 1.0
        deficit += shortage(rate, pulled[chosen], coming[chosen]) - before
        if deficit > slack and censoring == 0:
            censoring = falls_short(fixed, own, coming)
        if PULLS_COUNT:
            work.unsettled[RECENT, chosen] += 1.0
            work.unsettled[OPEN, chosen] += 1.0
            learn(fixed, own, chosen, 0.0)
            changed = True

        slot = clock & (work.slots.shape[0] - 1)
        news = work.slots[slot, HEAD]
        while news >= 0:
            after = work.messages[news, NEXT]
            action = work.messages[news, ARM]
            work.messages[news, NEXT] = NONE
            seen[action] += 1.0
            changed = True
            if PULLS_COUNT:
                work.unsettled[OPEN, action] -= 1.0
                own.lists[SUMS, action] += work.rewards[news]
                own.numbers[STALE] = 1.0
            else:
                learn(fixed, own, action, work.rewards[news])
            if HAS_RADIUS and optimism == 0 and misses(fixed, own):
                optimism = 1
            news = after
        work.slots[slot, HEAD] = NONE
        if PULLS_COUNT:
            settle(world, work, clock)
        old = given_up(world, work, clock)
        if IMPUTES and old >= 0:
            learn(fixed, own, work.messages[old, ARM], 0.0)
            changed = True
            if HAS_RADIUS and optimism == 0 and misses(fixed, own):
                optimism = 1

        if clock == stops[checkpoint]:
            place, failed = (row, checkpoint), optimism if HAS_RADIUS else -1
            record(track, place, regret, failed, censoring, pulled, seen)
            record_potential(track, place, potential)
            record_both(fixed, own, track, row, checkpoint)
            record_pending(track, place, work, pulled)
            checkpoint += 1


@inline
def outcome(
    world: LateVectorWorld, action: int, count: int, clock: int, stream: Stream
) -> tuple[float, float]:
    """Return the reward of playing an action and its delay, infinite if it never arrives."""
    reward, u = dated_feedback(world.own.arm_constants, action, count, stream)
    return reward, delay_of(world, action, reward, u)


@inline
def choose_counting(
    world: LateVectorWorld, work: LateVectorWorkspace, now: int, stream: Stream
) -> int:
    """Return the choice of a policy that counts its plays."""
    fixed, own, unsettled = world.own, work.own, work.unsettled
    if own.numbers[STALE] > 0.0:
        refresh_posterior(fixed, own)
        own.numbers[STALE] = 0.0
    known = LateKnowledge(
        own.vectors[SHAKE], own.matrices[FACTOR], fixed.rows, unsettled[RECENT], unsettled[OPEN]
    )
    return own_choice(fixed.rows, known, own.memory, now, stream, fixed.policy_constants)


@inline
def settle(world: LateVectorWorld, work: LateVectorWorkspace, clock: int) -> None:
    """Remove the decision that has reached the age of the window from the unsettled ones."""
    if clock > world.window:
        old = int(clock - world.window) & (work.messages.shape[0] - 1)
        action = work.messages[old, ARM]
        work.unsettled[RECENT, action] -= 1.0
        if work.messages[old, NEXT] == NEVER:
            work.unsettled[OPEN, action] -= 1.0


@shared
def falls_short(world: FixedWorld, work: FixedWorkspace, coming: Vector) -> int:
    """Return 1 if the design of arriving messages falls below its share of the expected one."""
    columns, lam, matrices = world.columns, world.regularization, work.matrices
    design, expected, target = matrices[DESIGN], matrices[EXPECTED_DESIGN], work.vectors[TARGET]
    gather(columns, coming, coming, lam, design, target)
    constants, pulled = world.arm_constants, work.lists[PULLED]
    gather_expected(columns, constants, pulled, lam, expected, target, work.lists[G])
    work.numbers[STALE] = 1.0  # the factor was used as scratch
    share = 1.0 / world.censoring_factor
    return 0 if exceeds(design, expected, share, 0.0, matrices[FACTOR]) else 1
