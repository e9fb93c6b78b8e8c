"""Multi-threshold models at random, with the awkward ones among them."""

import math

import numpy as np

from halfseen.censorship import MultiThreshold


def random_models(count, seed=7, kinds=None):
    """Return models of 1 to 12 coordinates and 1 to 8 regions, a third of them near a boundary."""
    rng = np.random.default_rng(seed)
    kinds = kinds or (*CLEAR, in_line)
    return [kinds[k % len(kinds)](rng) for k in range(count)]


def model(angles, observe, d):
    return MultiThreshold(angles, observe, [0.0] * (d - 1) + [1.0])


def rings(angles, d):
    """Return unit actions at each angle, evenly spread across the last coordinate."""
    across = [sign * np.eye(d)[k] for k in range(d - 1) for sign in (-1.0, 1.0)]
    pole = np.eye(d)[-1]
    return np.array([math.cos(a) * e + math.sin(a) * pole for a in angles for e in across])


def plain(rng, least=0.05, lowest=-0.3):
    d, cuts = int(rng.integers(1, 13)), int(rng.integers(0, 8))
    angles = np.sort(rng.uniform(lowest, 1.56, cuts))
    return model(angles, np.sort(rng.uniform(least, 1.0, cuts + 1))[::-1], d)


def flat(rng):
    return plain(rng, least=0.8)


def below_equator(rng):
    return plain(rng, lowest=-1.5)


def repeated(rng):
    """Make neighbours equal, or equal but for the last digits."""
    base = plain(rng)
    observe = np.array(base.observe)
    for j in range(1, len(observe)):
        if rng.uniform() < 0.5:
            observe[j] = observe[j - 1] * (1.0 - rng.choice([0.0, 1e-15, 1e-13, 1e-11, 1e-8]))
    return model(base.threshold_radians, np.sort(observe)[::-1], len(base.direction))


def at_a_threshold(rng):
    """Put the ratio of two regions at r* or r-dagger, or next to it."""
    d = int(rng.integers(2, 13))
    low, high = np.sort(rng.uniform(0.1, 1.5, 2))
    up, down = (math.cos(low) / math.cos(high)) ** 2, (math.sin(low) / math.sin(high)) ** 2
    place = rng.choice([((d - 1) * up + down) / d, d * down * up / (up + (d - 1) * down)])
    ratio = max(place * (1.0 + rng.choice([-1, 1]) * rng.choice([0.0, 1e-13, 1e-11, 1e-8])), 1.0)
    middle = rng.uniform(0.3, 0.9)
    return model([low, high], [middle * rng.uniform(1.0, 1.1), middle, middle / ratio], d)


def in_line(rng):
    """Put three regions on a line of (c/p, q/p), so that two are met at once."""
    d = int(rng.integers(2, 13))
    low, high = np.sort(rng.uniform(0.2, 1.5, 2))
    first, last = rng.uniform(0.5, 1.0), rng.uniform(0.2, 0.5)
    c, q = math.cos(high) ** 2, math.sin(high) ** 2
    slope = (q / last) / (1.0 / first - c / last)  # of the line from (1/first, 0) to the last
    middle = (math.sin(low) ** 2 / slope + math.cos(low) ** 2) * first
    middle *= 1.0 + rng.choice([0.0, 1e-14, -1e-14, 1e-9])
    return model([low, high], [first, min(max(middle, last), first), last], d)


CLEAR = (plain, flat, repeated, below_equator, at_a_threshold)  # one greedy policy each
