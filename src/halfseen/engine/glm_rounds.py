"""The loop of generalized linear bandits whose actions are the same in every round.

As in `halfseen.engine.linear_rounds`, a policy's kernels are filled in, every action knows in
advance its next observed reward and the pulls it takes to see it, and policies that change their
mind only on observations jump from one to the next. ``fit`` is `halfseen.glm_fit.maximise` and
``reward`` the law of the rewards, both of the bandit's link. The likelihood is kept as a count and
a sum per action: an observation costs O(K d^2 + d^3) whatever the round, and one Newton step as a
rule, since the last estimate is the start.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT, POLICY, words
from halfseen.engine.designs import (
    ROUNDING,
    exceeds,
    gather_both,
    lower_factor,
    powered_width,
    record_designs,
    shortage,
)
from halfseen.engine.feedback import HALF_RATE, MEAN, NOISE, WAIT_SCALE, waiting
from halfseen.engine.glm_steps import shake_by_curve, squared_error
from halfseen.engine.jacobi import eigen
from halfseen.kernels.compile_hints import inline
from halfseen.policies.glm_policy import SEEN_ONCE
from halfseen.ridge import (
    gather,
    next_refactor,
    observe_action,
    refactor,
    refresh_actions,
    update_actions,
)

if TYPE_CHECKING:
    from halfseen.glm_fit import maximise as fit
    from halfseen.policies.lin_ucb import index, radius
    from halfseen.problems.links import draw_bernoulli as reward

JUMPS = False  # the choice changes only on an observation
IMPUTES = False  # missing rewards are learned as 0
SAMPLES = False  # the policy is given a random shift every round
EXPLORES = False  # the likelihood has no penalty, and waits until every direction was seen once
HAS_RADIUS = False


def play_glm(
    first: int,
    last: int,
    horizon: int,
    rows: Vector,
    columns: Vector,
    facts: Vector,
    theta: Vector,
    limit: float,
    prior: Vector,
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
    matrices, vectors, lists = np.zeros((8, d, d)), np.zeros((7, d)), np.zeros((9, actions))
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
            limit,
            prior,
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
    limit: float,
    prior: Vector,
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
    """Play one replication in the room given: 8 matrices, 7 vectors, 9 numbers an action."""
    actions, d = rows.shape
    inverse, factor, design = matrices[0], matrices[1], matrices[2]
    other, scratch, axes = matrices[3], matrices[4], matrices[5]
    hessian, curve = matrices[6], matrices[7]
    estimate, target, inverse_values = vectors[0], vectors[1], vectors[2]
    v, noise, shake, gradient = vectors[3], vectors[4], vectors[5], vectors[6]
    means, widths, g, shifts = lists[0], lists[1], lists[2], lists[3]
    counts, sums, pulled = lists[4], lists[5], lists[6]
    seen, wait = lists[7], lists[8]
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
        _, _, high, low = words(world, 0, k)
        wait[k] = waiting(facts[k, WAIT_SCALE], high, low, world, 0, k)
    if SAMPLES:
        lower_factor(prior, curve)
    for k in range(alphas.size):
        spent[k] = 0.0
    exploring = EXPLORES
    lost = 0.0
    spread = 0.0
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
        if changed and powers:
            for i in range(d):
                for j in range(i + 1):
                    scratch[i, j] = inverse[i, j]
                    scratch[j, i] = inverse[i, j]
            eigen(scratch, inverse_values, axes)
        if SAMPLES:
            shake_by_curve(mind, int(clock) + 1, curve, noise, shake)
            for k in range(actions):
                total = 0.0
                for i in range(d):
                    total += rows[k, i] * shake[i]
                shifts[k] = total
        if changed or not JUMPS:
            now = int(clock) + 1
            chosen = 0
            top = -np.inf
            for k in range(actions):
                if exploring:
                    value = widths[k]
                else:
                    value = index(means[k], widths[k], spread, shifts[k], k, now, mind, table)
                if value > top:
                    top = value
                    chosen = k
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
        if observed:
            pulled[chosen] += 1.0
            seen[chosen] += 1.0
            deficit += shortage(rate, pulled[chosen], seen[chosen]) - after

        if observed or IMPUTES:
            if observed:
                count = int(seen[chosen]) - 1
                sums[chosen] += reward(
                    facts[chosen, MEAN], facts[chosen, NOISE], world, count, chosen
                )
            counts[chosen] += 1.0
            learned += 1
            s = observe_action(inverse, rows[chosen], v)
            update_actions(columns, v, s, 0.0, g, means, widths)
            spread += math.log(1.0 + s)
            left = False  # exploration ends with this round
            if EXPLORES and exploring:
                gather(columns, counts, sums, 0.0, design, target)
                for i in range(d):
                    for j in range(d):
                        design[i, j] += prior[i, j]
                left = exceeds(design, design, 0.0, SEEN_ONCE, factor)
                exploring = not left
            if learned == due or left:
                ridge = regularization if exploring or not EXPLORES else 0.0
                gather(columns, counts, sums, ridge, design, target)
                if EXPLORES and not exploring:
                    for i in range(d):
                        for j in range(d):
                            design[i, j] += prior[i, j]
                spread = refactor(design, target, factor, inverse, v) - d * math.log(regularization)
                refresh_actions(columns, inverse, estimate, means, widths)
                due = next_refactor(learned, d)
            if not exploring:
                fit(
                    rows,
                    actions,
                    counts,
                    sums,
                    limit,
                    prior,
                    estimate,
                    means,
                    gradient,
                    v,
                    hessian,
                    curve,
                )
                if EXPLORES:
                    spread = d * math.log1p(2.0 * learned / d)
                if HAS_RADIUS and optimism == 0:
                    ridge = 0.0 if EXPLORES else regularization
                    error = squared_error(rows, counts, ridge, estimate, theta)
                    if error > ROUNDING * radius(spread, table) ** 2:
                        optimism = 1
            changed = True
        if observed:
            count = int(seen[chosen])
            _, _, high, low = words(world, count, chosen)
            wait[chosen] = waiting(facts[chosen, WAIT_SCALE], high, low, world, count, chosen)

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
