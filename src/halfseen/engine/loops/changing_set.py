"""The loop over actions that change from round to round, and over the unit ball.

What differs is filled in. ``reset``, ``choose``, ``learn`` and ``misses`` are those of
`halfseen.engine.loops.drawn`, `halfseen.engine.loops.ball` or `halfseen.engine.loops.drawn_glm`;
``respond`` returns when a round is observed, ``longer`` enlarges the history of observed rounds,
``reward`` is the law of the rewards and ``observe_probability`` that of the censorship. On the ball
alone, a policy whose choice changes only on observations jumps from one to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfseen.draws import ENVIRONMENT
from halfseen.engine.arguments import (
    ACTION,
    AXES,
    DESIGN,
    EXPECTED,
    HONEST,
    INVERSE_VALUES,
    LEARNED,
    SCRATCH,
    SHOWN,
)
from halfseen.engine.loops.designs import add_square, powered_width, record_designs
from halfseen.engine.loops.record import cleared, record, record_potential
from halfseen.kernels.cholesky import exceeds
from halfseen.kernels.compile_hints import inline, loop

if TYPE_CHECKING:
    from halfseen.censorship.multi_threshold import observe_probability
    from halfseen.engine.arguments import ChangingWorkspace, ChangingWorld, LinearTrack
    from halfseen.engine.loops.drawn import (
        choose,
        decompose,
        learn,
        longer,
        misses,
        reset,
        respond,
    )
    from halfseen.problems.links import draw_gaussian as reward

BALL = False  # every vector of the unit ball may be played; draws are indexed by observations
JUMPS = False  # the choice changes only on an observation
LISTED = False  # the probabilities of being observed are listed, not computed
IMPUTES = False  # missing rewards are learned as 0
KEEPS = False  # observed rounds are kept
POWERS = False  # some order of the potential is not 1, which takes eigenvectors
SPECTRAL = False  # the policy needs the eigenvectors of the design
HAS_RADIUS = False
POLLS = True  # check for requests to stop


@loop
def play(
    first: int, last: int, world: ChangingWorld, work: ChangingWorkspace, track: LinearTrack
) -> None:
    """Play replications `first` to `last` (excluded) and write their tracks, row by row."""
    for replication in range(first, last):
        if POLLS and work.stop[0] != 0:
            return
        play_once(replication, replication - first, world, work, track)


@inline
def play_once(
    replication: int, row: int, world: ChangingWorld, work: ChangingWorkspace, track: LinearTrack
) -> None:
    """Play one replication using preallocated workspace."""
    alphas, stops, numbers = world.alphas, world.stops, work.numbers
    pulled, seen, potential, stopped = work.groups[0], work.groups[1], work.potential, work.stop
    x, values, axes = work.lines[ACTION], work.lines[INVERSE_VALUES], work.designs[AXES]
    # A policy that imputes learns from more rounds than were observed.
    honest = work.designs[HONEST] if IMPUTES else work.matrices[DESIGN]
    expected, history = work.designs[EXPECTED], work.history
    horizon = stops[stops.size - 1]
    share = 1.0 / world.censoring_factor
    slack = 0.5 * world.regularization * (1.0 - share)
    environment_stream = (world.key[0], world.key[1], replication, ENVIRONMENT)
    reset(world, work, replication)
    begin(work)
    regret = 0.0
    unsure = 0.0  # bound on the growth of the expected design since the last comparison
    wait = 0.0
    rate = 1.0
    best = 0.0
    truth = 0.0
    width = 0.0
    region = 0
    chosen = 0
    optimism = 0
    censoring = 0
    clock = 0.0
    now = 0
    checkpoint = 0
    changed = True
    observed = True

    while clock < horizon:
        if POLLS and stopped[0] != 0:
            return
        if changed and (POWERS or (BALL and SPECTRAL)):
            decompose(work)
        if changed or not JUMPS:
            now = int(clock) + 1
            chosen, best, truth, width = choose(world, work, replication, now)
            along = 0.0
            for i in range(x.size):
                along += x[i] * world.direction[i]
            region = 0
            while region < world.cuts.size and along >= world.cuts[region]:
                region += 1
            if LISTED:
                rate = world.rates[(now - 1) % world.rates.shape[0], chosen]
            else:
                rate = observe_probability(along, world.observe_table)
            wait = respond(numbers, rate, observed, environment_stream, now)
        changed = False

        span = wait if JUMPS else 1.0
        stop = stops[checkpoint]
        if clock + span > stop:
            span = stop - clock
        clock += span
        wait -= span
        observed = wait == 0.0
        for k in range(alphas.size):
            if POWERS and alphas[k] != 1.0:
                potential[k] += span * powered_width(x, values, axes, alphas[k])
            else:
                potential[k] += span * width
        regret += span * (best - truth)
        pulled[region] += span
        add_square(expected, rate * span, x)
        unsure += rate * span
        if (BALL or not observed) and censoring == 0 and unsure > slack * world.censoring_factor:
            if exceeds(honest, expected, share, slack, work.matrices[SCRATCH]):
                unsure = 0.0
            elif not exceeds(honest, expected, share, 0.0, work.matrices[SCRATCH]):
                censoring = 1

        if observed or IMPUTES:
            gained = 0.0
            if observed:
                place = int(numbers[SHOWN]) if BALL else now
                gained = reward(truth, world.noise_scale, environment_stream, place, 0)
                seen[region] += 1.0
                numbers[SHOWN] += 1.0
                if IMPUTES:
                    add_square(honest, 1.0, x)
            if KEEPS and numbers[LEARNED] == history.paid.size:
                history = longer(history)
            fresh = learn(world, work, history, gained)
            changed = True
            if HAS_RADIUS and fresh and optimism == 0 and misses(world, work):
                optimism = 1

        if clock == stop:
            here, failed = (row, checkpoint), optimism if HAS_RADIUS else -1
            record(track, here, regret, failed, censoring, pulled, seen)
            record_potential(track, here, potential)
            record_designs(
                honest,
                expected,
                world.regularization,
                work.matrices[SCRATCH],
                track.spread[row, checkpoint],
                track.eigenvalues[row, checkpoint],
            )
            checkpoint += 1


def begin(work: ChangingWorkspace) -> None:
    """Reset the designs to their initial values."""
    design = work.matrices[DESIGN]
    for i in range(design.shape[0]):
        for j in range(design.shape[0]):
            work.designs[HONEST, i, j] = design[i, j]
            work.designs[EXPECTED, i, j] = design[i, j]
    cleared(work.groups[0])
    cleared(work.groups[1])
    cleared(work.potential)
    work.numbers[SHOWN] = 0.0
