"""Ridge regression on drawn or given actions, for `halfseen.engine.loops.changing_set`.

``index``, ``own_choice``, ``radius``, ``draw``, ``scale`` and the constants in capitals are filled
in. A round costs O(K d^2).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import AVAILABILITY, POLICY, Stream, unit, words
from halfseen.engine.arguments import (
    ACTION,
    AXES,
    DESIGN,
    DUE,
    ESTIMATE,
    EXPECTED,
    FACTOR,
    INVERSE,
    INVERSE_VALUES,
    LEARNED,
    NOISE,
    REST,
    SCRATCH,
    SHAKE,
    SPREAD,
    STALE,
    TARGET,
    TARGET_REST,
    V,
)
from halfseen.engine.loops.designs import ROUNDING, restart, squared_error
from halfseen.kernels.cholesky import correlate, factor_often, lower_factor
from halfseen.kernels.compile_hints import inline, shared
from halfseen.kernels.jacobi import eigen
from halfseen.kernels.ridge import (
    accumulate,
    next_refactor,
    observe_action,
    project,
    project_both,
    refactor,
    square_widths,
    update_estimate,
)
from halfseen.kernels.ties import first_largest
from halfseen.policies.linear.base import LinearKnowledge
from halfseen.problems.action_sets import fill_normals
from halfseen.problems.round_draws import draw_round, scale_columns

if TYPE_CHECKING:
    from halfseen.censorship.multi_threshold import observe_probability
    from halfseen.engine.arguments import ChangingWorkspace, ChangingWorld, History
    from halfseen.policies.linear.lin_ucb import index, radius
    from halfseen.policies.linear.vids import choose as own_choice
    from halfseen.problems.action_sets import draw_action as draw
    from halfseen.problems.action_sets import sphere_scale as scale

DRAWN = True  # actions are drawn, not read from a sequence
SAMPLES = False  # the policy is given a random shift every round
CHOOSES = False  # the policy chooses by itself, not by the largest index
LISTED = False  # the probabilities of being observed are listed, not computed
BALL = False


def draw_rounds(stream: Stream, offered: Vector) -> None:
    """Write the actions offered in a replication, the same as `choose` would draw."""
    for clock in range(offered.shape[0]):
        for k in range(offered.shape[1]):
            draw(stream, clock + 1, k, offered[clock, k])


def reset(world: ChangingWorld, work: ChangingWorkspace, replication: int) -> None:
    """Reset the state."""
    matrices, vectors, numbers = work.matrices, work.vectors, work.numbers
    restart(
        world.regularization,
        matrices[INVERSE],
        matrices[DESIGN],
        matrices[REST],
        work.designs[EXPECTED],
        vectors[ESTIMATE],
        vectors[TARGET],
        vectors[TARGET_REST],
    )
    numbers[SPREAD] = 0.0
    numbers[LEARNED] = 0.0
    numbers[DUE] = next_refactor(0, world.theta.size)
    numbers[STALE] = 1.0


@inline
def choose(
    world: ChangingWorld, work: ChangingWorkspace, replication: int, now: int
) -> tuple[int, float, float, float]:
    """Write the action with the largest index, the first among equals.

    Returns its place, the largest mean of all, its own mean and its squared width.
    """
    columns, squares, truths = work.columns, work.squares, work.truths
    means, shifts, x = work.means, work.shifts, work.lines[ACTION]
    policy_stream = (world.key[0], world.key[1], replication, POLICY)
    d, count = columns.shape
    if SAMPLES:
        shake(work, policy_stream, now)
    if DRAWN:
        availability_stream = (world.key[0], world.key[1], replication, AVAILABILITY)
        draw_round(availability_stream, now, work.places, work.bits, work.normals, columns, squares)
        for k in range(count):
            squares[k] = scale(squares[k], d)
        scale_columns(columns, squares)
    else:
        line = (now - 1) % world.offered.shape[0]
        for k in range(count):
            for i in range(d):
                columns[i, k] = world.offered[line, k, i]
    measure(columns, work.matrices, work.vectors, world.theta, work.g, means, truths, squares)
    if SAMPLES:
        project(columns, work.vectors[SHAKE], shifts)
    best = -np.inf
    for k in range(count):
        if truths[k] > best:
            best = truths[k]
    if CHOOSES:
        chosen = choose_freely(world, work, now, policy_stream)
    else:
        values, spread, constants = work.g[0], work.numbers[SPREAD], world.policy_constants
        for k in range(count):
            values[k] = index(
                means[k], squares[k], spread, shifts[k], k, now, policy_stream, constants
            )
        chosen = first_largest(values)
    for i in range(d):
        x[i] = columns[i, chosen]
    return chosen, best, truths[chosen], squares[chosen]


@shared
def measure(
    columns: Vector,
    matrices: Vector,
    vectors: Vector,
    theta: Vector,
    g: Vector,
    means: Vector,
    truths: Vector,
    squares: Vector,
) -> None:
    """Write the estimated and the true mean of every action, and its squared width."""
    project_both(columns, vectors[ESTIMATE], theta, means, truths)
    square_widths(columns, matrices[INVERSE], g, squares)


def choose_freely(world: ChangingWorld, work: ChangingWorkspace, now: int, stream: Stream) -> int:
    """Return the choice of a policy with its own `choose` kernel.

    Its input includes how often the region of each action was played and observed.
    """
    columns, rows, plays, seen, observe = (
        work.columns,
        work.actions,
        work.g[0],
        work.g[1],
        work.shifts,
    )
    factor, numbers = work.matrices[FACTOR], work.numbers
    if numbers[STALE] > 0.0:
        factor_often(work.matrices[INVERSE], factor)
        numbers[STALE] = 0.0
    d, count = columns.shape
    for k in range(count):
        along = 0.0
        for i in range(d):
            rows[k, i] = columns[i, k]
            along += columns[i, k] * world.direction[i]
        region = 0
        while region < world.cuts.size and along >= world.cuts[region]:
            region += 1
        plays[k] = work.groups[0, region]
        seen[k] = work.groups[1, region]
        if LISTED:
            observe[k] = world.rates[(now - 1) % world.rates.shape[0], k]
        else:
            observe[k] = observe_probability(along, world.observe_table)
    known = LinearKnowledge(
        work.vectors[ESTIMATE], factor, numbers[LEARNED], plays, seen, observe, 0
    )
    return own_choice(rows, known, work.memory, now, stream, world.policy_constants)


@inline
def shake(work: ChangingWorkspace, stream: Stream, now: int) -> None:
    """Write a normal vector whose covariance is the inverse of the design."""
    factor, vectors = work.matrices[FACTOR], work.vectors
    if work.numbers[STALE] > 0.0:
        lower_factor(work.matrices[INVERSE], factor)
        work.numbers[STALE] = 0.0
    fill_normals(stream, now, 0, vectors[NOISE])
    correlate(factor, vectors[NOISE], vectors[SHAKE])


@inline
def respond(numbers: Vector, rate: float, observed: bool, stream: Stream, now: int) -> float:
    """Return 1 if the round is observed, else 2: a coin is flipped every round."""
    _, _, high, low = words(stream, now, 0)
    return 1.0 if unit(high, low) < rate else 2.0


@inline
def learn(world: ChangingWorld, work: ChangingWorkspace, history: History, gained: float) -> bool:
    """Update the estimate with a reward of the action; always True, as the estimate changed."""
    matrices, vectors, numbers = work.matrices, work.vectors, work.numbers
    x = work.lines[ACTION]
    s = add_reward(matrices, vectors, x, gained)
    numbers[SPREAD] += math.log(1.0 + s) if BALL else math.log1p(s)
    numbers[LEARNED] += 1.0
    numbers[STALE] = 1.0
    if numbers[LEARNED] == numbers[DUE]:
        logdet = refactor(
            matrices[DESIGN],
            vectors[TARGET],
            matrices[SCRATCH],
            matrices[INVERSE],
            vectors[ESTIMATE],
        )
        numbers[SPREAD] = logdet - x.size * math.log(world.regularization)
        numbers[DUE] = next_refactor(int(numbers[LEARNED]), x.size)
    return True


@shared
def add_reward(matrices: Vector, vectors: Vector, x: Vector, gained: float) -> float:
    """Add a reward of an action to the regression, and return the action's squared width."""
    v = vectors[V]
    s = observe_action(matrices[INVERSE], x, v)
    update_estimate(vectors[ESTIMATE], x, v, s, gained)
    accumulate(matrices[DESIGN], matrices[REST], vectors[TARGET], vectors[TARGET_REST], x, gained)
    return s


def longer(history: History) -> History:
    """Return the observed rounds unchanged, as ridge regression keeps none."""
    return history


@inline
def misses(world: ChangingWorld, work: ChangingWorkspace) -> bool:
    """Return whether theta lies outside the confidence ellipsoid."""
    error = squared_miss(work.matrices, work.vectors, world.theta)
    edge = radius(work.numbers[SPREAD], world.policy_constants)
    return error > ROUNDING * edge**2


@shared
def squared_miss(matrices: Vector, vectors: Vector, theta: Vector) -> float:
    """Return the squared distance of the estimate from theta, in the norm of the design."""
    return squared_error(matrices[DESIGN], vectors[ESTIMATE], theta, vectors[V])


def decompose(work: ChangingWorkspace) -> None:
    """Write the eigenvalues and eigenvectors of the inverse."""
    decompose_inverse(
        work.matrices[INVERSE],
        work.matrices[SCRATCH],
        work.lines[INVERSE_VALUES],
        work.designs[AXES],
    )


@shared
def decompose_inverse(inverse: Vector, scratch: Vector, values: Vector, axes: Vector) -> None:
    """Write the eigenvalues and eigenvectors of a matrix of which the lower half is kept."""
    for i in range(values.size):
        for j in range(i + 1):
            scratch[i, j] = inverse[i, j]
            scratch[j, i] = inverse[i, j]
    eigen(scratch, values, axes)
