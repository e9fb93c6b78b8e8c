"""Random numbers by counter: the same draw from any engine, worker or chunk.

A draw is a pure function of a stream and a place in it, so nothing has to be generated in order.
A stream is the tuple ``(key0, key1, replication, purpose)``; a place is ``(count, arm)``.
All functions are plain Python on int and float; engines run them as they are or compiled.
Integers stay below 2**63 in value or wrap harmlessly: every product is masked to its halves.

References
----------
Salmon, Moraes, Dror, Shaw, *Parallel random numbers: as easy as 1, 2, 3*, SC 2011 (Philox).
Marsaglia, Tsang, *The ziggurat method for generating random variables*, 2000.
Hormann, *The transformed rejection method for generating Poisson random variables*, 1993.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import inline

Stream = tuple[int, int, int, int]

ENVIRONMENT, AVAILABILITY, POLICY, REWARD = range(4)  # purposes
_ATTEMPT = 1 << 24  # rejected candidates move on by one attempt, above the arm's bits
_SECOND = 1 << 16  # the second variable of a place is redrawn apart from the first
WORD = 0xFFFFFFFF
_UNIT = 2.0**-53


def stream_key(seed: int, label: str) -> tuple[int, int]:
    """Return the two 32-bit key words of a seed and a label."""
    digest = hashlib.sha256(f"{seed}/{label}".encode()).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")


@inline
def philox(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> tuple[int, int, int, int]:
    """Return the four 32-bit words of Philox4x32-10.

    >>> [f"{word:08x}" for word in philox(0, 0, 0, 0, 0, 0)]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    for _ in range(10):
        a = (c0 & WORD) * 0xD2511F53
        b = (c2 & WORD) * 0xCD9E8D57
        c0, c1 = (b >> 32) ^ c1 ^ k0, b
        c2, c3 = (a >> 32) ^ c3 ^ k1, a
        k0 += 0x9E3779B9
        k1 += 0xBB67AE85
    return c0 & WORD, c1 & WORD, c2 & WORD, c3 & WORD


@inline
def words(stream: Stream, count: int, arm: int) -> tuple[int, int, int, int]:
    """Return the four words at a place of a stream."""
    key0, key1, replication, purpose = stream
    place = int(count)
    upper = ((place >> 32) & 0xFFFF) + (purpose << 24)
    return philox(place & WORD, upper, int(arm), replication, key0, key1)


def mantissa(high: int, low: int) -> int:
    """Return a whole number below 2**53 from two words."""
    return ((high >> 11) << 32) | low


@inline
def unit(high: int, low: int) -> float:
    """Return a multiple of 2**-53 in [0, 1[ from two words."""
    return mantissa(high, low) * _UNIT


def uniform(stream: Stream, count: int, arm: int) -> float:
    """Return a uniform number in [0, 1[."""
    first, second, _, _ = words(stream, count, arm)
    return unit(first, second)


def normal(stream: Stream, count: int, arm: int) -> float:
    """Return a standard normal number."""
    first, second, _, _ = words(stream, count, arm)
    return normal_from(first, second, stream, count, arm)


@inline
def normal_from(high: int, low: int, stream: Stream, count: int, arm: int) -> float:
    """Return a standard normal number from two words; rarely draws more at the same place."""
    layer = high & 255
    sign = -1.0 if high & 256 else 1.0
    x = unit(high, low) * NORMAL_EDGE[layer]
    if x < NORMAL_EDGE[layer + 1]:
        return sign * x
    return _normal_outside(layer, x, sign, stream, count, arm)


@inline
def exponential_from(high: int, low: int, stream: Stream, count: int, arm: int) -> float:
    """Return a standard exponential number from two words; rarely draws more."""
    layer = high & 255
    x = unit(high, low) * EXPONENTIAL_EDGE[layer]
    if x < EXPONENTIAL_EDGE[layer + 1]:
        return x
    return _exponential_outside(layer, x, stream, count, arm)


def gamma(shape: float, stream: Stream, count: int, arm: int) -> float:
    """Return a gamma number of scale 1, NaN if the shape is below 1 (Marsaglia and Tsang 2000)."""
    if not shape >= 1.0:
        return math.nan
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    place = arm
    while True:
        first, second, third, fourth = words(stream, count, place)
        x = normal_from(first, second, stream, count, place + 32 * _ATTEMPT)
        v = 1.0 + c * x
        u = unit(third, fourth) + _UNIT
        if v > 0.0:
            v = v * v * v
            if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v
        place += _ATTEMPT


def poisson(mean: float, stream: Stream, count: int, arm: int) -> float:
    """Return a Poisson number: by inversion below a mean of 10, else by transformed rejection.

    One uniform number of 53 bits is inverted below; from 10 on candidates are drawn until one is
    accepted, two in three at the first attempt (Hormann 1993, PTRS).
    """
    if mean < 10.0:
        first, second, _, _ = words(stream, count, arm)
        return _poisson_inverse(mean, unit(first, second))
    return _poisson_rejection(mean, stream, count, arm)


def _poisson_inverse(mean: float, u: float) -> float:
    """Return the smallest k whose distribution function exceeds u."""
    k = 0
    chance = math.exp(-mean)
    below = chance
    while u >= below and k < 200:  # rounding may leave the sum below the largest u
        k += 1
        chance *= mean / k
        below += chance
    return float(k)


def _poisson_rejection(mean: float, stream: Stream, count: int, arm: int) -> float:
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = 0.02483 * b - 0.059
    height = math.log(1.1239 + 1.1328 / (b - 3.4))
    sure = 0.9277 - 3.6224 / (b - 2.0)
    log_mean = math.log(mean)
    place = arm
    while True:
        place += _ATTEMPT  # the words of the arm itself decide how long its reward is waited for
        first, second, third, fourth = words(stream, count, place)
        u = unit(first, second) - 0.5
        v = unit(third, fourth) + _UNIT
        edge = 0.5 - abs(u)
        if edge <= 0.0:
            continue
        k = math.floor((2.0 * a / edge + b) * u + mean + 0.43)
        if edge >= 0.07 and v <= sure:
            return float(k)
        if k < 0 or (edge < 0.013 and v > edge):
            continue
        density = k * log_mean - mean - log_factorial(float(k))
        if math.log(v) + height - math.log(a / (edge * edge) + b) <= density:
            return float(k)


def log_factorial(k: float) -> float:
    """Return log k! to 13 digits, alike in plain Python and compiled.

    >>> round(log_factorial(4.0), 12), round(log_factorial(20.0), 12)
    (3.178053830348, 42.335616460753)
    """
    total = 0.0
    while k < 16.0:
        k += 1.0
        total -= math.log(k)
    near = 1.0 / (k * k)
    series = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - near / 1680.0) * near) * near) / k
    return total + (k + 0.5) * math.log(k) - k + 0.9189385332046727 + series


def _normal_outside(
    layer: int, x: float, sign: float, stream: Stream, count: int, arm: int
) -> float:
    place = arm
    while True:
        place += _ATTEMPT
        first, second, third, fourth = words(stream, count, place)
        u = unit(third, fourth) + _UNIT
        if layer == 0:
            beyond = -math.log(u) / NORMAL_EDGE[1]
            height = -math.log(unit(first, second) + _UNIT)
            if height + height > beyond * beyond:
                return sign * (NORMAL_EDGE[1] + beyond)
        else:
            low = NORMAL_HEIGHT[layer]
            if low + u * (NORMAL_HEIGHT[layer + 1] - low) < math.exp(-0.5 * x * x):
                return sign * x
            layer = first & 255
            sign = -1.0 if first & 256 else 1.0
            x = unit(first, second) * NORMAL_EDGE[layer]
            if x < NORMAL_EDGE[layer + 1]:
                return sign * x


def _exponential_outside(layer: int, x: float, stream: Stream, count: int, arm: int) -> float:
    key0, key1, replication, purpose = stream
    apart = (key0, key1 ^ _SECOND, replication, purpose)
    place = arm
    passed = 0.0
    while True:
        place += _ATTEMPT
        first, second, third, fourth = words(apart, count, place)
        if layer == 0:
            passed += EXPONENTIAL_EDGE[1]
        else:
            low = EXPONENTIAL_HEIGHT[layer]
            u = unit(third, fourth)
            if low + u * (EXPONENTIAL_HEIGHT[layer + 1] - low) < math.exp(-x):
                return passed + x
        layer = first & 255
        x = unit(first, second) * EXPONENTIAL_EDGE[layer]
        if x < EXPONENTIAL_EDGE[layer + 1]:
            return passed + x


def _normal_ziggurat() -> tuple[Vector, Vector]:
    tail, area = 3.6541528853610088, 0.00492867323399
    edge = [area / math.exp(-0.5 * tail * tail), tail]
    for _ in range(254):
        height = area / edge[-1] + math.exp(-0.5 * edge[-1] ** 2)
        edge.append(math.sqrt(-2.0 * math.log(height)))
    edges = np.array([*edge, 0.0])
    return edges, np.exp(-0.5 * edges**2)


def _exponential_ziggurat() -> tuple[Vector, Vector]:
    tail, area = 7.69711747013104972, 0.0039496598225815571993
    edge = [area / math.exp(-tail), tail]
    for _ in range(254):
        edge.append(-math.log(area / edge[-1] + math.exp(-edge[-1])))
    edges = np.array([*edge, 0.0])
    return edges, np.exp(-edges)


def _normal_boxes() -> tuple[Vector, Vector]:
    """Return where a mantissa is outside its layer, and how far apart the others are.

    By the nine bits of a word that choose layer and sign: `normal_from` draws no more where the
    mantissa is below the end, and returns it times the step.
    """
    steps = np.concatenate([NORMAL_EDGE[:-1], -NORMAL_EDGE[:-1]]) * _UNIT
    ends = []
    for step, inner in zip(steps, NORMAL_EDGE[1:], strict=False):
        end = round(inner / step)
        while end * step < inner:
            end += 1
        while end > 0 and (end - 1) * step >= inner:
            end -= 1
        ends.append(float(end))
    return np.array(ends + ends), steps


NORMAL_EDGE, NORMAL_HEIGHT = _normal_ziggurat()
BOX_END, BOX_STEP = _normal_boxes()
BOXES = 511  # the bits of a word that choose one
EXPONENTIAL_EDGE, EXPONENTIAL_HEIGHT = _exponential_ziggurat()
