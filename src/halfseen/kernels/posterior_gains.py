"""What plays of some actions would tell about which is best, from draws of the posterior."""

from __future__ import annotations

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import inline, shared
from halfseen.kernels.draw_order import (
    ACROSS,
    BINS,
    GROUP,
    LANES,
    TOGETHER,
    action_places,
    coordinates,
    draw_places,
    lanes,
    place_action,
)

ROUNDING = 1.0 + 1e-9  # no action is left out because of rounding


def gains_workspace(actions: int, dimension: int, draws: int) -> int:
    """Return how many numbers `estimate_gains`, or drawing and `order_draws`, work in."""
    kept, across = coordinates(dimension), action_places(actions)
    drawing = (kept + 4) * lanes(draws) + BINS + 1
    estimating = (4 + 2 * kept) * across + kept * (kept + 1) + 3 * GROUP
    return drawing if drawing > estimating else estimating


@shared
def estimate_gains(
    columns: Vector,
    count: int,
    posterior: tuple[Vector, Vector],
    noise: float,
    draws: int,
    normals: Vector,
    out: tuple[Vector, Vector],
    work: Vector,
) -> None:
    r"""Write each action's expected gap and the variance of its value that the best one explains.

    Thetas are :math:`\hat\theta+\sigma Lz`. With b the best action of a draw, the gap of a is the
    mean of :math:`\langle b,\theta\rangle` less that of :math:`\langle a,\theta\rangle`, and the
    variance that of the mean of :math:`\langle a,\theta\rangle` given b.

    An action whose mean lies behind the leader's by more than a draw of some length can make up is
    not compared on draws that are not longer: about half of the comparisons.

    Parameters
    ----------
    columns
        The actions by group and coordinate.
    count
        How many actions.
    posterior
        The estimate, and L, lower triangular.
    noise
        Sigma.
    draws
        How many thetas.
    normals
        What `order_draws` wrote.
    out
        Where the gaps and the variances are written, `action_places` each.
    work
        `gains_workspace` numbers.
    """
    kept, width, across = coordinates(posterior[0].size), draw_places(draws), action_places(count)
    means, reach, apart = work[:across], work[across : 2 * across], work[2 * across : 3 * across]
    wins, rest = work[3 * across : 4 * across], work[4 * across :]
    scales, sums = rest[: kept * across], rest[kept * across : 2 * kept * across]
    rest = rest[2 * kept * across :]
    edge = kept * (kept + 1)
    weights, compared = rest[:edge], rest[edge : edge + 3 * GROUP]
    project(columns, posterior, noise, means, scales, weights)
    leader = 0
    for k in range(count):
        leader = k if means[k] > means[leader] else leader
    limit_reach(means, scales, leader, normals[kept * width + kept :], apart, reach)
    reach[leader] = 0.0
    farthest = 0.0
    for k in range(count):
        farthest = reach[k] if reach[k] > farthest else farthest
    for k in range(across):
        wins[k] = 0.0
    for x in range(sums.size):
        sums[x] = 0.0
    most = int(farthest) * LANES
    for start in range(0, most, GROUP):
        group = normals[start * kept : (start + GROUP) * kept]
        find_best(means[:count], scales, reach, leader, group, start, compared)
        left = most if most < draws else draws
        add_by_best(left - start, group, compared, wins, sums)
    average, along = normals[kept * width :][:kept], compared[:ACROSS]
    weigh(means, scales, leader, draws, average, wins, sums, (out[0], out[1], along))


@inline
def combine(weights: Vector, source: Vector, out: Vector) -> None:
    """Write the weighted sum of the coordinates of a group of actions.

    No product is added to its neighbours before those on its left, so that other code can add them
    one by one.
    """
    n = out.size if out.size < ACROSS else ACROSS
    a, b, c, e, f = weights[0], weights[1], weights[2], weights[3], weights[4]
    for k in range(n):
        total = (a * source[k] + b * source[ACROSS + k]) + c * source[2 * ACROSS + k]
        out[k] = (total + e * source[3 * ACROSS + k]) + f * source[4 * ACROSS + k]
    for i in range(TOGETHER, weights.size):
        a, one = weights[i], source[i * ACROSS : (i + 1) * ACROSS]
        for k in range(n):
            out[k] += a * one[k]


@inline
def project(
    columns: Vector,
    posterior: tuple[Vector, Vector],
    noise: float,
    means: Vector,
    scales: Vector,
    weights: Vector,
) -> None:
    """Write every action's posterior mean, and by coordinate what a normal number adds to it."""
    estimate, factor = posterior
    d = estimate.size
    kept = coordinates(d)
    for x in range(weights.size):
        weights[x] = 0.0
    for i in range(d):
        weights[i] = estimate[i]
        for j in range(i + 1):
            weights[(j + 1) * kept + i] = noise * factor[i, j]
    for start in range(0, means.size, ACROSS):
        source = columns[start * kept : (start + ACROSS) * kept]
        out = scales[start * kept : (start + ACROSS) * kept]
        own = means[start : start + ACROSS]
        if kept == TOGETHER:
            project_five(source, weights, own, out)
        else:
            combine(weights[:kept], source, own)
            for j in range(kept):
                row = weights[(j + 1) * kept : (j + 2) * kept]
                combine(row, source, out[j * ACROSS : (j + 1) * ACROSS])


@inline
def project_five(source: Vector, weights: Vector, means: Vector, out: Vector) -> None:
    """Write the same for a group of actions of five coordinates, all in one pass."""
    a, b, c, e, f = weights[0], weights[1], weights[2], weights[3], weights[4]
    a0, b0, c0, e0, f0 = weights[5], weights[6], weights[7], weights[8], weights[9]
    b1, c1, e1, f1 = weights[11], weights[12], weights[13], weights[14]
    c2, e2, f2 = weights[17], weights[18], weights[19]
    e3, f3, f4 = weights[23], weights[24], weights[29]
    for k in range(means.size if means.size < ACROSS else ACROSS):
        v, w, x = source[k], source[ACROSS + k], source[2 * ACROSS + k]
        y, z = source[3 * ACROSS + k], source[4 * ACROSS + k]
        means[k] = (((a * v + b * w) + c * x) + e * y) + f * z
        out[k] = (((a0 * v + b0 * w) + c0 * x) + e0 * y) + f0 * z
        out[ACROSS + k] = ((b1 * w + c1 * x) + e1 * y) + f1 * z
        out[2 * ACROSS + k] = (c2 * x + e2 * y) + f2 * z
        out[3 * ACROSS + k] = e3 * y + f3 * z
        out[4 * ACROSS + k] = f4 * z


@inline
def limit_reach(
    means: Vector, scales: Vector, leader: int, edges: Vector, apart: Vector, reach: Vector
) -> None:
    """Write among how many times `LANES` draws, the longest first, an action may be the best."""
    kept = scales.size // means.size
    own = place_action(leader, kept)
    for start in range(0, means.size, ACROSS):
        source, far = scales[start * kept :], apart[start : start + ACROSS]
        square_distances(source[: kept * ACROSS], scales[own:], far)
    first = means[leader]
    for k in range(means.size):
        reach[k] = 0.0
    for block in range(0, edges.size, 4):
        a, b = ROUNDING * edges[block], ROUNDING * edges[block + 1]
        c, e = ROUNDING * edges[block + 2], ROUNDING * edges[block + 3]
        for k in range(means.size):
            behind, far = (first - means[k]) * (first - means[k]), apart[k]
            near = (1.0 if behind < a * far else 0.0) + (1.0 if behind < b * far else 0.0)
            near += (1.0 if behind < c * far else 0.0) + (1.0 if behind < e * far else 0.0)
            reach[k] += near


@inline
def square_distances(source: Vector, leader: Vector, out: Vector) -> None:
    """Write how far a group of actions lies from the leader, squared."""
    n = out.size if out.size < ACROSS else ACROSS
    a, b, c = leader[0], leader[ACROSS], leader[2 * ACROSS]
    e, f = leader[3 * ACROSS], leader[4 * ACROSS]
    for k in range(n):
        v, w, x = source[k] - a, source[ACROSS + k] - b, source[2 * ACROSS + k] - c
        y, z = source[3 * ACROSS + k] - e, source[4 * ACROSS + k] - f
        out[k] = (((v * v + w * w) + x * x) + y * y) + z * z
    for i in range(TOGETHER, source.size // ACROSS):
        a, one = leader[i * ACROSS], source[i * ACROSS : (i + 1) * ACROSS]
        for k in range(n):
            out[k] += (one[k] - a) * (one[k] - a)


@inline
def find_best(
    means: Vector,
    scales: Vector,
    reach: Vector,
    leader: int,
    group: Vector,
    start: int,
    work: Vector,
) -> None:
    """Write the best action of a group of draws, -1 where it is the leader, after its value."""
    kept = group.size // GROUP
    value_of(means[leader], scales[place_action(leader, kept) :], group, GROUP, work)
    for x in range(GROUP):
        work[GROUP + x] = -1.0
    for k in range(means.size):
        n = int(reach[k]) * LANES - start
        n = n if n < GROUP else GROUP
        if n > 0 and kept == TOGETHER:
            compare_five(means[k], scales[place_action(k, kept) :], group, n, float(k), work)
        elif n > 0:
            values = work[2 * GROUP :]
            value_of(means[k], scales[place_action(k, kept) :], group, n, values)
            for x in range(n):
                new, old, known = values[x], work[x], work[GROUP + x]
                ahead = float(k) if new > old else -1.0
                work[GROUP + x] = ahead if ahead > known else known
                work[x] = new if new > old else old


@inline
def value_of(mean: float, scales: Vector, group: Vector, n: int, out: Vector) -> None:
    """Write the value of an action in each draw of a group."""
    a, b, c = scales[0], scales[ACROSS], scales[2 * ACROSS]
    e, f = scales[3 * ACROSS], scales[4 * ACROSS]
    for x in range(n if n < GROUP else GROUP):
        total = ((mean + a * group[x]) + b * group[GROUP + x]) + c * group[2 * GROUP + x]
        out[x] = (total + e * group[3 * GROUP + x]) + f * group[4 * GROUP + x]
    for i in range(TOGETHER, group.size // GROUP):
        a, one = scales[i * ACROSS], group[i * GROUP : (i + 1) * GROUP]
        for x in range(n):
            out[x] += a * one[x]


@inline
def compare_five(
    mean: float, scales: Vector, group: Vector, n: int, action: float, work: Vector
) -> None:
    """Keep the better of the best so far and another action, of five coordinates, in one pass."""
    a, b, c = scales[0], scales[ACROSS], scales[2 * ACROSS]
    e, f = scales[3 * ACROSS], scales[4 * ACROSS]
    for x in range(n if n < GROUP else GROUP):
        total = ((mean + a * group[x]) + b * group[GROUP + x]) + c * group[2 * GROUP + x]
        new = (total + e * group[3 * GROUP + x]) + f * group[4 * GROUP + x]
        old, known = work[x], work[GROUP + x]
        ahead = action if new > old else -1.0
        work[GROUP + x] = ahead if ahead > known else known
        work[x] = new if new > old else old


@inline
def add_by_best(left: int, group: Vector, work: Vector, wins: Vector, sums: Vector) -> None:
    """Add how many draws each action but the leader is the best of, and the sums of these."""
    kept = sums.size // wins.size
    found = 0
    for x in range(left if left < GROUP else GROUP):  # a branch would be guessed wrong
        work[2 * GROUP + found] = x
        found += 1 if work[GROUP + x] >= 0.0 else 0
    for place in range(found):
        x = int(work[2 * GROUP + place])
        b = int(work[GROUP + x])
        wins[b] += 1.0
        own, point = sums[b * kept : (b + 1) * kept], group[x:]
        own[0] += point[0]
        own[1] += point[GROUP]
        own[2] += point[2 * GROUP]
        own[3] += point[3 * GROUP]
        own[4] += point[4 * GROUP]
        for i in range(TOGETHER, kept):
            own[i] += point[i * GROUP]


@inline
def weigh(
    means: Vector,
    scales: Vector,
    leader: int,
    draws: int,
    average: Vector,
    wins: Vector,
    sums: Vector,
    out: tuple[Vector, Vector, Vector],
) -> None:
    """Write the expected gaps and the variances explained from the sums by best action.

    The third vector of `out` is scratch, as long as a group of actions.
    """
    gaps, spreads, along = out
    across, share = means.size, 1.0 / draws
    kept = scales.size // across
    rest = sums[leader * kept : (leader + 1) * kept]
    wins[leader] = draws
    for i in range(kept):
        rest[i] = average[i] * draws
    for b in range(across):
        if b != leader and wins[b] > 0.0:
            wins[leader] -= wins[b]
            for i in range(kept):
                rest[i] -= sums[b * kept + i]
    for start in range(0, across, ACROSS):
        source = scales[start * kept : (start + ACROSS) * kept]
        combine(average, source, gaps[start : start + ACROSS])
    for k in range(across):
        spreads[k] = 0.0
    top = 0.0
    for b in range(across):
        if wins[b] > 0.0:
            own, per_win = sums[b * kept : (b + 1) * kept], 1.0 / wins[b]
            spot = place_action(b, kept)
            top += wins[b] * means[b]
            for i in range(kept):
                top += scales[spot + i * ACROSS] * own[i]
                own[i] = own[i] * per_win - average[i]
            for start in range(0, across, ACROSS):
                source = scales[start * kept : (start + ACROSS) * kept]
                places = spreads[start : start + ACROSS]
                add_squares(wins[b] * share, own, source, places, along)
    for k in range(across):
        gap = top * share - (gaps[k] + means[k])
        gaps[k] = gap if gap > 0.0 else 0.0


@inline
def add_squares(
    share: float, apart: Vector, source: Vector, spreads: Vector, along: Vector
) -> None:
    """Add a share of the square of the product of a group of actions with a vector."""
    n = spreads.size if spreads.size < ACROSS else ACROSS
    a, b, c, e, f = apart[0], apart[1], apart[2], apart[3], apart[4]
    if apart.size == TOGETHER:
        for k in range(n):
            first, second = a * source[k] + b * source[ACROSS + k], c * source[2 * ACROSS + k]
            total = (first + (second + e * source[3 * ACROSS + k])) + f * source[4 * ACROSS + k]
            spreads[k] += share * (total * total)
    else:
        combine(apart, source, along)
        for k in range(n):
            spreads[k] += share * (along[k] * along[k])
