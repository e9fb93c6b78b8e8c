"""What plays of some actions would tell about which is best, from draws of the posterior.

Loops over draws, or over actions, are innermost and of a whole number of vectors, so that several
are computed at a time.
"""

from __future__ import annotations

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import inline, shared

LANES = 8  # numbers computed at once by the widest vector instructions
TOGETHER = 5  # coordinates whose products are added at once; of shorter vectors 5 are kept
BINS = 32  # of lengths, by which draws are ordered
ROUNDING = 1.0 + 1e-9  # no action is left out because of rounding


def lanes(count: int) -> int:
    """Return how many places some draws or actions take: a multiple of what is computed at once.

    >>> lanes(60)
    64
    """
    return (count + LANES - 1) // LANES * LANES


def blocks(draws: int) -> int:
    """Return how many times `LANES` draws are looked at: a multiple of 4."""
    return (lanes(draws) // LANES + 3) // 4 * 4


def coordinates(d: int) -> int:
    """Return how many coordinates are kept of vectors of d numbers; those beyond d are 0.

    >>> coordinates(2), coordinates(9)
    (5, 9)
    """
    return d if d > TOGETHER else TOGETHER


def normals_size(dimension: int, draws: int) -> int:
    """Return how many numbers `order_draws` writes."""
    kept, width = coordinates(dimension), lanes(draws)
    return kept * width + kept + blocks(draws)


def gains_workspace(actions: int, dimension: int, draws: int) -> int:
    """Return how many numbers `estimate_gains`, or drawing and `order_draws`, work in."""
    kept, width, across = coordinates(dimension), lanes(draws), lanes(actions)
    drawing = (kept + 4) * width + BINS + 1
    estimating = (4 + 2 * kept) * across + kept + 3 * width
    return drawing if drawing > estimating else estimating


def order_draws(drawn: Vector, d: int, draws: int, normals: Vector, work: Vector) -> None:
    """Write draws from the longest to the shortest, and what is asked of them most often.

    Parameters
    ----------
    drawn
        Numbers by coordinate and draw.
    d, draws
        How many of them.
    normals
        The ordered draws are written here, by coordinate; then their means by coordinate; then for
        every `LANES` draws the largest square of a length among these and all that follow.
    work
        Two numbers a draw and `BINS` + 1 more.
    """
    width, end = lanes(draws), coordinates(d) * lanes(draws)
    squares, bins, starts = work[:width], work[width : 2 * width], work[2 * width :]
    for x in range(width):
        squares[x] = 0.0
    for i in range(d):
        own = drawn[i * width : (i + 1) * width]
        for x in range(width):
            squares[x] += own[x] * own[x]
    longest = 0.0
    for x in range(draws):
        longest = squares[x] if squares[x] > longest else longest
    scale = (BINS - 1) / longest if longest > 0.0 else 0.0
    for b in range(BINS + 1):
        starts[b] = 0.0
    for x in range(draws):
        bins[x] = float(int((longest - squares[x]) * scale))
        starts[int(bins[x]) + 1] += 1.0
    for b in range(BINS):
        starts[b + 1] += starts[b]
    for x in range(normals.size):
        normals[x] = 0.0
    means, edges = normals[end:], normals[end + coordinates(d) :]
    for x in range(draws):
        place = int(starts[int(bins[x])])
        starts[int(bins[x])] += 1.0
        block = place // LANES
        edges[block] = squares[x] if squares[x] > edges[block] else edges[block]
        for i in range(d):
            number = drawn[i * width + x]
            normals[i * width + place] = number
            means[i] += number / draws
    for block in range(edges.size - 2, -1, -1):
        later = edges[block + 1]
        edges[block] = later if later > edges[block] else edges[block]


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
        The actions by coordinate, each in `lanes` places.
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
        Where the gaps and the variances are written, `lanes` places each.
    work
        `gains_workspace` numbers.
    """
    kept, width, across = coordinates(posterior[0].size), lanes(draws), lanes(count)
    means, reach, apart = work[:across], work[across : 2 * across], work[2 * across : 3 * across]
    wins, rest = work[3 * across : 4 * across], work[4 * across :]
    scales, sums = rest[: kept * across], rest[kept * across : 2 * kept * across]
    weights, compared = rest[2 * kept * across :][:kept], rest[rest.size - 3 * width :]
    project(columns, posterior, noise, means, scales, weights)
    leader = 0
    for k in range(count):
        leader = k if means[k] > means[leader] else leader
    limit_reach(means, scales, leader, normals[normals.size - blocks(draws) :], apart, reach)
    reach[leader] = 0.0
    farthest = 0.0
    for k in range(count):
        farthest = reach[k] if reach[k] > farthest else farthest
    most = int(farthest) * LANES
    best = compared[2 * width : 2 * width + most]
    find_best(means[:count], scales, reach, leader, normals, compared, best)
    add_by_best(best[: most if most < draws else draws], normals, width, compared, wins, sums)
    weigh(means, scales, leader, draws, normals, wins, sums, out)


@inline
def combine(
    base: float, weights: Vector, stride: int, source: Vector, width: int, out: Vector
) -> None:
    """Write the base plus a weighted sum of vectors, given one after the other.

    The weights are `stride` apart. No product is added to its neighbours before those on its left,
    so that other code can add them one by one.
    """
    one, two = source[:width], source[width : 2 * width]
    three, four = source[2 * width : 3 * width], source[3 * width : 4 * width]
    five = source[4 * width : 5 * width]
    a, b, c = weights[0], weights[stride], weights[2 * stride]
    e, f = weights[3 * stride], weights[4 * stride]
    for x in range(out.size):
        total = ((base + a * one[x]) + b * two[x]) + c * three[x]
        out[x] = (total + e * four[x]) + f * five[x]
    for i in range(TOGETHER, source.size // width):
        a, one = weights[i * stride], source[i * width : (i + 1) * width]
        for x in range(out.size):
            out[x] += a * one[x]


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
    across, d, kept = means.size, estimate.size, weights.size
    for i in range(kept):
        weights[i] = estimate[i] if i < d else 0.0
    combine(0.0, weights, 1, columns, across, means)
    for j in range(kept):
        for i in range(kept):
            weights[i] = noise * factor[i, j] if j <= i < d else 0.0
        combine(0.0, weights, 1, columns, across, scales[j * across : (j + 1) * across])


@inline
def limit_reach(
    means: Vector, scales: Vector, leader: int, edges: Vector, apart: Vector, reach: Vector
) -> None:
    """Write among how many times `LANES` draws, the longest first, an action may be the best."""
    across = means.size
    for k in range(across):
        apart[k] = 0.0
        reach[k] = 0.0
    for i in range(scales.size // across):
        own = scales[i * across : (i + 1) * across]
        base = own[leader]
        for k in range(across):
            apart[k] += (own[k] - base) * (own[k] - base)
    first = means[leader]
    for block in range(0, edges.size, 4):
        a, b = ROUNDING * edges[block], ROUNDING * edges[block + 1]
        c, e = ROUNDING * edges[block + 2], ROUNDING * edges[block + 3]
        for k in range(across):
            behind, far = (first - means[k]) * (first - means[k]), apart[k]
            near = (1.0 if behind < a * far else 0.0) + (1.0 if behind < b * far else 0.0)
            near += (1.0 if behind < c * far else 0.0) + (1.0 if behind < e * far else 0.0)
            reach[k] += near


@inline
def find_best(
    means: Vector,
    scales: Vector,
    reach: Vector,
    leader: int,
    normals: Vector,
    work: Vector,
    best: Vector,
) -> None:
    """Write the best action of the longest draws, -1 where it is the leader."""
    width, across = work.size // 3, lanes(means.size)
    source = normals[: scales.size // across * width]
    top = work[width : width + best.size]
    combine(means[leader], scales[leader:], across, source, width, top)
    for x in range(best.size):
        best[x] = -1.0
    for k in range(means.size):
        if reach[k] > 0.0:
            value = work[: int(reach[k]) * LANES]
            combine(means[k], scales[k:], across, source, width, value)
            action = float(k)
            for x in range(value.size):
                new, old, known = value[x], top[x], best[x]
                ahead = action if new > old else -1.0
                best[x] = ahead if ahead > known else known
                top[x] = new if new > old else old


@inline
def add_by_best(
    best: Vector, normals: Vector, width: int, listed: Vector, wins: Vector, sums: Vector
) -> None:
    """Write of how many draws each action but the leader is the best, and the sums of these."""
    kept = sums.size // wins.size
    for k in range(wins.size):
        wins[k] = 0.0
    for x in range(sums.size):
        sums[x] = 0.0
    found = 0
    for x in range(best.size):  # without a branch, which would be guessed wrong
        listed[found] = x
        found += 1 if best[x] >= 0.0 else 0
    for place in range(found):
        x = int(listed[place])
        b = int(best[x])
        wins[b] += 1.0
        for i in range(kept):
            sums[b * kept + i] += normals[i * width + x]


@inline
def weigh(
    means: Vector,
    scales: Vector,
    leader: int,
    draws: int,
    normals: Vector,
    wins: Vector,
    sums: Vector,
    out: tuple[Vector, Vector],
) -> None:
    """Write the expected gaps and the variances explained from the sums by best action."""
    gaps, spreads = out
    across, share = means.size, 1.0 / draws
    kept, end = scales.size // across, normals.size - blocks(draws)
    average, rest = normals[end - kept : end], sums[leader * kept : (leader + 1) * kept]
    wins[leader] = draws
    for i in range(kept):
        rest[i] = average[i] * draws
    for b in range(across):
        if b != leader and wins[b] > 0.0:
            wins[leader] -= wins[b]
            for i in range(kept):
                rest[i] -= sums[b * kept + i]
    combine(0.0, average, 1, scales, across, gaps)
    for k in range(across):
        spreads[k] = 0.0
    top = 0.0
    for b in range(across):
        if wins[b] > 0.0:
            own, per_win = sums[b * kept : (b + 1) * kept], 1.0 / wins[b]
            top += wins[b] * means[b]
            for i in range(kept):
                top += scales[i * across + b] * own[i]
                own[i] = own[i] * per_win - average[i]
            add_squares(wins[b] * share, own, scales, spreads)
    for k in range(across):
        gap = top * share - (gaps[k] + means[k])
        gaps[k] = gap if gap > 0.0 else 0.0


@inline
def add_squares(share: float, apart: Vector, scales: Vector, spreads: Vector) -> None:
    """Add a share of the square of every action's product with a vector."""
    across, kept = spreads.size, apart.size
    if kept == TOGETHER:
        a, b, c, e, f = apart[0], apart[1], apart[2], apart[3], apart[4]
        one, two, three, four, five = (
            scales[:across],
            scales[across : 2 * across],
            scales[2 * across : 3 * across],
            scales[3 * across : 4 * across],
            scales[4 * across : 5 * across],
        )
        for k in range(across):
            along = (a * one[k] + b * two[k]) + (c * three[k] + e * four[k]) + f * five[k]
            spreads[k] += share * (along * along)
    else:
        for k in range(across):
            along = 0.0
            for i in range(kept):
                along += scales[i * across + k] * apart[i]
            spreads[k] += share * (along * along)
