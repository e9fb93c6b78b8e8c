"""Draws by counter: known answers, laws and independence of the order of asking."""

import math

import numpy as np
import pytest
from scipy.special import gammainc, ndtr

from halfseen import UCB, draws
from halfseen.draws import exponential_from, gamma, words
from halfseen.engine.specialise import compiled

STREAM = (11, 12, 13, draws.POLICY)


def exponential(stream, count, arm):
    _, _, high, low = words(stream, count, arm)
    return exponential_from(high, low, stream, count, arm)


def gamma_of_three_halves(stream, count, arm):
    return gamma(1.5, stream, count, arm)


def fill(out):
    for i in range(out.size):
        out[i] = draw(STREAM, i, i % 7)  # noqa: F821


def many(draw, number):
    """Return many draws, compiled as the engine does: how one process registers a function to be
    compiled decides the speed of all it compiles later and keeps on disk."""
    out = np.empty(number)
    compiled(fill, UCB().kernels(), draw=draw)(out)
    return out


def distance(sample, cdf):
    """Return the Kolmogorov-Smirnov distance times the root of the sample size."""
    values = cdf(np.sort(sample))
    grid = np.arange(sample.size + 1) / sample.size
    gap = max(np.max(grid[1:] - values), np.max(values - grid[:-1]))
    return math.sqrt(sample.size) * gap


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox_gives_the_published_words(counter, key, expected):
    assert " ".join(f"{w:08x}" for w in draws.philox(*counter, *key)) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "cdf"),
    [
        (draws.uniform, lambda x: x),
        (draws.normal, ndtr),
        (exponential, lambda x: -np.expm1(-x)),
        (gamma_of_three_halves, lambda x: gammainc(1.5, x)),
    ],
)
def test_law_of_a_million_draws(draw, cdf):
    # 1.95 is exceeded with probability 0.001 by a right law; the draws are fixed.
    assert distance(many(draw, 1_000_000), cdf) < 1.95


@pytest.mark.slow
def test_tails_of_normal_and_exponential():
    """The rare detours beyond the last layer have the right weight and shape."""
    normals, exponentials = many(draws.normal, 10_000_000), many(exponential, 10_000_000)
    beyond = np.abs(normals[np.abs(normals) > draws.NORMAL_EDGE[1]])
    expected = 2e7 * ndtr(-draws.NORMAL_EDGE[1])
    assert abs(beyond.size - expected) < 4 * math.sqrt(expected)
    conditional = 1 - ndtr(-beyond) / ndtr(-draws.NORMAL_EDGE[1])
    assert distance(conditional, lambda x: x) < 1.95
    late = exponentials[exponentials > draws.EXPONENTIAL_EDGE[1]] - draws.EXPONENTIAL_EDGE[1]
    expected = 1e7 * math.exp(-draws.EXPONENTIAL_EDGE[1])
    assert abs(late.size - expected) < 4 * math.sqrt(expected)
    assert distance(late, lambda x: -np.expm1(-x)) < 1.95


def test_reward_and_wait_of_one_place_are_independent():
    normals, exponentials = many(draws.normal, 1_000_000), many(exponential, 1_000_000)
    assert abs(np.corrcoef(normals, exponentials)[0, 1]) < 4e-3
    assert abs(np.corrcoef(np.abs(normals), exponentials)[0, 1]) < 4e-3


@pytest.mark.parametrize("draw", [draws.uniform, draws.normal, exponential, gamma_of_three_halves])
def test_compiled_draws_equal_plain_ones(draw):
    fast = many(draw, 3000)
    assert all(fast[i] == draw(STREAM, i, i % 7) for i in range(3000))


def test_streams_differ_by_every_part():
    base = draws.words(STREAM, 5, 6)
    others = [
        draws.words((STREAM[0] + 1, *STREAM[1:]), 5, 6),
        draws.words((STREAM[0], STREAM[1] + 1, *STREAM[2:]), 5, 6),
        draws.words((*STREAM[:2], STREAM[2] + 1, STREAM[3]), 5, 6),
        draws.words((*STREAM[:3], draws.ENVIRONMENT), 5, 6),
        draws.words(STREAM, 5 + (1 << 32), 6),
        draws.words(STREAM, 5, 7),
    ]
    assert len({base, *others}) == 7


def test_key_depends_on_seed_and_label():
    keys = {draws.stream_key(0, "a"), draws.stream_key(1, "a"), draws.stream_key(0, "b")}
    assert len(keys) == 3
