"""Expected gaps and information gains of actions, from draws of the posterior."""

from __future__ import annotations

import math

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import inline, shared
from halfseen.kernels.draw_order import (
    ACROSS,
    ALONG,
    BEST,
    FOUND,
    GAP,
    GROUP,
    LANES,
    NEXT,
    NORMAL,
    OWN,
    REACH,
    SCALE,
    SPREAD,
    SUM,
    TOGETHER,
    VALUE,
    WINS,
    action_places,
    actions_size,
    coordinates,
    draw_places,
    draws_size,
    places_used,
)

ROUNDING = 1.0 + 1e-9  # margin, so that no action is left out because of rounding
NOBODY = -1.0
NOT_NEGATIVE = (1 << 40) - 1


@shared
def estimate_gains(
    actions: Vector,
    count: int,
    posterior: tuple[Vector, Vector],
    noise: float,
    draws: int,
    normals: Vector,
) -> None:
    r"""Write each action's expected gap and the variance of its value explained by the best action.

    Thetas are :math:`\hat\theta+\sigma Lz`. With b the best action of a draw, the gap of a is the
    mean of :math:`\langle b,\theta\rangle` less that of :math:`\langle a,\theta\rangle`, and the
    variance that of the mean of :math:`\langle a,\theta\rangle` given b.

    An action whose mean is so far below the leader's that no draw up to some length can compensate
    is compared on longer draws only, which saves about half of the comparisons.

    Parameters
    ----------
    actions
        The actions by group and row; the results are written to their rows GAP and SPREAD.
    count
        Number of actions.
    posterior
        The estimate, and L, lower triangular.
    noise
        Sigma.
    draws
        Number of posterior draws.
    normals
        The output of `order_draws`.
    """
    kept, width = coordinates(posterior[0].size), draw_places(draws)
    size, room = actions_size(kept), draws_size(kept)
    groups, end = action_places(count) // ACROSS, width // GROUP * room
    leader, top = 0, -math.inf
    for g in range(groups):
        block, n = actions[g * size : (g + 1) * size], places_used(count, g)
        project(block, n, posterior, noise)
        for k in range(min(ACROSS, count - g * ACROSS)):
            leader = g * size + k if block[k] > top else leader
            top = block[k] if block[k] > top else top
    average, edges = normals[end : end + kept], normals[end + kept :]
    for g in range(groups):
        block, n = actions[g * size : (g + 1) * size], places_used(count, g)
        limit_reach(block, n, kept, actions[leader:], edges)
    actions[leader + REACH * ACROSS] = 0.0
    for start in range(0, draws, GROUP):
        group = normals[start // GROUP * room : (start // GROUP + 1) * room]
        reached = find_best(actions, count, kept, leader, group, start)
        add_by_best(min(reached, draws - start), kept, group, actions)
        if reached < GROUP:
            break
    weigh(actions, count, kept, leader, draws, average)


@inline
def project(block: Vector, n: int, posterior: tuple[Vector, Vector], noise: float) -> None:
    """Write each posterior mean of a group, and the coefficients of the normal draws.

    The accumulators of each action are set to 0.
    """
    estimate, factor = posterior
    d = estimate.size
    for k in range(n):
        block[WINS * ACROSS + k] = 0.0
    for i in range(coordinates(d)):
        sums = block[SUM * ACROSS + i * NEXT :]
        for k in range(n):
            sums[k] = 0.0
    if d == TOGETHER:
        project_five(block, n, estimate, factor, noise)
        return
    for k in range(n):
        block[k] = 0.0
    for i in range(coordinates(d)):
        scale = block[SCALE * ACROSS + i * NEXT :]
        for k in range(n):
            scale[k] = 0.0
    for i in range(d):
        own = block[OWN * ACROSS + i * NEXT :]
        for k in range(n):
            block[k] += estimate[i] * own[k]
        for j in range(i + 1):
            weight, scale = noise * factor[i, j], block[SCALE * ACROSS + j * NEXT :]
            for k in range(n):
                scale[k] += weight * own[k]


@inline
def project_five(block: Vector, n: int, estimate: Vector, factor: Vector, noise: float) -> None:
    """Do what `project` does for actions of five coordinates, in one pass."""
    a, b, c, e, f = estimate[0], estimate[1], estimate[2], estimate[3], estimate[4]
    a0, b0, c0 = noise * factor[0, 0], noise * factor[1, 0], noise * factor[2, 0]
    e0, f0, b1 = noise * factor[3, 0], noise * factor[4, 0], noise * factor[1, 1]
    c1, e1, f1 = noise * factor[2, 1], noise * factor[3, 1], noise * factor[4, 1]
    c2, e2, f2 = noise * factor[2, 2], noise * factor[3, 2], noise * factor[4, 2]
    e3, f3, f4 = noise * factor[3, 3], noise * factor[4, 3], noise * factor[4, 4]
    own, scale = OWN * ACROSS, SCALE * ACROSS
    for k in range(n if n < ACROSS else ACROSS):
        v, w, x = block[own + k], block[own + NEXT + k], block[own + 2 * NEXT + k]
        y, z = block[own + 3 * NEXT + k], block[own + 4 * NEXT + k]
        block[k] = (((a * v + b * w) + c * x) + e * y) + f * z
        block[scale + k] = (((a0 * v + b0 * w) + c0 * x) + e0 * y) + f0 * z
        block[scale + NEXT + k] = ((b1 * w + c1 * x) + e1 * y) + f1 * z
        block[scale + 2 * NEXT + k] = (c2 * x + e2 * y) + f2 * z
        block[scale + 3 * NEXT + k] = e3 * y + f3 * z
        block[scale + 4 * NEXT + k] = f4 * z


@inline
def limit_reach(block: Vector, n: int, kept: int, leader: Vector, edges: Vector) -> None:
    """Write in how many blocks of `LANES` draws, longest first, an action may be the best."""
    scale = SCALE * ACROSS
    first, a, b = leader[0], leader[scale], leader[scale + NEXT]
    c, e, f = leader[scale + 2 * NEXT], leader[scale + 3 * NEXT], leader[scale + 4 * NEXT]
    n = n if n < ACROSS else ACROSS
    for k in range(n):
        v, w, x = block[scale + k] - a, block[scale + NEXT + k] - b, block[scale + 2 * NEXT + k] - c
        y, z = block[scale + 3 * NEXT + k] - e, block[scale + 4 * NEXT + k] - f
        block[ALONG * ACROSS + k] = (((v * v + w * w) + x * x) + y * y) + z * z
        block[REACH * ACROSS + k] = 0.0
    for i in range(TOGETHER, kept):
        a, row = leader[scale + i * NEXT], block[scale + i * NEXT :]
        for k in range(n):
            block[ALONG * ACROSS + k] += (row[k] - a) * (row[k] - a)
    for edge in range(0, edges.size, 4):
        a, b = ROUNDING * edges[edge], ROUNDING * edges[edge + 1]
        c, e = ROUNDING * edges[edge + 2], ROUNDING * edges[edge + 3]
        for k in range(n):
            behind, far = (first - block[k]) * (first - block[k]), block[ALONG * ACROSS + k]
            near = (1.0 if behind < a * far else 0.0) + (1.0 if behind < b * far else 0.0)
            near += (1.0 if behind < c * far else 0.0) + (1.0 if behind < e * far else 0.0)
            block[REACH * ACROSS + k] += near


@inline
def find_best(
    actions: Vector, count: int, kept: int, leader: int, group: Vector, start: int
) -> int:
    """Write the offset of the best action of each draw of a group, NOBODY for the leader.

    Returns the number of draws, from the first, in which an action other than the leader may be
    the best.
    """
    reached, size = 0, actions_size(kept)
    value_of(actions[leader:], 0, kept, group, GROUP, VALUE)
    for x in range(GROUP):
        group[BEST * GROUP + x] = NOBODY
    for g in range(action_places(count) // ACROSS):
        block = actions[g * size : (g + 1) * size]
        for k in range(min(ACROSS, count - g * ACROSS)):
            n = min(int(block[REACH * ACROSS + k]) * LANES - start, GROUP)
            if n > 0:
                reached = max(reached, n)
                if kept == TOGETHER:
                    compare_five(block, k, group, n, float((g * size + k) * GROUP))
                else:
                    value_of(block, k, kept, group, n, FOUND)
                    compare(group, n, float((g * size + k) * GROUP))
    return reached


@inline
def value_of(block: Vector, k: int, kept: int, group: Vector, n: int, row: int) -> None:
    """Write the value of an action in each draw of a group."""
    mean, own, normal = block[k], SCALE * ACROSS + k, NORMAL * GROUP
    a, b, c = block[own], block[own + NEXT], block[own + 2 * NEXT]
    e, f = block[own + 3 * NEXT], block[own + 4 * NEXT]
    for x in range(n):
        total = (mean + a * group[normal + x]) + b * group[normal + GROUP + x]
        total = (total + c * group[normal + 2 * GROUP + x]) + e * group[normal + 3 * GROUP + x]
        group[row * GROUP + x] = total + f * group[normal + 4 * GROUP + x]
    for i in range(TOGETHER, kept):
        a, rest = block[own + i * NEXT], group[(NORMAL + i) * GROUP :]
        for x in range(n):
            group[row * GROUP + x] += a * rest[x]


@inline
def compare(group: Vector, n: int, action: float) -> None:
    """Update the best action so far with another one, whose values were written."""
    for x in range(n if n < GROUP else GROUP):
        new, old, known = group[FOUND * GROUP + x], group[x], group[BEST * GROUP + x]
        group[BEST * GROUP + x] = action if new > old else known
        group[x] = new if new > old else old


@inline
def compare_five(block: Vector, k: int, group: Vector, n: int, action: float) -> None:
    """Update the best action so far with another one of five coordinates, in one pass."""
    mean, own, normal = block[k], SCALE * ACROSS + k, NORMAL * GROUP
    a, b, c = block[own], block[own + NEXT], block[own + 2 * NEXT]
    e, f = block[own + 3 * NEXT], block[own + 4 * NEXT]
    for x in range(n if n < GROUP else GROUP):
        total = (mean + a * group[normal + x]) + b * group[normal + GROUP + x]
        total = (total + c * group[normal + 2 * GROUP + x]) + e * group[normal + 3 * GROUP + x]
        new = total + f * group[normal + 4 * GROUP + x]
        old, known = group[x], group[BEST * GROUP + x]
        group[BEST * GROUP + x] = action if new > old else known
        group[x] = new if new > old else old


@inline
def add_by_best(left: int, kept: int, group: Vector, actions: Vector) -> None:
    """Count the draws in which each action except the leader is the best, and sum these draws."""
    found = 0
    for x in range(left):  # without a branch, which would be mispredicted
        group[FOUND * GROUP + found] = group[BEST * GROUP + x] + x
        found += 1 if group[BEST * GROUP + x] >= 0.0 else 0
    for place in range(found):
        both = int(group[FOUND * GROUP + place]) & NOT_NEGATIVE  # for the compiler
        spot, x = both // GROUP, both % GROUP
        actions[spot + WINS * ACROSS] += 1.0
        own, normal = spot + SUM * ACROSS, x + NORMAL * GROUP
        actions[own] += group[normal]
        actions[own + NEXT] += group[normal + GROUP]
        actions[own + 2 * NEXT] += group[normal + 2 * GROUP]
        actions[own + 3 * NEXT] += group[normal + 3 * GROUP]
        actions[own + 4 * NEXT] += group[normal + 4 * GROUP]
        for i in range(TOGETHER, kept):
            actions[own + i * NEXT] += group[normal + i * GROUP]


@inline
def weigh(actions: Vector, count: int, kept: int, leader: int, draws: int, average: Vector) -> None:
    """Write the expected gaps and the variances explained from the sums by best action.

    The remaining draws are those in which the leader is the best; it comes last.
    """
    share, left, top = 1.0 / draws, float(draws), 0.0
    groups, size, rest = action_places(count) // ACROSS, actions_size(kept), actions[leader:]
    for g in range(groups):
        block, n = actions[g * size : (g + 1) * size], places_used(count, g)
        combine(average, 1, 1.0, 0.0, average, block, n)
        for k in range(n):
            block[GAP * ACROSS + k] = block[k] + block[ALONG * ACROSS + k]
            block[SPREAD * ACROSS + k] = 0.0
    for i in range(kept):
        rest[SUM * ACROSS + i * NEXT] = average[i] * draws
    for g in range(groups):
        block = actions[g * size : (g + 1) * size]
        for b in range(min(ACROSS, count - g * ACROSS)):
            won = block[WINS * ACROSS + b]
            if won > 0.0:
                own = block[b:]
                left -= won
                for i in range(kept):
                    rest[SUM * ACROSS + i * NEXT] -= own[SUM * ACROSS + i * NEXT]
                top += won * explain(actions, count, kept, own, won, share, average)
    if left > 0.0:
        top += left * explain(actions, count, kept, rest, left, share, average)
    for g in range(groups):
        block, n = actions[g * size : (g + 1) * size], places_used(count, g)
        for k in range(n):
            gap = top * share - block[GAP * ACROSS + k]
            block[GAP * ACROSS + k] = gap if gap > 0.0 else 0.0


@inline
def explain(
    actions: Vector,
    count: int,
    kept: int,
    own: Vector,
    won: float,
    share: float,
    average: Vector,
) -> float:
    """Return the mean value of an action over the draws in which it is the best.

    The deviation of every action's mean value over these draws is squared and added to its
    variance.
    """
    size, weights = actions_size(kept), own[SUM * ACROSS :]
    for g in range(action_places(count) // ACROSS):
        block, n = actions[g * size : (g + 1) * size], places_used(count, g)
        combine(weights, NEXT, 1.0 / won, 1.0, average, block, n)
        for k in range(n):
            total = block[ALONG * ACROSS + k]
            block[SPREAD * ACROSS + k] += (won * share) * (total * total)
    return own[GAP * ACROSS] + own[ALONG * ACROSS]


@inline
def combine(
    vector: Vector,
    step: int,
    factor: float,
    less: float,
    average: Vector,
    block: Vector,
    n: int,
) -> None:
    """Write the change of each action's value for factor * vector - less * average."""
    a, b = factor * vector[0] - less * average[0], factor * vector[step] - less * average[1]
    c = factor * vector[2 * step] - less * average[2]
    e = factor * vector[3 * step] - less * average[3]
    f, scale = factor * vector[4 * step] - less * average[4], SCALE * ACROSS
    for k in range(n if n < ACROSS else ACROSS):
        first = a * block[scale + k] + b * block[scale + NEXT + k]
        second = c * block[scale + 2 * NEXT + k] + e * block[scale + 3 * NEXT + k]
        block[ALONG * ACROSS + k] = (first + second) + f * block[scale + 4 * NEXT + k]
    for i in range(TOGETHER, average.size):
        a, row = factor * vector[i * step] - less * average[i], block[scale + i * NEXT :]
        for k in range(n):
            block[ALONG * ACROSS + k] += a * row[k]
