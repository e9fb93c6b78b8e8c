"""What plays of some actions would tell about which is best, from draws of the posterior."""

from __future__ import annotations

import math

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import inline, shared

LANES = 8  # draws computed at once by the widest vector instructions
TOGETHER = 5  # coordinates whose products are added at once; of shorter vectors 5 are kept
ROUNDING = 1.0 + 1e-9  # no action is left out because of rounding


def lanes(draws: int) -> int:
    """Return how many places some draws take: a multiple of what is computed at once.

    >>> lanes(60)
    64
    """
    return (draws + LANES - 1) // LANES * LANES


def coordinates(d: int) -> int:
    """Return how many coordinates are kept of vectors of d numbers; those beyond d are 0.

    >>> coordinates(2), coordinates(9)
    (5, 9)
    """
    return d if d > TOGETHER else TOGETHER


def normals_size(dimension: int, draws: int) -> int:
    """Return how many numbers hold the normal numbers of some draws, their sums and the longest.

    They are drawn in pairs, so an odd number of coordinates leaves a row to spare.
    """
    kept = coordinates(dimension)
    return (kept + kept % 2) * lanes(draws) + kept + 1


def gains_workspace(actions: int, dimension: int, draws: int) -> int:
    """Return how many numbers `estimate_gains` works in."""
    return 2 * actions + 2 * coordinates(dimension) * actions + 3 * lanes(draws)


def summarize_normals(normals: Vector, d: int, draws: int) -> None:
    """Write the sums of the draws by coordinate, and the largest square of a draw's length."""
    width, kept = lanes(draws), coordinates(d)
    start = normals.size - 1 - kept
    for i in range(kept):
        total = 0.0
        for x in range(draws):
            total += normals[i * width + x]
        normals[start + i] = total
    longest = 0.0
    for x in range(draws):
        square = 0.0
        for i in range(d):
            square += normals[i * width + x] * normals[i * width + x]
        longest = square if square > longest else longest
    normals[normals.size - 1] = longest


@shared
def estimate_gains(
    rows: Vector,
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
    variance that of the mean of :math:`\langle a,\theta\rangle` given b. Loops over draws are
    innermost, so that several are computed at a time.

    Parameters
    ----------
    rows
        The actions, (K, d).
    posterior
        The estimate, and L, lower triangular.
    noise
        Sigma.
    draws
        How many thetas.
    normals
        What `summarize_normals` completed: the normal numbers by coordinate and draw, their sums
        by coordinate, the largest square of a draw's length.
    out
        Where the gaps and the variances are written.
    work
        `gains_workspace` numbers.
    """
    estimate, factor = posterior
    count, d = rows.shape
    width, kept = lanes(draws), coordinates(d)
    means, scales = work[:count], work[2 * count : 2 * count + kept * count]
    project(rows, estimate, factor, noise, means, scales)
    leader = 0
    for k in range(count):
        if means[k] > means[leader]:
            leader = k
    wins, drawn = work[count : 2 * count], work[work.size - 3 * width :]
    top, best = drawn[width : 2 * width], drawn[2 * width :]
    mark_possible(means, scales, leader, normals[normals.size - 1], wins)
    if kept == TOGETHER:
        find_best(means, scales, wins, normals, top, best)
    else:
        find_best_of_long(means, scales, wins, normals, drawn)
    sums = work[2 * count + kept * count : 2 * count + 2 * kept * count]
    add_by_best(best, draws, normals, wins, sums)
    weigh(means, scales, draws, normals, wins, sums, out)


@inline
def project(
    rows: Vector, estimate: Vector, factor: Vector, noise: float, means: Vector, scales: Vector
) -> None:
    """Write every action's posterior mean, and by coordinate what a normal number adds to it."""
    count, d = rows.shape
    for k in range(count):
        means[k] = 0.0
    for x in range(scales.size):
        scales[x] = 0.0
    for i in range(d):
        column, mean = rows[:, i], estimate[i]
        for k in range(count):
            means[k] += mean * column[k]
        for j in range(i + 1):
            scale, out = noise * factor[i, j], scales[j * count : (j + 1) * count]
            for k in range(count):
                out[k] += scale * column[k]


@inline
def mark_possible(
    means: Vector, scales: Vector, leader: int, longest: float, possible: Vector
) -> None:
    """Write 1 for every action that some draw may find the best, else 0.

    Not possible is an action whose mean lies below the leader's by more than the longest draw, of
    which the squared length is given, can make up.
    """
    count = means.size
    for k in range(count):
        behind = means[leader] - means[k]
        apart = 0.0
        for i in range(scales.size // count):
            step = scales[i * count + k] - scales[i * count + leader]
            apart += step * step
        possible[k] = 1.0 if behind * behind <= ROUNDING * longest * apart else 0.0
    possible[leader] = 1.0


@inline
def find_best(
    means: Vector, scales: Vector, possible: Vector, normals: Vector, top: Vector, best: Vector
) -> None:
    """Write the best action of every draw, for vectors of 5 coordinates."""
    count, width = means.size, top.size
    one, two, three, four, five = (
        normals[:width],
        normals[width : 2 * width],
        normals[2 * width : 3 * width],
        normals[3 * width : 4 * width],
        normals[4 * width : 5 * width],
    )
    for x in range(width):
        top[x] = -math.inf
    for k in range(count):
        if possible[k] > 0.0:
            a, b, c = scales[k], scales[count + k], scales[2 * count + k]
            e, f = scales[3 * count + k], scales[4 * count + k]
            mean, action = means[k], float(k)
            for x in range(width):
                total = ((mean + a * one[x]) + b * two[x]) + c * three[x]
                total = (total + e * four[x]) + f * five[x]
                best[x] = action if total > top[x] else best[x]
                top[x] = total if total > top[x] else top[x]


@inline
def find_best_of_long(
    means: Vector, scales: Vector, possible: Vector, normals: Vector, work: Vector
) -> None:
    """Do the same for any number of coordinates, two at a time."""
    count, width = means.size, work.size // 3
    kept = scales.size // count
    value, top, best = work[:width], work[width : 2 * width], work[2 * width :]
    for x in range(width):
        top[x] = -math.inf
    for k in range(count):
        if possible[k] > 0.0:
            mean, action = means[k], float(k)
            for x in range(width):
                value[x] = mean
            for i in range(0, kept - 1, 2):
                a, b = scales[i * count + k], scales[(i + 1) * count + k]
                one = normals[i * width : (i + 1) * width]
                two = normals[(i + 1) * width : (i + 2) * width]
                for x in range(width):
                    value[x] = (value[x] + a * one[x]) + b * two[x]
            if kept % 2 == 1:
                a, one = scales[(kept - 1) * count + k], normals[(kept - 1) * width : kept * width]
                for x in range(width):
                    value[x] += a * one[x]
            for x in range(width):
                best[x] = action if value[x] > top[x] else best[x]
                top[x] = value[x] if value[x] > top[x] else top[x]


@inline
def add_by_best(best: Vector, draws: int, normals: Vector, wins: Vector, sums: Vector) -> None:
    """Write of how many draws each action is the best, and the sums of their normal numbers."""
    count, width = wins.size, best.size
    kept = sums.size // count
    for k in range(count):
        wins[k] = 0.0
    for x in range(sums.size):
        sums[x] = 0.0
    for x in range(draws):
        b = int(best[x])
        wins[b] += 1.0
        if kept == TOGETHER:  # all read before any is written: no waiting for each other
            own = sums[TOGETHER * b : TOGETHER * (b + 1)]
            first, second = own[0] + normals[x], own[1] + normals[width + x]
            third, fourth = own[2] + normals[2 * width + x], own[3] + normals[3 * width + x]
            own[4] += normals[4 * width + x]
            own[0], own[1], own[2], own[3] = first, second, third, fourth
        else:
            for i in range(kept):
                sums[b * kept + i] += normals[i * width + x]


@inline
def weigh(
    means: Vector,
    scales: Vector,
    draws: int,
    normals: Vector,
    wins: Vector,
    sums: Vector,
    out: tuple[Vector, Vector],
) -> None:
    """Write the expected gaps and the variances explained from the sums by best action."""
    gaps, spreads = out
    count = means.size
    kept = scales.size // count
    totals = normals[normals.size - 1 - kept : normals.size - 1]
    top = 0.0
    for b in range(count):
        if wins[b] > 0.0:
            top += wins[b] * means[b]
            for i in range(kept):
                top += scales[i * count + b] * sums[b * kept + i]
    for k in range(count):
        along = 0.0
        for i in range(kept):
            along += scales[i * count + k] * totals[i]
        gap = (top - along) / draws - means[k]
        gaps[k] = gap if gap > 0.0 else 0.0
        spreads[k] = 0.0
    for b in range(count):
        if wins[b] > 0.0:
            apart = sums[b * kept : (b + 1) * kept]
            per_win, per_draw = 1.0 / wins[b], 1.0 / draws
            for i in range(kept):
                apart[i] = apart[i] * per_win - totals[i] * per_draw
            add_squares(wins[b] / draws, apart, scales, spreads)


@inline
def add_squares(share: float, apart: Vector, scales: Vector, spreads: Vector) -> None:
    """Add a share of the square of every action's product with a vector."""
    count, kept = spreads.size, apart.size
    if kept == TOGETHER:
        a, b, c, e, f = apart[0], apart[1], apart[2], apart[3], apart[4]
        one, two, three, four, five = (
            scales[:count],
            scales[count : 2 * count],
            scales[2 * count : 3 * count],
            scales[3 * count : 4 * count],
            scales[4 * count : 5 * count],
        )
        for k in range(count):
            along = (a * one[k] + b * two[k]) + (c * three[k] + e * four[k]) + f * five[k]
            spreads[k] += share * (along * along)
    else:
        for k in range(count):
            along = 0.0
            for i in range(kept):
                along += scales[i * count + k] * apart[i]
            spreads[k] += share * (along * along)
