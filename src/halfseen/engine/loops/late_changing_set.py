"""The loop over changing actions, and over the unit ball, with late feedback.

The open names are those of `halfseen.engine.loops.changing_set`. Every round is played and sends
one message, which carries its action.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfseen.draws import ENVIRONMENT, POLICY, Stream, unit, words
from halfseen.engine.arguments import (
    ACTION,
    AXES,
    DESIGN,
    ESTIMATE,
    EXPECTED,
    FACTOR,
    HONEST,
    INVERSE,
    INVERSE_VALUES,
    LEARNED,
    SCRATCH,
    STALE,
    TARGET,
    TARGET_REST,
    V,
)
from halfseen.engine.late_arguments import HEAD, NEXT, NONE
from halfseen.engine.late_vectors import OPEN, RECENT
from halfseen.engine.loops.changing_set import begin
from halfseen.engine.loops.designs import add_square, powered_width, record_designs
from halfseen.engine.loops.late_messages import (
    clear_messages,
    delay_of,
    given_up,
    record_pending,
    send,
)
from halfseen.engine.loops.record import record, record_potential
from halfseen.kernels.cholesky import exceeds, lower_factor
from halfseen.kernels.compile_hints import inline, loop
from halfseen.policies.linear.base import LateKnowledge

if TYPE_CHECKING:
    from halfseen.engine.arguments import ChangingWorkspace
    from halfseen.engine.late_tracks import LateLinearTrack
    from halfseen.engine.late_vectors import LateVectorWorkspace, LateVectorWorld
    from halfseen.engine.loops.drawn import choose, decompose, learn, longer, misses, reset
    from halfseen.policies.linear.otf_lin_ucb import one_sided as own_choice
    from halfseen.problems.links import draw_gaussian as reward
    from halfseen.problems.links import one as sent_share

PULLS_COUNT = False  # the design counts every play immediately, rewards when they arrive
BALL = False  # every vector of the unit ball may be played
JUMPS = False  # the choice changes only when something is learned
IMPUTES = False  # rewards that are given up are learned as 0
KEEPS = False  # observed rounds are kept
POWERS = False  # some order of the potential is not 1, which takes eigenvectors
SPECTRAL = False  # the policy needs the eigenvectors of the design
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
    given, own, coming = world.own, work.own, work.design
    alphas, stops, scratch = given.alphas, given.stops, own.matrices[SCRATCH]
    pulled, seen, potential = own.groups[0], own.groups[1], own.potential
    x, values, axes = own.lines[ACTION], own.lines[INVERSE_VALUES], own.designs[AXES]
    # A policy that imputes, or counts its plays, learns from more rounds than were observed.
    honest = own.designs[HONEST] if IMPUTES or PULLS_COUNT else own.matrices[DESIGN]
    expected, history = own.designs[EXPECTED], own.history
    share = 1.0 / given.censoring_factor
    slack = 0.5 * given.regularization * (1.0 - share)
    environment_stream = (given.key[0], given.key[1], replication, ENVIRONMENT)
    reset(given, own, replication)
    begin(own)
    clear_messages(work, given.regularization)
    regret = 0.0
    unsure = 0.0  # bound on the growth of the expected design since the last comparison
    best = 0.0
    truth = 0.0
    width = 0.0
    optimism = 0
    censoring = 0
    checkpoint = 0
    changed = True

    for clock in range(1, int(stops[stops.size - 1]) + 1):
        if POLLS and work.stop[0] != 0:
            return
        if changed and (POWERS or (BALL and SPECTRAL)):
            decompose(own)
        if changed or not JUMPS:
            _, best, truth, width = choose(given, own, replication, clock)
            if PULLS_COUNT:
                policy_stream = (given.key[0], given.key[1], replication, POLICY)
                truth, width = choose_counting(world, work, clock, policy_stream)
        changed = False

        for k in range(alphas.size):
            if POWERS and alphas[k] != 1.0:
                potential[k] += powered_width(x, values, axes, alphas[k])
            else:
                potential[k] += width
        regret += best - truth
        pulled[0] += 1.0
        gained, delay = outcome(world, truth, clock, environment_stream)
        comes = send(world, work, clock, 0, gained, delay)
        number = clock & (work.messages.shape[0] - 1)
        for i in range(x.size):
            work.sent[number, i] = x[i]
        rate = given.observe_table[0] * sent_share(truth)
        add_square(expected, rate, x)
        unsure += rate
        if comes:
            add_square(coming, 1.0, x)
        elif censoring == 0 and unsure > slack * given.censoring_factor:
            if exceeds(coming, expected, share, slack, scratch):
                unsure = 0.0
            elif not exceeds(coming, expected, share, 0.0, scratch):
                censoring = 1
        if PULLS_COUNT:
            work.unsettled[RECENT, number] = 1.0
            work.unsettled[OPEN, number] = 1.0
            learn(given, own, history, 0.0)
            changed = True

        slot = clock & (work.slots.shape[0] - 1)
        news = work.slots[slot, HEAD]
        while news >= 0:
            after = work.messages[news, NEXT]
            work.messages[news, NEXT] = NONE
            seen[0] += 1.0
            recall(work, own, news)
            if IMPUTES or PULLS_COUNT:
                add_square(honest, 1.0, x)
            if KEEPS and own.numbers[LEARNED] == history.paid.size:
                history = longer(history)
            if PULLS_COUNT:
                work.unsettled[OPEN, news] = 0.0
                fresh = pay(own, work.rewards[news])
            else:
                fresh = learn(given, own, history, work.rewards[news])
            changed = True
            if HAS_RADIUS and fresh and optimism == 0 and misses(given, own):
                optimism = 1
            news = after
        work.slots[slot, HEAD] = NONE
        if PULLS_COUNT and clock > world.window:
            settled = int(clock - world.window) & (work.messages.shape[0] - 1)
            work.unsettled[RECENT, settled] = 0.0
            work.unsettled[OPEN, settled] = 0.0
        old = given_up(world, work, clock)
        if IMPUTES and old >= 0:
            recall(work, own, old)
            if KEEPS and own.numbers[LEARNED] == history.paid.size:
                history = longer(history)
            fresh = learn(given, own, history, 0.0)
            changed = True
            if HAS_RADIUS and fresh and optimism == 0 and misses(given, own):
                optimism = 1

        if clock == stops[checkpoint]:
            here, failed = (row, checkpoint), optimism if HAS_RADIUS else -1
            record(track, here, regret, failed, censoring, pulled, seen)
            record_potential(track, here, potential)
            record_designs(
                honest,
                expected,
                given.regularization,
                scratch,
                track.spread[row, checkpoint],
                track.eigenvalues[row, checkpoint],
            )
            record_pending(track, here, work, pulled)
            checkpoint += 1


@inline
def outcome(
    world: LateVectorWorld, truth: float, clock: int, stream: Stream
) -> tuple[float, float]:
    """Return a reward with a given mean and its delay, infinite if it never arrives."""
    place = clock - 1 if BALL else clock  # the ball counts observations, others rounds
    gained = reward(truth, world.own.noise_scale, stream, place, 0)
    _, _, high, low = words(stream, place, 0)
    return gained, delay_of(world, 0, gained, unit(high, low))


@inline
def recall(work: LateVectorWorkspace, own: ChangingWorkspace, number: int) -> None:
    """Copy the action of a message to where `learn` reads it; the next round overwrites it."""
    for i in range(work.sent.shape[1]):
        own.lines[ACTION, i] = work.sent[number, i]


@inline
def choose_counting(
    world: LateVectorWorld, work: LateVectorWorkspace, now: int, stream: Stream
) -> tuple[float, float]:
    """Write the action of the round that a policy that counts its plays chooses.

    Returns its mean and its squared width.
    """
    own = work.own
    columns, rows, factor = own.columns, own.actions, own.matrices[FACTOR]
    if own.numbers[STALE] > 0.0:
        lower_factor(own.matrices[INVERSE], factor)
        own.numbers[STALE] = 0.0
    d, count = columns.shape
    for k in range(count):
        for i in range(d):
            rows[k, i] = columns[i, k]
    known = LateKnowledge(
        own.vectors[ESTIMATE], factor, work.sent, work.unsettled[RECENT], work.unsettled[OPEN]
    )
    chosen = own_choice(rows, known, own.memory, now, stream, world.own.policy_constants)
    for i in range(d):
        own.lines[ACTION, i] = rows[chosen, i]
    return own.truths[chosen], own.squares[chosen]


@inline
def pay(own: ChangingWorkspace, gained: float) -> bool:
    """Add the reward of an action that was counted when it was played; always True."""
    inverse, x, v = own.matrices[INVERSE], own.lines[ACTION], own.vectors[V]
    target, rest, estimate = own.vectors[TARGET], own.vectors[TARGET_REST], own.vectors[ESTIMATE]
    for i in range(x.size):
        along = 0.0
        for j in range(x.size):  # the lower half of the inverse is kept
            along += (inverse[i, j] if j <= i else inverse[j, i]) * x[j]
        v[i] = along
    for i in range(x.size):
        estimate[i] += gained * v[i]
        missing = gained * x[i] - rest[i]
        total = target[i] + missing
        rest[i] = (total - target[i]) - missing
        target[i] = total
    return True
