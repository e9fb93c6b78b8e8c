"""Draws of the posterior from the longest to the shortest, and where draws and actions lie.

Draws lie in groups of `GROUP`, actions in groups of `ACROSS`. A group is a table: a row holds one
number of each of its members, which may be scratch. The compiler sees that rows of one table do not
overlap, so that loops along them compute several numbers at a time, without a test beforehand.
"""

from __future__ import annotations

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import inline

LANES = 8  # numbers computed at once by the widest vector instructions
GROUP = 64  # draws that lie together
ACROSS = 16  # actions that lie together
TOGETHER = 5  # coordinates whose products are added at once; of shorter vectors 5 are kept
BINS = 32  # of lengths, by which draws are ordered
VALUE, BEST, FOUND, NORMAL = range(4)  # rows of a group of draws; the last, one a coordinate
# Rows of a group of actions; of the last three there are as many again for every coordinate.
MEAN, GAP, SPREAD, ALONG, REACH, WINS, SCALE, SUM, OWN = range(9)
NEXT = 3 * ACROSS  # from one coordinate to the next


def lanes(count: int) -> int:
    """Return the least multiple of `LANES` that is not below some count.

    >>> lanes(10)
    16
    """
    return (count + LANES - 1) // LANES * LANES


def draw_places(draws: int) -> int:
    """Return how many places some draws take.

    >>> draw_places(60)
    64
    """
    return (draws + GROUP - 1) // GROUP * GROUP


def action_places(count: int) -> int:
    """Return how many places some actions take.

    >>> action_places(12)
    16
    """
    return (count + ACROSS - 1) // ACROSS * ACROSS


def coordinates(d: int) -> int:
    """Return how many coordinates are kept of vectors of d numbers; those beyond d are 0.

    >>> coordinates(2), coordinates(9)
    (5, 9)
    """
    return d if d > TOGETHER else TOGETHER


def draws_size(kept: int) -> int:
    """Return how many numbers a group of draws takes."""
    return (NORMAL + kept) * GROUP


def actions_size(kept: int) -> int:
    """Return how many numbers a group of actions takes."""
    return SCALE * ACROSS + kept * NEXT


def normals_size(dimension: int, draws: int) -> int:
    """Return how many numbers `order_draws` writes."""
    kept, width = coordinates(dimension), draw_places(draws)
    return width // GROUP * draws_size(kept) + kept + width // LANES


def drawing_workspace(dimension: int, draws: int) -> int:
    """Return how many numbers drawing and `order_draws` work in."""
    return (coordinates(dimension) + 4) * lanes(draws) + BINS + 1


@inline
def places_used(count: int, group: int) -> int:
    """Return how many places of a group are computed: a multiple of 4, so that none is left over.

    >>> [places_used(26, group) for group in range(2)]
    [16, 12]
    """
    left = (count - group * ACROSS + 3) // 4 * 4
    return left if left < ACROSS else ACROSS


@inline
def place_action(k: int, kept: int) -> int:
    """Return where the first number of an action lies; the others follow `ACROSS` apart."""
    return k // ACROSS * actions_size(kept) + k % ACROSS


def order_draws(drawn: Vector, d: int, draws: int, normals: Vector, work: Vector) -> None:
    """Write draws from the longest to the shortest, and what is asked of them most often.

    Parameters
    ----------
    drawn
        Numbers by coordinate and draw, `lanes` of each.
    d, draws
        How many of them.
    normals
        The ordered draws are written here, by group and row; then their means by coordinate; then
        for every `LANES` draws the largest square of a length among these and all that follow.
    work
        Two numbers a draw and `BINS` + 1 more.
    """
    kept, width = coordinates(d), lanes(draws)
    end = draw_places(draws) // GROUP * draws_size(kept)
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
    means, edges = normals[end:], normals[end + kept :]
    for x in range(draws):
        place = int(starts[int(bins[x])])
        starts[int(bins[x])] += 1.0
        block = place // LANES
        edges[block] = squares[x] if squares[x] > edges[block] else edges[block]
        spot = place // GROUP * draws_size(kept) + place % GROUP
        for i in range(d):
            number = drawn[i * width + x]
            normals[spot + (NORMAL + i) * GROUP] = number
            means[i] += number / draws
    for block in range(edges.size - 2, -1, -1):
        later = edges[block + 1]
        edges[block] = later if later > edges[block] else edges[block]
