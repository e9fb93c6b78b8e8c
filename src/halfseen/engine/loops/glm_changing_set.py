"""The loop of generalized linear bandits that are offered other actions in every round.

As in `halfseen.engine.loops.changing_set`, ``draw`` and ``observe_probability`` are the action
set's and the censorship's own, beside what `halfseen.engine.loops.glm_fixed_set` fills in. There
are no counts to keep the likelihood in, so every observed round is kept, d + 2 numbers each. The
likelihood is maximised afresh when the determinant of the design has grown by `GROWTH`, and until then estimate
and widths stay as they were: a width in the older design is at most sqrt(1 + GROWTH) times that in
the current one, which is what this costs in the regret. The fits of n rounds together then cost
O(n d^3 / GROWTH), a round O(K d^2) beside that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import AVAILABILITY, ENVIRONMENT, unit, words
from halfseen.engine.loops.designs import ROUNDING, exceeds, powered_width, record_designs
from halfseen.engine.loops.glm_steps import form, longer
from halfseen.engine.loops.live_glm import (
    LIMIT,
    MATRICES,
    NUMBERS,
    PRIOR,
    REPLICATION,
    TOLD,
    VECTORS,
)
from halfseen.engine.loops.live_linear import DESIGN, ESTIMATE, INVERSE, LEARNED, REGULARIZATION
from halfseen.kernels.jacobi import eigen

if TYPE_CHECKING:
    from halfseen.censorship.multi_threshold import observe_probability
    from halfseen.engine.loops.live_glm import choose_glm as choose
    from halfseen.engine.loops.live_glm import learn_glm as learn
    from halfseen.engine.loops.live_glm import reset_glm as reset
    from halfseen.policies.lin_ucb import radius
    from halfseen.problems.contexts import draw_action as draw
    from halfseen.problems.links import draw_bernoulli as reward
    from halfseen.problems.links import logistic_mean as mean

DRAWN = True  # actions are drawn, not read from a sequence
LISTED = False  # how likely each action is to be observed is listed, not computed
IMPUTES = False
EXPLORES = False
HAS_RADIUS = False


def play_glm_contexts(
    first: int,
    last: int,
    horizon: int,
    offered: Vector,
    count: int,
    theta: Vector,
    limit: float,
    prior: Vector,
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
    matrices, vectors = np.zeros((MATRICES, d, d)), np.zeros((VECTORS, d))
    numbers = np.zeros(NUMBERS)
    inverse, design, estimate = matrices[INVERSE], matrices[DESIGN], vectors[ESTIMATE]
    expected, scratch, basis = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    # What a policy learns from is not what was observed when it makes up what is missing.
    honest = np.zeros((d, d)) if IMPUTES else design
    inverse_values, off = np.zeros(d), np.zeros(d)
    menu = np.zeros((count, d))
    kept, paid, ones, z = np.zeros((256, d)), np.zeros(256), np.ones(256), np.zeros(256)
    pulled, seen = np.zeros(cuts.size + 1), np.zeros(cuts.size + 1)
    spent = np.zeros(alphas.size)
    slack = 0.5 * regularization * (1.0 - 1.0 / censoring_factor)
    powers = False
    for k in range(alphas.size):
        powers = powers or alphas[k] != 1.0
    numbers[REGULARIZATION] = regularization
    numbers[LIMIT] = limit
    for i in range(d):
        for j in range(d):
            matrices[PRIOR, i, j] = prior[i, j]

    for replication in range(first, last):
        row = replication - first
        world = (key[0], key[1], replication, ENVIRONMENT)
        doors = (key[0], key[1], replication, AVAILABILITY)
        numbers[REPLICATION] = replication
        reset(matrices, vectors, numbers)
        for i in range(d):
            for j in range(d):
                honest[i, j] = design[i, j]
                expected[i, j] = design[i, j]
        for j in range(pulled.size):
            pulled[j] = 0.0
            seen[j] = 0.0
        for k in range(alphas.size):
            spent[k] = 0.0
        lost = 0.0
        unsure = 0.0  # how much the expected design may have grown since it was last compared
        optimism = 0
        censoring = 0
        checkpoint = 0
        changed = True

        for clock in range(1, horizon + 1):
            if changed and powers:
                for i in range(d):
                    for j in range(d):
                        scratch[i, j] = inverse[i, j]
                eigen(scratch, inverse_values, basis)
            changed = False
            best = -np.inf
            for k in range(count):
                if DRAWN:
                    draw(doors, clock, k, menu[k])
                else:
                    for i in range(d):
                        menu[k, i] = offered[(clock - 1) % offered.shape[0], k, i]
                reality = 0.0
                for i in range(d):
                    reality += menu[k, i] * theta[i]
                if reality > best:
                    best = reality
            chosen = choose(menu, matrices, vectors, numbers, clock, key[0], key[1], table)
            x = menu[chosen]
            truth = 0.0
            along = 0.0
            for i in range(d):
                truth += x[i] * theta[i]
                along += x[i] * direction[i]
            region = 0
            while region < cuts.size and along >= cuts[region]:
                region += 1
            if LISTED:
                rate = rates[(clock - 1) % rates.shape[0], chosen]
            else:
                rate = observe_probability(along, observe_table)
            _, _, coin_high, coin_low = words(world, clock, 0)
            observed = unit(coin_high, coin_low) < rate
            for k in range(alphas.size):
                if alphas[k] == 1.0:
                    spent[k] += form(inverse, x)
                else:
                    spent[k] += powered_width(x, inverse_values, basis, alphas[k])
            pays = mean(truth)
            lost += mean(best) - pays
            pulled[region] += 1.0
            for i in range(d):
                for j in range(d):
                    expected[i, j] += rate * (x[i] * x[j])
            unsure += rate
            if not observed and censoring == 0 and unsure > slack * censoring_factor:
                part = 1.0 / censoring_factor
                if exceeds(honest, expected, part, slack, scratch):
                    unsure = 0.0
                elif not exceeds(honest, expected, part, 0.0, scratch):
                    censoring = 1

            if observed or IMPUTES:
                gained = 0.0
                if observed:
                    seen[region] += 1.0
                    if IMPUTES:
                        for i in range(d):
                            for j in range(d):
                                honest[i, j] += x[i] * x[j]
                    gained = reward(pays, noise_scale, world, clock, 0)
                if numbers[LEARNED] == paid.size:
                    kept, paid, ones, z = longer(kept, paid)
                fresh = learn(x, gained, matrices, vectors, numbers, kept, paid, ones, z)
                changed = True
                if HAS_RADIUS and fresh and optimism == 0:
                    for i in range(d):
                        off[i] = estimate[i] - theta[i]
                    error = form(design, off)
                    if EXPLORES:
                        for i in range(d):
                            error -= regularization * (off[i] * off[i])
                    if error > ROUNDING * radius(numbers[TOLD], table) ** 2:
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
