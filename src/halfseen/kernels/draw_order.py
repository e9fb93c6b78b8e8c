"""Posterior draws ordered from the longest to the shortest, and the layout of draws and actions.

Draws are stored in groups of `GROUP`, actions in groups of `ACROSS`. A group is a table: a row
holds one number of each of its members, which may be scratch. The compiler sees that rows of one
table do not overlap, so it vectorizes loops along them without a check at run time.
"""

from __future__ import annotations

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import inline

LANES = 8  # numbers computed at once by the widest vector instructions
GROUP = 64  # draws per group
ACROSS = 16  # actions per group
TOGETHER = 5  # coordinates whose products are added at once; shorter vectors are padded to 5
BINS = 32  # number of bins of lengths, by which draws are ordered
VALUE, BEST, FOUND, NORMAL = range(4)  # rows of a group of draws; NORMAL has one per coordinate
# Rows of a group of actions; the last three are repeated for every coordinate.
MEAN, GAP, SPREAD, ALONG, REACH, WINS, SCALE, SUM, OWN = range(9)
NEXT = 3 * ACROSS  # offset from one coordinate to the next


def lanes(count: int) -> int:
    """Return a count rounded up to a multiple of `LANES`.

    >>> lanes(10)
    16
    """
    return (count + LANES - 1) // LANES * LANES


def draw_places(draws: int) -> int:
    """Return the number of slots for a number of draws, in whole groups.

    >>> draw_places(60)
    64
    """
    return (draws + GROUP - 1) // GROUP * GROUP


def action_places(count: int) -> int:
    """Return the number of slots for a number of actions, in whole groups.

    >>> action_places(12)
    16
    """
    return (count + ACROSS - 1) // ACROSS * ACROSS


def coordinates(d: int) -> int:
    """Return the number of coordinates stored for vectors of length d; those beyond d are 0.

    >>> coordinates(2), coordinates(9)
    (5, 9)
    """
    return d if d > TOGETHER else TOGETHER


def draws_size(kept: int) -> int:
    """Return the size of a group of draws, in numbers."""
    return (NORMAL + kept) * GROUP


def actions_size(kept: int) -> int:
    """Return the size of a group of actions, in numbers."""
    return SCALE * ACROSS + kept * NEXT


def normals_size(dimension: int, draws: int) -> int:
    """Return the number of values that `order_draws` writes."""
    kept, width = coordinates(dimension), draw_places(draws)
    return width // GROUP * draws_size(kept) + kept + width // LANES


def drawing_workspace(dimension: int, draws: int) -> int:
    """Return the size of the workspace for drawing and `order_draws`, in numbers."""
    return (coordinates(dimension) + 4) * lanes(draws) + BINS + 1


@inline
def places_used(count: int, group: int) -> int:
    """Return how many slots of a group are computed, rounded up to a multiple of `LANES`.

    >>> [places_used(26, group) for group in range(2)]
    [16, 16]
    """
    left = lanes(count - group * ACROSS)
    return left if left < ACROSS else ACROSS


@inline
def place_action(k: int, kept: int) -> int:
    """Return the offset of the first number of an action; the others follow `ACROSS` apart."""
    return k // ACROSS * actions_size(kept) + k % ACROSS


def order_draws(drawn: Vector, d: int, draws: int, normals: Vector, work: Vector) -> None:
    """Write draws from the longest to the shortest, with their means and largest lengths.

    Parameters
    ----------
    drawn
        The draws, by coordinate and draw, with rows padded by `lanes`.
    d, draws
        Numbers of coordinates and of draws.
    normals
        Output: the ordered draws, by group and row; then their means by coordinate; then, for every
        `LANES` draws, the largest squared length among these and all that follow.
    work
        Workspace of two numbers per draw and `BINS` + 1 more.
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
