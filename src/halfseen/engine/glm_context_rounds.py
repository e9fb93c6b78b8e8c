"""The loop of generalized linear bandits that are offered other actions in every round.

As in `halfseen.engine.context_rounds`, ``draw`` and ``observe_probability`` are the action set's
and the censorship's own, beside what `halfseen.engine.glm_rounds` fills in. There are no counts to
keep the likelihood in, so every observed round is kept, d + 2 numbers each. The likelihood is
maximised afresh when the determinant of the design has grown by `GROWTH`, and until then estimate
and widths stay as they were: a width in the older design is at most sqrt(1 + GROWTH) times that in
the current one, which is what this costs in the regret. The fits of n rounds together then cost
O(n d^3 / GROWTH), a round O(K d^2) beside that.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import AVAILABILITY, ENVIRONMENT, POLICY, unit, words
from halfseen.engine.designs import (
    ROUNDING,
    exceeds,
    powered_width,
    record_designs,
    restart,
)
from halfseen.engine.glm_steps import form, longer, shake_by_curve, without_ridge
from halfseen.engine.jacobi import eigen
from halfseen.policies.glm_policy import GROWTH, SEEN_ONCE
from halfseen.ridge import accumulate, next_refactor, observe_action, refactor

if TYPE_CHECKING:
    from halfseen.censorship.multi_threshold import observe_probability
    from halfseen.glm_fit import maximise as fit
    from halfseen.policies.glm_ucb import index, radius
    from halfseen.problems.contexts import draw_action as draw
    from halfseen.problems.links import draw_bernoulli as reward
    from halfseen.problems.links import logistic_mean as mean

DRAWN = True  # actions are drawn, not read from a sequence
IMPUTES = False
SAMPLES = False
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
    vectors, other, older = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    hessian, curve = np.zeros((d, d)), np.zeros((d, d))
    # What a policy learns from is not what was observed when it makes up what is missing.
    honest = np.zeros((d, d)) if IMPUTES else design
    estimate, target, target_rest = np.zeros(d), np.zeros(d), np.zeros(d)
    v, noise, shake, inverse_values = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    gradient, off = np.zeros(d), np.zeros(d)
    menu = np.zeros((count, d))
    kept, paid, ones, z = np.zeros((256, d)), np.zeros(256), np.ones(256), np.zeros(256)
    pulled, seen = np.zeros(cuts.size + 1), np.zeros(cuts.size + 1)
    spent = np.zeros(alphas.size)
    slack = 0.5 * regularization * (1.0 - 1.0 / censoring_factor)
    powers = False
    for k in range(alphas.size):
        powers = powers or alphas[k] != 1.0

    for replication in range(first, last):
        row = replication - first
        world = (key[0], key[1], replication, ENVIRONMENT)
        doors = (key[0], key[1], replication, AVAILABILITY)
        mind = (key[0], key[1], replication, POLICY)
        restart(regularization, inverse, design, rest, expected, estimate, target, target_rest)
        for i in range(d):
            for j in range(d):
                older[i, j] = inverse[i, j]
                if IMPUTES:
                    honest[i, j] = design[i, j]
        if SAMPLES:  # the factor of the prior
            fit(kept, 0, ones, paid, limit, prior, estimate, z, gradient, v, hessian, curve)
        for j in range(pulled.size):
            pulled[j] = 0.0
            seen[j] = 0.0
        for k in range(alphas.size):
            spent[k] = 0.0
        exploring = EXPLORES
        lost = 0.0
        spread = 0.0  # log det of the design, and what the kernels were last told
        told = 0.0
        fitted_at = 0.0
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
                    for j in range(d):
                        scratch[i, j] = inverse[i, j]
                eigen(scratch, inverse_values, vectors)
            if SAMPLES:
                shake_by_curve(mind, clock, curve, noise, shake)
            changed = False
            top = -np.inf
            best = -np.inf
            chosen = 0
            truth = 0.0
            for k in range(count):
                if DRAWN:
                    draw(doors, clock, k, menu[k])
                else:
                    for i in range(d):
                        menu[k, i] = offered[(clock - 1) % offered.shape[0], k, i]
                guess = 0.0
                reality = 0.0
                shift = 0.0
                for i in range(d):
                    guess += menu[k, i] * estimate[i]
                    reality += menu[k, i] * theta[i]
                    if SAMPLES:
                        shift += menu[k, i] * shake[i]
                if reality > best:
                    best = reality
                square = form(inverse if exploring else older, menu[k])
                if exploring:
                    value = square
                else:
                    value = index(guess, square, told, shift, k, clock, mind, table)
                if value > top:
                    top = value
                    chosen = k
                    truth = reality

            x = menu[chosen]
            along = 0.0
            for i in range(d):
                along += x[i] * direction[i]
            region = 0
            while region < cuts.size and along >= cuts[region]:
                region += 1
            rate = observe_probability(along, observe_table)
            _, _, coin_high, coin_low = words(world, clock, 0)
            observed = unit(coin_high, coin_low) < rate
            for k in range(alphas.size):
                if alphas[k] == 1.0:
                    spent[k] += form(inverse, x)
                else:
                    spent[k] += powered_width(x, inverse_values, vectors, alphas[k])
            mean_played = mean(truth)
            lost += mean(best) - mean_played
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
                    gained = reward(mean_played, noise_scale, world, clock, 0)
                if learned == paid.size:
                    kept, paid = longer(kept, paid)
                    ones, z = np.ones(paid.size), np.zeros(paid.size)
                for i in range(d):
                    kept[learned, i] = x[i]
                paid[learned] = gained
                learned += 1
                s = observe_action(inverse, x, v)
                accumulate(design, rest, target, target_rest, x, gained)
                spread += math.log1p(s)
                left = False  # exploration ends with this round
                if EXPLORES and exploring:
                    without_ridge(design, regularization, prior, other)
                    left = exceeds(other, other, 0.0, SEEN_ONCE, factor)
                    exploring = not left
                if learned == due or left:
                    if EXPLORES and not exploring:
                        without_ridge(design, regularization, prior, other)
                        spread = refactor(other, target, scratch, inverse, v)
                    else:
                        spread = refactor(design, target, scratch, inverse, v)
                    spread -= d * math.log(regularization)
                    due = next_refactor(learned, d)
                changed = True
                grown = left or learned == 1 or spread > fitted_at + math.log1p(GROWTH)
                if not exploring and grown:
                    fit(
                        kept,
                        learned,
                        ones,
                        paid,
                        limit,
                        prior,
                        estimate,
                        z,
                        gradient,
                        v,
                        hessian,
                        curve,
                    )
                    fitted_at = spread
                    told = d * math.log1p(2.0 * learned / d) if EXPLORES else spread
                    for i in range(d):
                        off[i] = estimate[i] - theta[i]
                        for j in range(d):
                            older[i, j] = inverse[i, j]
                    if HAS_RADIUS:
                        error = form(design, off)
                        if EXPLORES:
                            for i in range(d):
                                error -= regularization * off[i] * off[i]
                        if error > ROUNDING * radius(told, table) ** 2:
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
                    other,
                    spread_track[row, checkpoint],
                    eigenvalues[row, checkpoint],
                )
                checkpoint += 1
