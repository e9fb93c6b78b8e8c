"""The loop of a GPU for linear bandits whose actions are the same in every round.

``index``, ``radius`` and the constants in capitals are filled in with a policy's own. One thread
plays one replication. What a round touches lies in shared memory: half of the inverse, row by row,
and every action's mean and squared width. As for arms, a reward is drawn when its action is chosen.
Every number is what `halfseen.engine.loops.fixed_set` computes, in the same order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT, POLICY, Stream
from halfseen.engine.loops.designs import ROUNDING, exceeds, gather_both, shortage
from halfseen.engine.loops.feedback import GAUSSIAN, HALF_RATE, MEAN, feedback
from halfseen.kernels.ridge import gather, next_refactor, refactor, refresh_actions

if TYPE_CHECKING:
    from halfseen.policies.lin_ucb import index, radius

HAS_RADIUS = False
DIMENSION = 2
SUMS, PULLED, SEEN, SCRATCH = range(4)  # columns of an action's book


def leap(
    replication: int,
    row: int,
    rows: Vector,
    facts: Vector,
    lane: int,
    half: Vector,
    means: Vector,
    widths: Vector,
    book: Vector,
    matrices: Vector,
    vectors: Vector,
    columns: Vector,
    theta: Vector,
    table: Vector,
    key: tuple[int, int],
    stops: Vector,
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
    """Play one replication of a policy that changes its mind only on observations.

    `half` holds, for every lane, the inverse from its first row to the last, each up to the
    diagonal; `matrices` and `vectors` are scratch for what is rare.
    """
    actions = columns.shape[1]
    world = (key[0], key[1], replication, ENVIRONMENT)
    mind = (key[0], key[1], replication, POLICY)
    inverse, estimate = matrices[0], vectors[0]
    best = facts[0, MEAN]
    for k in range(actions):
        best = max(best, facts[k, MEAN])
        for column in range(3):
            book[k, column] = 0.0
    miss = 0.0
    for i in range(theta.size):
        estimate[i] = 0.0
        miss += regularization * theta[i] ** 2
        for j in range(theta.size):
            inverse[i, j] = 1.0 / regularization if i == j else 0.0
    refresh(columns, inverse, estimate, book, lane, half, means, widths)
    spent = 0.0
    spread = 0.0
    deficit = 0.0
    learned = 0
    due = next_refactor(0, DIMENSION)
    optimism = 0
    censoring = 0
    clock = 0.0
    checkpoint = 0
    stop = stops[0]
    chosen = largest_index(actions, lane, means, widths, spread, 1, mind, table)
    reward, wait = feedback(facts, chosen, 0, GAUSSIAN, world)

    while True:
        # To the next observation, so that threads that run together also learn together.
        observed = False
        while not observed:
            if clock == stop:
                lost = 0.0
                for k in range(actions):
                    lost += book[k, PULLED] * (best - facts[k, MEAN])
                    pulls[row, checkpoint, k] = int(book[k, PULLED])
                    observations[row, checkpoint, k] = int(book[k, SEEN])
                regret[row, checkpoint] = lost
                censoring_failed[row, checkpoint] = censoring
                optimism_failed[row, checkpoint] = optimism if HAS_RADIUS else -1
                for k in range(alphas.size):
                    potential[row, checkpoint, k] = spent
                checkpoint += 1
                if checkpoint == stops.size:
                    return
                stop = stops[checkpoint]
            span = wait if clock + wait < stop else stop - clock
            clock += span
            wait -= span
            observed = wait == 0.0
            spent += span * widths[chosen, lane]
            pulled = book[chosen, PULLED]
            seen = book[chosen, SEEN]
            rate = 2.0 * facts[chosen, HALF_RATE] / censoring_factor
            before = shortage(rate, pulled, seen)
            pulled += span - 1.0 if observed else span
            after = shortage(rate, pulled, seen)
            deficit += after - before
            book[chosen, PULLED] = pulled
            if deficit > regularization * (1.0 - 1.0 / censoring_factor) and censoring == 0:
                gather_both(
                    columns,
                    facts,
                    book[:actions, PULLED],
                    book[:actions, SEEN],
                    regularization,
                    matrices[0],
                    matrices[1],
                    vectors[0],
                    book[:actions, SCRATCH],
                )
                if not exceeds(matrices[0], matrices[1], 1.0 / censoring_factor, 0.0, matrices[2]):
                    censoring = 1
            if observed:
                book[chosen, PULLED] = pulled + 1.0
                book[chosen, SEEN] = seen + 1.0
                deficit += shortage(rate, pulled + 1.0, seen + 1.0) - after

        book[chosen, SUMS] += reward
        mean = means[chosen, lane]
        off = mean - facts[chosen, MEAN]
        error = reward - facts[chosen, MEAN]
        s = observe_action(actions, rows, chosen, reward - mean, lane, half, means, widths)
        spread += math.log(1.0 + s)
        miss += error * (2.0 * off + error * s) - (off + error * s) ** 2 / (1.0 + s)
        learned += 1
        if learned == due:
            gather(
                columns,
                book[:actions, SEEN],
                book[:actions, SUMS],
                regularization,
                matrices[1],
                vectors[1],
            )
            spread = refactor(
                matrices[1], vectors[1], matrices[2], inverse, estimate
            ) - DIMENSION * math.log(regularization)
            refresh(columns, inverse, estimate, book, lane, half, means, widths)
            due = next_refactor(learned, DIMENSION)
            miss = 0.0
            for i in range(theta.size):
                miss += regularization * (estimate[i] - theta[i]) ** 2
            for k in range(actions):
                miss += book[k, SEEN] * (means[k, lane] - facts[k, MEAN]) ** 2
        if HAS_RADIUS and miss > ROUNDING * radius(spread, table) ** 2:
            optimism = 1
        now = int(clock) + 1
        chosen = largest_index(actions, lane, means, widths, spread, now, mind, table)
        reward, wait = feedback(facts, chosen, int(book[chosen, SEEN]), GAUSSIAN, world)


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
    """Learn a reward: bring the inverse, means and widths up to date; return the width it had."""
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
    mind: Stream,
    table: Vector,
) -> int:
    """Return the action with the largest index, the first among equals."""
    chosen = 0
    top = index(means[0, lane], widths[0, lane], spread, 0.0, 0, now, mind, table)
    for k in range(1, actions):
        value = index(means[k, lane], widths[k, lane], spread, 0.0, k, now, mind, table)
        if value > top:
            top = value
            chosen = k
    return chosen


def refresh(
    columns: Vector,
    inverse: Vector,
    estimate: Vector,
    book: Vector,
    lane: int,
    half: Vector,
    means: Vector,
    widths: Vector,
) -> None:
    """Write what a thread keeps in shared memory from a fresh inverse and estimate."""
    actions = columns.shape[1]
    fresh_means, fresh_widths = book[:actions, SCRATCH], book[:actions, SCRATCH + 1]
    refresh_actions(columns, inverse, estimate, fresh_means, fresh_widths)
    for k in range(actions):
        means[k, lane] = fresh_means[k]
        widths[k, lane] = fresh_widths[k]
    place = 0
    for i in range(inverse.shape[0]):
        for j in range(i + 1):
            half[place, lane] = inverse[i, j]
            place += 1


def largest_shifted(
    means: Vector,
    widths: Vector,
    spread: float,
    shifts: Vector,
    now: int,
    mind: Stream,
    table: Vector,
    values: Vector,
) -> int:
    """Return what `linear_rounds.largest_index` does, without keeping the indices."""
    chosen = 0
    top = index(means[0], widths[0], spread, shifts[0], 0, now, mind, table)
    for k in range(1, means.size):
        value = index(means[k], widths[k], spread, shifts[k], k, now, mind, table)
        if value > top:
            top = value
            chosen = k
    return chosen
