"""The probability that an arm's draw is the largest: the propensities of Thompson sampling.

The integral of one arm's density times the other arms' distribution functions, for all arms at
once, by Gauss-Legendre quadrature on panels that are halved until halving changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from halfseen.checks import Vector

STEPS = np.array([-8.0, -4.0, -1.5, 1.5, 4.0, 8.0])  # break points, in an arm's own scale
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
CHANGE = 1e-13  # of a panel's integral, below which it is not halved again
HALVINGS = 60
TAIL = 1e-17  # probability left out at each end
REACH = 8.5  # standard deviations from a normal mean within which all but TAIL lies
SMALLEST = 1e-300
LARGE = 16.0  # from here on Stirling's series is exact to rounding

Densities = Callable[[Vector], tuple[Vector, Vector]]


def largest_normal(means: Vector, scales: Vector) -> Vector:
    r"""Return, for independent draws :math:`N(m_a, s_a^2)`, the probability that each is largest.

    An arm of scale 0 draws its mean. Among arms that do so with the same mean, the first is
    largest.

    >>> largest_normal(np.array([0.0, 0.5]), np.array([1.0, 0.5])).round(12).tolist()
    [0.327360423009, 0.672639576991]
    """
    chances = np.zeros(len(means))
    fixed, drawn = np.flatnonzero(scales == 0.0), np.flatnonzero(scales > 0.0)
    floor = -np.inf
    if fixed.size:
        best = fixed[np.argmax(means[fixed])]
        floor = means[best]
        chances[best] = np.prod(special.ndtr((floor - means[drawn]) / scales[drawn]))
    low = max(float(np.max(means[drawn] - REACH * scales[drawn], initial=-np.inf)), floor)
    near = drawn[means[drawn] + REACH * scales[drawn] > low]
    if not near.size:
        return _shares(chances, means)
    m, s = means[near], scales[near]

    def laws(x: Vector) -> tuple[Vector, Vector]:
        z = (x - m[:, None]) / s[:, None]
        density = z * z
        density *= -0.5
        np.exp(density, out=density)
        density /= np.sqrt(2.0 * np.pi) * s[:, None]
        return density, special.ndtr(z)

    high = float(np.max(m + REACH * s))
    chances[near] = _integral(laws, _panels(m, s, low, high))
    return _shares(chances, means)


def _shares(chances: Vector, means: Vector) -> Vector:
    """Return probabilities that sum to 1; next to a huge mean its scale is lost to rounding."""
    total = float(np.sum(chances))
    return chances / total if total > 0.0 else (np.arange(len(means)) == np.argmax(means)) * 1.0


def largest_beta(successes: Vector, failures: Vector) -> Vector:
    """Return, for independent draws Beta(A, B), the probability that each is largest.

    >>> largest_beta(np.array([3.0, 6.0]), np.array([8.0, 5.0])).round(11).tolist()
    [0.08490116694, 0.91509883306]
    """
    a, b = successes, failures
    lowest, least_rest = special.betaincinv(a, b, TAIL), special.betaincinv(b, a, TAIL)
    starts, ends = special.logit(lowest), -special.logit(least_rest)
    low, high = float(np.max(starts)), float(np.max(ends))
    near = np.flatnonzero(ends > low)
    chances = np.zeros(len(a))
    a, b = a[near, None], b[near, None]
    n = a + b
    centre = special.digamma(a) - special.digamma(b)
    scale = np.sqrt(special.polygamma(1, a) + special.polygamma(1, b))
    constant = _remainder(n) - _remainder(a) - _remainder(b)
    front = np.sqrt(a * b / (2.0 * np.pi * n))

    def laws(u: Vector) -> tuple[Vector, Vector]:
        x, y = special.expit(u), special.expit(-u)
        density = front * np.exp(constant - _excess(a, n * x) - _excess(b, n * y))
        return density, np.where(x <= 0.5, special.betainc(a, b, x), special.betaincc(b, a, y))

    chances[near] = _integral(laws, _panels(centre[:, 0], scale[:, 0], low, high))
    return chances / np.sum(chances)


def largest_gamma(shapes: Vector, scales: Vector, *, inverse: bool = False) -> Vector:
    """Return, for independent draws scale times Gamma(A), the probability that each is largest.

    Inverse draws are scale over Gamma(A), with A at least 1.

    >>> largest_gamma(np.array([3.0, 6.0]), np.array([0.5, 0.25])).round(11).tolist()
    [0.46822130773, 0.53177869227]
    """
    sign = -1.0 if inverse else 1.0
    place = np.log(scales)
    least, most = special.gammaincinv(shapes, TAIL), special.gammainccinv(shapes, TAIL)
    starts = place + sign * np.log(most if inverse else least)
    ends = place + sign * np.log(least if inverse else most)
    low, high = float(np.max(starts)), float(np.max(ends))
    near = np.flatnonzero(ends > low)
    chances = np.zeros(len(shapes))
    a, place = shapes[near, None], place[near, None]
    front = np.sqrt(a / (2.0 * np.pi)) * np.exp(-_remainder(a))
    below = special.gammaincc if inverse else special.gammainc

    def laws(u: Vector) -> tuple[Vector, Vector]:
        x = np.exp(sign * (u - place))
        return front * np.exp(-_excess(a, x)), below(a, x)

    centre, scale = place + sign * special.digamma(a), np.sqrt(special.polygamma(1, a))
    chances[near] = _integral(laws, _panels(centre[:, 0], scale[:, 0], low, high))
    return chances / np.sum(chances)


def _remainder(z: Vector) -> Vector:
    """Return log Gamma(z) less Stirling's (z - 1/2) log z - z + log(2 pi)/2."""
    large = np.maximum(z, LARGE)
    w = 1.0 / large**2
    series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / large
    direct = special.gammaln(z) - (z - 0.5) * np.log(z) + z - 0.5 * np.log(2.0 * np.pi)
    return np.where(z >= LARGE, series, direct)


def _excess(a: Vector, x: Vector) -> Vector:
    """Return a log(a/x) + x - a, which is at least 0."""
    apart = (x - a) / a
    with np.errstate(divide="ignore"):  # infinite where x is 0
        return a * (apart - np.log1p(apart))


def _panels(centres: Vector, scales: Vector, low: float, high: float) -> Vector:
    """Return the edges of the first panels: break points of every arm at its own scale."""
    points = (centres[:, None] + scales[:, None] * STEPS).ravel()
    widths = np.repeat(scales, len(STEPS))
    inside = np.flatnonzero((points > low) & (points < high))
    order = inside[np.argsort(points[inside])]
    edges, last = [low], 0.0
    for point, width in zip(points[order].tolist(), widths[order].tolist(), strict=True):
        if len(edges) == 1 or point - edges[-1] > min(width, last):
            edges.append(point)
            last = width
        else:
            last = min(width, last)
    return np.array([*edges, high])


def _integral(laws: Densities, edges: Vector) -> Vector:
    """Return the integral over all panels of each density times the others' distributions.

    Over the panels below an edge the integrals sum to the probability that all draws are below it.
    """
    all_below = np.prod(laws(edges)[1], axis=0)
    edges = edges[max(0, np.count_nonzero(all_below < TAIL) - 1) :]
    left, right = edges[:-1], edges[1:]
    whole = _on_panels(laws, left, right)
    total = np.zeros(len(whole))
    for _ in range(HALVINGS):
        middle = 0.5 * (left + right)
        halves = _on_panels(laws, np.append(left, middle), np.append(middle, right))
        first, second = halves[:, : len(left)], halves[:, len(left) :]
        open_ = np.max(np.abs(first + second - whole), axis=0) >= CHANGE
        total += np.sum((first + second)[:, ~open_], axis=1)
        if not np.any(open_):
            return total
        left, right = (
            np.append(left[open_], middle[open_]),
            np.append(middle[open_], right[open_]),
        )
        whole = np.append(first[:, open_], second[:, open_], axis=1)
    return total + np.sum(whole, axis=1)


def _on_panels(laws: Densities, left: Vector, right: Vector) -> Vector:
    """Return the integrals over panels, one row per arm."""
    half = 0.5 * (right - left)
    points = (0.5 * (left + right))[:, None] + half[:, None] * NODES
    densities, below = laws(points.ravel())
    all_below = np.prod(below, axis=0)
    np.maximum(below, SMALLEST, out=below)  # where it is less, so are the product and the density
    densities *= all_below
    densities /= below
    values = densities.reshape(len(below), len(left), len(NODES))
    found: Vector = (values @ WEIGHTS) * half
    return found
