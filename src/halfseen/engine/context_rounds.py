"""The loop of linear bandits that are offered other actions in every round.

``index``, ``radius``, ``draw``, ``scale``, ``observe_probability`` and the constants in capitals
are filled in with the policy's, the action set's and the censorship's own. A round costs O(K d^2).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import AVAILABILITY, ENVIRONMENT, POLICY, Stream, normal_from, unit, words
from halfseen.engine.designs import (
    ROUNDING,
    add_square,
    exceeds,
    lower_factor,
    powered_width,
    record_designs,
    restart,
    squared_error,
)
from halfseen.engine.jacobi import eigen
from halfseen.kernels.compile_hints import inline
from halfseen.problems.contexts import fill_normals
from halfseen.problems.round_draws import Places, draw_round, round_places, scale_columns
from halfseen.ridge import (
    accumulate,
    next_refactor,
    observe_action,
    project,
    project_both,
    refactor,
    square_widths,
    update_estimate,
)

if TYPE_CHECKING:
    from halfseen.censorship.multi_threshold import observe_probability
    from halfseen.policies.lin_ucb import index, radius
    from halfseen.problems.contexts import draw_action as draw
    from halfseen.problems.contexts import sphere_scale as scale

DRAWN = True  # actions are drawn, not read from a sequence
LISTED = False  # how likely each action is to be observed is listed, not computed
IMPUTES = False
SAMPLES = False
HAS_RADIUS = False
# The actions, four numbers of each, scratch, and what it takes to draw them.
Menu = tuple[Vector, Vector, Vector, Vector, Vector, Vector, Places, Places, Vector]


def draw_rounds(stream: Stream, offered: Vector) -> None:
    """Write the actions a replication is offered, those `play_contexts` would draw."""
    for clock in range(offered.shape[0]):
        for k in range(offered.shape[1]):
            draw(stream, clock + 1, k, offered[clock, k])


def play_contexts(
    first: int,
    last: int,
    horizon: int,
    offered: Vector,
    count: int,
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
    rates: Vector,
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
    matrices, vectors = np.zeros((8, d, d)), np.zeros((8, d))
    groups, spent = np.zeros((2, cuts.size + 1)), np.zeros(alphas.size)
    places = round_places(count, d)
    bits, normals = np.zeros((3, places.size), np.int64), np.zeros((2, places.size))
    columns, g = np.zeros((d, count)), np.zeros((2, count))
    means, squares, shifts = np.zeros(count), np.zeros(count), np.zeros(count)
    truths = np.zeros(count)
    menu = (columns, means, squares, shifts, truths, g, places, bits, normals)
    for replication in range(first, last):
        play_once(
            replication,
            replication - first,
            horizon,
            offered,
            count,
            theta,
            noise_scale,
            direction,
            observe_table,
            cuts,
            table,
            key,
            checkpoints,
            alphas,
            regularization,
            censoring_factor,
            rates,
            menu,
            matrices,
            vectors,
            groups,
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
    horizon: int,
    offered: Vector,
    count: int,
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
    rates: Vector,
    menu: Menu,
    matrices: Vector,
    vectors: Vector,
    groups: Vector,
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
    """Play one replication in the room given: 8 matrices, 8 vectors, 2 numbers a region."""
    d = theta.size
    inverse, factor, scratch = matrices[0], matrices[1], matrices[2]
    design, rest, expected = matrices[3], matrices[4], matrices[5]
    axes = matrices[6]
    # What a policy learns from is not what was observed when it makes up what is missing.
    honest = matrices[7] if IMPUTES else design
    estimate, target, target_rest = vectors[0], vectors[1], vectors[2]
    v, noise, shake = vectors[3], vectors[4], vectors[5]
    inverse_values, x = vectors[6], vectors[7]
    pulled, seen = groups[0], groups[1]
    slack = 0.5 * regularization * (1.0 - 1.0 / censoring_factor)
    powers = False
    for k in range(alphas.size):
        powers = powers or alphas[k] != 1.0
    world = (key[0], key[1], replication, ENVIRONMENT)
    doors = (key[0], key[1], replication, AVAILABILITY)
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
    learned = 0
    due = next_refactor(0, d)
    optimism = 0
    censoring = 0
    checkpoint = 0
    changed = True

    for clock in range(1, horizon + 1):
        if changed and powers:
            for i in range(d):
                for j in range(i + 1):
                    scratch[i, j] = inverse[i, j]
                    scratch[j, i] = inverse[i, j]
            eigen(scratch, inverse_values, axes)
        if SAMPLES:
            if changed:
                lower_factor(inverse, factor)
            fill_normals(mind, clock, 0, noise)
            for i in range(d):
                total = 0.0
                for j in range(i + 1):
                    total += factor[i, j] * noise[j]
                shake[i] = total
        changed = False
        chosen, best, truth, width = pick(
            doors,
            mind,
            clock,
            offered,
            count,
            theta,
            estimate,
            shake,
            inverse,
            spread,
            table,
            menu,
            x,
        )
        along = 0.0
        for i in range(d):
            along += x[i] * direction[i]
        region = 0
        while region < cuts.size and along >= cuts[region]:
            region += 1
        if LISTED:
            rate = rates[(clock - 1) % rates.shape[0], chosen]
        else:
            rate = observe_probability(along, observe_table)
        high, low, coin_high, coin_low = words(world, clock, 0)
        observed = unit(coin_high, coin_low) < rate
        for k in range(alphas.size):
            if alphas[k] == 1.0:
                spent[k] += width
            else:
                spent[k] += powered_width(x, inverse_values, axes, alphas[k])
        lost += best - truth
        pulled[region] += 1.0
        add_square(expected, rate, x)
        unsure += rate
        if not observed and censoring == 0 and unsure > slack * censoring_factor:
            share = 1.0 / censoring_factor
            if exceeds(honest, expected, share, slack, scratch):
                unsure = 0.0
            elif not exceeds(honest, expected, share, 0.0, scratch):
                censoring = 1

        if observed or IMPUTES:
            gained = 0.0
            if observed:
                seen[region] += 1.0
                if IMPUTES:
                    add_square(honest, 1.0, x)
                gained = truth + noise_scale * normal_from(high, low, world, clock, 0)
            s = observe_action(inverse, x, v)
            update_estimate(estimate, x, v, s, gained)
            accumulate(design, rest, target, target_rest, x, gained)
            spread += math.log1p(s)
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

        if clock == checkpoints[checkpoint]:
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


@inline
def pick(
    doors: Stream,
    mind: Stream,
    clock: int,
    offered: Vector,
    count: int,
    theta: Vector,
    estimate: Vector,
    shake: Vector,
    inverse: Vector,
    spread: float,
    table: Vector,
    menu: Menu,
    x: Vector,
) -> tuple[int, float, float, float]:
    """Write the action with the largest index, the first among equals, into `x`.

    Returns its place, the largest mean of all, its own mean and its squared width.
    """
    columns, means, squares, shifts, truths, g, places, bits, normals = menu
    d = x.size
    line = (clock - 1) % offered.shape[0]
    if DRAWN:
        draw_round(doors, clock, places, bits, normals, columns, squares)
        for k in range(count):
            squares[k] = scale(squares[k], d)
        scale_columns(columns, squares)
    else:
        for k in range(count):
            for i in range(d):
                columns[i, k] = offered[line, k, i]
    project_both(columns, estimate, theta, means, truths)
    if SAMPLES:
        project(columns, shake, shifts)
    square_widths(columns, inverse, g, squares)
    top = -np.inf
    best = -np.inf
    chosen = 0
    for k in range(count):
        if truths[k] > best:
            best = truths[k]
        value = index(means[k], squares[k], spread, shifts[k], k, clock, mind, table)
        if value > top:
            top = value
            chosen = k

    for i in range(d):
        x[i] = columns[i, chosen]
    return chosen, best, truths[chosen], squares[chosen]
