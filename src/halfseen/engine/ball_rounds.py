"""The loop of optimism on the whole unit ball.

The most optimistic action is found exactly, from the eigenvectors of the observed design, and stays
the same until it is observed; the loop jumps there. ``radius`` and ``observe_probability`` are
filled in with the policy's and the censorship's own. An observation costs O(d^3).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT, exponential_from, normal_from, words
from halfseen.engine.designs import (
    ROUNDING,
    exceeds,
    powered_width,
    record_designs,
    restart,
)
from halfseen.engine.feedback import LONGEST_WAIT
from halfseen.engine.jacobi import eigen
from halfseen.ridge import accumulate, next_refactor, observe_action, refactor, update_estimate
from halfseen.theory.ellipsoid import write_farthest

if TYPE_CHECKING:
    from halfseen.censorship.multi_threshold import observe_probability
    from halfseen.policies.lin_ucb import radius


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
    vectors, other, rows = np.zeros((d, d)), np.zeros((d, d)), np.zeros((3, d))
    estimate, target, target_rest = np.zeros(d), np.zeros(d), np.zeros(d)
    v, x, lengths, inverse_values = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    pulled, seen = np.zeros(cuts.size + 1), np.zeros(cuts.size + 1)
    spent = np.zeros(alphas.size)
    stops = checkpoints.astype(np.float64)
    share = 1.0 / censoring_factor
    slack = 0.5 * regularization * (1.0 - share)
    best = 0.0
    for i in range(d):
        best += theta[i] * theta[i]
    best = math.sqrt(best)

    for replication in range(first, last):
        row = replication - first
        world = (key[0], key[1], replication, ENVIRONMENT)
        restart(regularization, inverse, design, rest, expected, estimate, target, target_rest)
        for j in range(pulled.size):
            pulled[j] = 0.0
            seen[j] = 0.0
        for k in range(alphas.size):
            spent[k] = 0.0
        lost = 0.0
        spread = 0.0
        unsure = 0.0  # how much the expected design may have grown since it was last compared
        wait = 0.0
        rate = 1.0
        truth = 0.0
        width = 0.0
        reward = 0.0
        region = 0
        learned = 0
        due = next_refactor(0, d)
        optimism = 0
        censoring = 0
        clock = 0.0
        checkpoint = 0

        while clock < horizon:
            if wait == 0.0:
                for i in range(d):
                    for j in range(d):
                        scratch[i, j] = design[i, j]
                eigen(scratch, lengths, vectors)
                write_farthest(estimate, lengths, vectors, radius(spread, table), rows, x)
                truth = 0.0
                along = 0.0
                width = 0.0
                for i in range(d):
                    inverse_values[i] = 1.0 / lengths[i]
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
                high, low, wait_high, wait_low = words(world, learned, 0)
                reward = truth + noise_scale * normal_from(high, low, world, learned, 0)
                wait = 1.0
                if rate < 1.0:
                    missed = exponential_from(wait_high, wait_low, world, learned, 0)
                    missed /= -math.log1p(-rate)
                    wait = LONGEST_WAIT if missed > LONGEST_WAIT else 1.0 + math.floor(missed)

            span = wait
            stop = stops[checkpoint]
            if clock + span > stop:
                span = stop - clock
            clock += span
            wait -= span
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
                if exceeds(design, expected, share, slack, factor):
                    unsure = 0.0
                elif not exceeds(design, expected, share, 0.0, factor):
                    censoring = 1

            if wait == 0.0:
                seen[region] += 1.0
                s = observe_action(inverse, x, v)
                update_estimate(estimate, x, v, s, reward)
                accumulate(design, rest, target, target_rest, x, reward)
                spread += math.log(1.0 + s)
                learned += 1
                if learned == due:
                    spread = refactor(design, target, factor, inverse, estimate) - d * math.log(
                        regularization
                    )
                    due = next_refactor(learned, d)
                error = 0.0
                for i in range(d):
                    total = 0.0
                    for j in range(d):
                        total += design[i, j] * (estimate[j] - theta[j])
                    error += total * (estimate[i] - theta[i])
                if error > ROUNDING * radius(spread, table) ** 2:
                    optimism = 1

            if clock == stop:
                regret[row, checkpoint] = lost
                optimism_failed[row, checkpoint] = optimism
                censoring_failed[row, checkpoint] = censoring
                for k in range(alphas.size):
                    potential[row, checkpoint, k] = spent[k]
                for j in range(pulled.size):
                    pulls[row, checkpoint, j] = int(pulled[j])
                    observations[row, checkpoint, j] = int(seen[j])
                record_designs(
                    design,
                    expected,
                    regularization,
                    scratch,
                    other,
                    spread_track[row, checkpoint],
                    eigenvalues[row, checkpoint],
                )
                checkpoint += 1
