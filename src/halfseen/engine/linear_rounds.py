"""The loop of linear bandits whose actions are the same in every round.

As in `halfseen.engine.rounds`, ``index``, ``radius`` and the constants in capitals are filled in
with a policy's own, every action knows in advance its next observed reward and the pulls it takes
to see it, and policies that change their mind only on observations jump from one to the next.
An observation costs O(K d + d^2), a round without one nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT, POLICY, Stream
from halfseen.engine.designs import (
    ROUNDING,
    exceeds,
    gather_both,
    lower_factor,
    powered_width,
    record_designs,
    shortage,
)
from halfseen.engine.feedback import GAUSSIAN, HALF_RATE, MEAN, feedback
from halfseen.engine.jacobi import eigen
from halfseen.kernels.compile_hints import inline
from halfseen.problems.contexts import fill_normals
from halfseen.ridge import (
    gather,
    next_refactor,
    observe_action,
    refactor,
    refresh_actions,
    update_actions,
)

if TYPE_CHECKING:
    from halfseen.policies.lin_ucb import index, radius

JUMPS = False  # the choice changes only on an observation
IMPUTES = False  # missing rewards are learned as 0
SAMPLES = False  # the policy is given a random shift every round
HAS_RADIUS = False


def play_linear(
    first: int,
    last: int,
    horizon: int,
    rows: Vector,
    columns: Vector,
    facts: Vector,
    theta: Vector,
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
    actions, d = rows.shape
    matrices, vectors, lists = np.zeros((6, d, d)), np.zeros((6, d)), np.zeros((11, actions))
    spent = np.zeros(alphas.size)
    stops = checkpoints.astype(np.float64)
    for replication in range(first, last):
        play_once(
            replication,
            replication - first,
            rows,
            columns,
            facts,
            theta,
            table,
            key,
            stops,
            alphas,
            regularization,
            censoring_factor,
            matrices,
            vectors,
            lists,
            spent,
            regret,
            pulls,
            observations,
            potential,
            optimism_failed,
            censoring_failed,
            spread_track,
            eigenvalues,
        )


@inline
def play_once(
    replication: int,
    row: int,
    rows: Vector,
    columns: Vector,
    facts: Vector,
    theta: Vector,
    table: Vector,
    key: tuple[int, int],
    stops: Vector,
    alphas: Vector,
    regularization: float,
    censoring_factor: float,
    matrices: Vector,
    vectors: Vector,
    lists: Vector,
    spent: Vector,
    regret: Vector,
    pulls: NDArray[Any],
    observations: NDArray[Any],
    potential: Vector,
    optimism_failed: NDArray[Any],
    censoring_failed: NDArray[Any],
    spread_track: Vector,
    eigenvalues: Vector,
) -> None:
    """Play one replication in the room given: 6 matrices, 6 vectors, 11 numbers an action."""
    actions, d = rows.shape
    inverse, factor, design = matrices[0], matrices[1], matrices[2]
    other, scratch, axes = matrices[3], matrices[4], matrices[5]
    estimate, target, inverse_values = vectors[0], vectors[1], vectors[2]
    v, noise, shake = vectors[3], vectors[4], vectors[5]
    means, widths, g, shifts, values = lists[0], lists[1], lists[2], lists[3], lists[4]
    counts, sums, pulled, seen = lists[5], lists[6], lists[7], lists[8]
    wait, reward = lists[9], lists[10]
    horizon = stops[stops.size - 1]
    powers = False
    for k in range(alphas.size):
        powers = powers or alphas[k] != 1.0
    best = -np.inf
    for k in range(actions):
        if facts[k, MEAN] > best:
            best = facts[k, MEAN]
    world = (key[0], key[1], replication, ENVIRONMENT)
    mind = (key[0], key[1], replication, POLICY)
    for i in range(d):
        estimate[i] = 0.0
        for j in range(d):
            inverse[i, j] = 1.0 / regularization if i == j else 0.0
    refresh_actions(columns, inverse, estimate, means, widths)
    for k in range(actions):
        counts[k] = 0.0
        sums[k] = 0.0
        pulled[k] = 0.0
        seen[k] = 0.0
        reward[k], wait[k] = feedback(facts, k, 0, GAUSSIAN, world)
    for k in range(alphas.size):
        spent[k] = 0.0
    lost = 0.0
    spread = 0.0
    miss = 0.0  # |theta_hat - theta|^2 in the norm of the design
    for i in range(d):
        miss += regularization * theta[i] ** 2
    deficit = 0.0
    learned = 0
    due = next_refactor(0, d)
    optimism = 0
    censoring = 0
    clock = 0.0
    checkpoint = 0
    changed = True
    chosen = 0

    while clock < horizon:
        if changed:
            if powers:
                for i in range(d):
                    for j in range(i + 1):
                        scratch[i, j] = inverse[i, j]
                        scratch[j, i] = inverse[i, j]
                eigen(scratch, inverse_values, axes)
            if SAMPLES:
                lower_factor(inverse, factor)
        if SAMPLES:
            fill_normals(mind, int(clock) + 1, 0, noise)
            for i in range(d):
                total = 0.0
                for j in range(i + 1):
                    total += factor[i, j] * noise[j]
                shake[i] = total
            for k in range(actions):
                total = 0.0
                for i in range(d):
                    total += rows[k, i] * shake[i]
                shifts[k] = total
        if changed or not JUMPS:
            chosen = largest_index(
                means, widths, spread, shifts, int(clock) + 1, mind, table, values
            )
        changed = False

        span = wait[chosen] if JUMPS else 1.0
        stop = stops[checkpoint]
        if clock + span > stop:
            span = stop - clock
        clock += span
        for k in range(alphas.size):
            if alphas[k] == 1.0:
                spent[k] += span * widths[chosen]
            else:
                spent[k] += span * powered_width(rows[chosen], inverse_values, axes, alphas[k])
        lost += span * (best - facts[chosen, MEAN])
        wait[chosen] -= span
        observed = wait[chosen] == 0.0

        rate = 2.0 * facts[chosen, HALF_RATE] / censoring_factor
        before = shortage(rate, pulled[chosen], seen[chosen])
        pulled[chosen] += span - 1.0 if observed else span  # a reward seen counts further down
        after = shortage(rate, pulled[chosen], seen[chosen])
        deficit += after - before
        if deficit > regularization * (1.0 - 1.0 / censoring_factor) and censoring == 0:
            gather_both(columns, facts, pulled, seen, regularization, design, other, target, g)
            if not exceeds(design, other, 1.0 / censoring_factor, 0.0, factor):
                censoring = 1
            changed = changed or SAMPLES
        if observed:
            pulled[chosen] += 1.0
            seen[chosen] += 1.0
            deficit += shortage(rate, pulled[chosen], seen[chosen]) - after

        if observed or IMPUTES:
            gained = reward[chosen] if observed else 0.0
            x = rows[chosen]
            off = means[chosen] - facts[chosen, MEAN]
            error = gained - facts[chosen, MEAN]
            s = observe_action(inverse, x, v)
            step = (gained - means[chosen]) / (1.0 + s)
            update_actions(columns, v, s, step, g, means, widths)
            spread += math.log(1.0 + s)
            miss += error * (2.0 * off + error * s) - (off + error * s) ** 2 / (1.0 + s)
            counts[chosen] += 1.0
            sums[chosen] += gained
            learned += 1
            if learned == due:
                gather(columns, counts, sums, regularization, design, target)
                spread = refactor(design, target, factor, inverse, estimate) - d * math.log(
                    regularization
                )
                refresh_actions(columns, inverse, estimate, means, widths)
                due = next_refactor(learned, d)
                miss = 0.0
                for i in range(d):
                    miss += regularization * (estimate[i] - theta[i]) ** 2
                for k in range(actions):
                    miss += counts[k] * (means[k] - facts[k, MEAN]) ** 2
            changed = True
            if HAS_RADIUS and miss > ROUNDING * radius(spread, table) ** 2:
                optimism = 1
        if observed:
            reward[chosen], wait[chosen] = feedback(
                facts, chosen, int(seen[chosen]), GAUSSIAN, world
            )

        if clock == stop:
            regret[row, checkpoint] = lost
            optimism_failed[row, checkpoint] = optimism if HAS_RADIUS else -1
            censoring_failed[row, checkpoint] = censoring
            for k in range(alphas.size):
                potential[row, checkpoint, k] = spent[k]
            for k in range(actions):
                pulls[row, checkpoint, k] = int(pulled[k])
                observations[row, checkpoint, k] = int(seen[k])
            gather_both(columns, facts, pulled, seen, regularization, design, other, target, g)
            record_designs(
                design,
                other,
                regularization,
                scratch,
                spread_track[row, checkpoint],
                eigenvalues[row, checkpoint],
            )
            checkpoint += 1


def largest_index(
    means: Vector,
    widths: Vector,
    spread: float,
    shifts: Vector,
    now: int,
    mind: Stream,
    table: Vector,
    values: Vector,
) -> int:
    """Return the action with the largest index, the first among equals."""
    for k in range(means.size):
        values[k] = index(means[k], widths[k], spread, shifts[k], k, now, mind, table)
    chosen = 0
    top = values[0]
    for k in range(1, means.size):
        if values[k] > top:
            top = values[k]
            chosen = k
    return chosen
