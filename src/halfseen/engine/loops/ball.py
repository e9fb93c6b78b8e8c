"""The loop of linear bandits that may play any vector of the unit ball.

``on_ball``, ``radius``, ``observe_probability`` and the constants in capitals are filled in with
the policy's and the censorship's own. A policy that changes its mind only on observations jumps
from one to the next. An observation costs O(d^3) if the policy samples, or if it or an order of
the potential needs the eigenvectors of the design, else O(d^2), as does a round on its own.

Whatever the policy, observation number n has the same noise, and comes when the rounds since the
one before have used up the same exponential number; a round seen with probability p uses
-log(1-p) of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT, POLICY, exponential_from, normal_from, words
from halfseen.engine.loops.designs import (
    ROUNDING,
    exceeds,
    lower_factor,
    powered_width,
    record_designs,
    restart,
    squared_error,
)
from halfseen.engine.loops.feedback import LONGEST_WAIT
from halfseen.kernels.jacobi import eigen
from halfseen.kernels.ridge import (
    accumulate,
    next_refactor,
    observe_action,
    refactor,
    update_estimate,
)
from halfseen.problems.contexts import fill_normals
from halfseen.theory.ellipsoid import SCRATCH_ROWS

if TYPE_CHECKING:
    from halfseen.censorship.multi_threshold import observe_probability
    from halfseen.policies.lin_ucb import most_optimistic as on_ball
    from halfseen.policies.lin_ucb import radius

JUMPS = False  # the choice changes only on an observation
IMPUTES = False  # missing rewards are learned as 0
SAMPLES = False  # the policy is given a random shift every round
SPECTRAL = False  # the policy needs the eigenvectors of the design
HAS_RADIUS = False


def play_ball(
    first: int,
    last: int,
    horizon: int,
    theta: Vector,
    noise_scale: float,
    direction: Vector,
    observe_table: Vector,
    cuts: Vector,
    table: Vector,
    key: tuple[int, int],
    checkpoints: NDArray[Any],
    alphas: Vector,
    regularization: float,
    censoring_factor: float,
    regret: Vector,
    pulls: NDArray[Any],
    observations: NDArray[Any],
    potential: Vector,
    optimism_failed: NDArray[Any],
    censoring_failed: NDArray[Any],
    spread_track: Vector,
    eigenvalues: Vector,
) -> None:
    """Play replications `first` to `last` (excluded) and write their tracks, row by row."""
    d = theta.size
    inverse, factor, scratch = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    design, rest, expected = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    vectors, other, rows = np.zeros((d, d)), np.zeros((d, d)), np.zeros((SCRATCH_ROWS, d))
    # What a policy learns from is not what was observed when it makes up what is missing.
    honest = np.zeros((d, d)) if IMPUTES else design
    estimate, target, target_rest = np.zeros(d), np.zeros(d), np.zeros(d)
    v, x, lengths, inverse_values = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    noise, shake = np.zeros(d), np.zeros(d)
    pulled, seen = np.zeros(cuts.size + 1), np.zeros(cuts.size + 1)
    spent = np.zeros(alphas.size)
    stops = checkpoints.astype(np.float64)
    share = 1.0 / censoring_factor
    slack = 0.5 * regularization * (1.0 - share)
    powers = False
    for k in range(alphas.size):
        powers = powers or alphas[k] != 1.0
    best = 0.0
    for i in range(d):
        best += theta[i] * theta[i]
    best = math.sqrt(best)

    for replication in range(first, last):
        row = replication - first
        world = (key[0], key[1], replication, ENVIRONMENT)
        mind = (key[0], key[1], replication, POLICY)
        restart(regularization, inverse, design, rest, expected, estimate, target, target_rest)
        if IMPUTES:
            for i in range(d):
                for j in range(d):
                    honest[i, j] = design[i, j]
        for j in range(pulled.size):
            pulled[j] = 0.0
            seen[j] = 0.0
        for k in range(alphas.size):
            spent[k] = 0.0
        lost = 0.0
        spread = 0.0
        unsure = 0.0  # how much the expected design may have grown since it was last compared
        wait = 0.0
        left = 0.0  # of the exponential number that decides when the next reward is seen
        rate = 1.0
        truth = 0.0
        width = 0.0
        error = 0.0
        region = 0
        shown = 0
        learned = 0
        due = next_refactor(0, d)
        optimism = 0
        censoring = 0
        clock = 0.0
        checkpoint = 0
        changed = True
        observed = True

        while clock < horizon:
            if changed and (SPECTRAL or powers):
                for i in range(d):
                    for j in range(d):
                        scratch[i, j] = design[i, j]
                eigen(scratch, lengths, vectors)
                for i in range(d):
                    inverse_values[i] = 1.0 / lengths[i]
            if SAMPLES:
                if changed:
                    lower_factor(inverse, factor)
                fill_normals(mind, int(clock) + 1, 0, noise)
                for i in range(d):
                    total = 0.0
                    for j in range(i + 1):
                        total += factor[i, j] * noise[j]
                    shake[i] = total
            if changed or not JUMPS:
                now = int(clock) + 1
                on_ball(estimate, shake, lengths, vectors, spread, now, mind, table, rows, x)
                truth = 0.0
                along = 0.0
                width = 0.0
                for i in range(d):
                    truth += x[i] * theta[i]
                    along += x[i] * direction[i]
                    total = 0.0
                    for j in range(d):
                        total += inverse[i, j] * x[j]
                    width += total * x[i]
                region = 0
                while region < cuts.size and along >= cuts[region]:
                    region += 1
                rate = observe_probability(along, observe_table)
                if observed:
                    high, low, wait_high, wait_low = words(world, shown, 0)
                    error = noise_scale * normal_from(high, low, world, shown, 0)
                    left = exponential_from(wait_high, wait_low, world, shown, 0)
                wait = 1.0
                if rate < 1.0:
                    missed = left / -math.log1p(-rate)
                    if not JUMPS:
                        left += math.log1p(-rate)
                    wait = LONGEST_WAIT if missed > LONGEST_WAIT else 1.0 + math.floor(missed)
            changed = False

            span = wait if JUMPS else 1.0
            stop = stops[checkpoint]
            if clock + span > stop:
                span = stop - clock
            clock += span
            wait -= span
            observed = wait == 0.0
            for k in range(alphas.size):
                if alphas[k] == 1.0:
                    spent[k] += span * width
                else:
                    spent[k] += span * powered_width(x, inverse_values, vectors, alphas[k])
            lost += span * (best - truth)
            pulled[region] += span
            for i in range(d):
                for j in range(d):
                    expected[i, j] += (rate * span) * (x[i] * x[j])
            unsure += rate * span
            if censoring == 0 and unsure > slack * censoring_factor:
                if exceeds(honest, expected, share, slack, other):
                    unsure = 0.0
                elif not exceeds(honest, expected, share, 0.0, other):
                    censoring = 1

            if observed or IMPUTES:
                gained = 0.0
                if observed:
                    seen[region] += 1.0
                    shown += 1
                    gained = truth + error
                    if IMPUTES:
                        for i in range(d):
                            for j in range(d):
                                honest[i, j] += x[i] * x[j]
                s = observe_action(inverse, x, v)
                update_estimate(estimate, x, v, s, gained)
                accumulate(design, rest, target, target_rest, x, gained)
                spread += math.log(1.0 + s)
                learned += 1
                if learned == due:
                    spread = refactor(design, target, scratch, inverse, estimate) - d * math.log(
                        regularization
                    )
                    due = next_refactor(learned, d)
                changed = True
                if (
                    HAS_RADIUS
                    and optimism == 0
                    and (
                        squared_error(design, estimate, theta, v)
                        > ROUNDING * radius(spread, table) ** 2
                    )
                ):
                    optimism = 1

            if clock == stop:
                regret[row, checkpoint] = lost
                optimism_failed[row, checkpoint] = optimism if HAS_RADIUS else -1
                censoring_failed[row, checkpoint] = censoring
                for k in range(alphas.size):
                    potential[row, checkpoint, k] = spent[k]
                for j in range(pulled.size):
                    pulls[row, checkpoint, j] = int(pulled[j])
                    observations[row, checkpoint, j] = int(seen[j])
                record_designs(
                    honest,
                    expected,
                    regularization,
                    scratch,
                    spread_track[row, checkpoint],
                    eigenvalues[row, checkpoint],
                )
                checkpoint += 1
