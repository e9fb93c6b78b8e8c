"""The least information ratio: golden values, and no distribution has a smaller one."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen.kernels.information_ratio import CHANCE, FIRST, RATIO, SECOND, least_ratio


def least(gaps, gains):
    out = np.zeros(4)
    least_ratio(np.array(gaps, dtype=float), np.array(gains, dtype=float), out)
    return out


@pytest.mark.parametrize(
    ("gaps", "gains", "pair", "chance", "ratio"),
    [
        ([0.1, 0.5], [0.01, 0.3], (0, 1), 0.181034482759, 0.475624256837),
        ([0.05, 0.2, 0.5, 0.3], [0.001, 0.1, 0.3, 0.25], (0, 3), 0.191967871486, 0.196771019822),
    ],
)
def test_golden_ratios(gaps, gains, pair, chance, ratio):
    found = least(gaps, gains)
    assert (found[FIRST], found[SECOND]) == pair
    assert found[CHANCE] == pytest.approx(chance, rel=1e-11)
    assert found[RATIO] == pytest.approx(ratio, rel=1e-11)


numbers = st.lists(st.floats(1e-3, 1.0), min_size=5, max_size=5)


@given(numbers, numbers, st.integers(0, 2**32 - 1))
def test_no_distribution_has_a_smaller_ratio(gaps, gains, seed):
    found = least(gaps, gains)
    weights = np.random.default_rng(seed).dirichlet(np.full(5, 0.3), size=400)
    weights = np.vstack([weights, np.eye(5)])
    ratios = (weights @ gaps) ** 2 / (weights @ gains)
    assert found[RATIO] <= ratios.min() * (1 + 1e-9)
    own = np.zeros(5)
    own[int(found[FIRST])] += 1 - found[CHANCE]
    own[int(found[SECOND])] += found[CHANCE]
    assert (own @ gaps) ** 2 / (own @ gains) == pytest.approx(found[RATIO], rel=1e-9)


def test_where_nothing_is_to_be_gained_the_least_gap_is_played():
    found = least([0.4, 0.1, 0.3], [0.0, 0.0, 0.0])
    assert (found[FIRST], found[CHANCE]) == (1, 0.0)
    assert least([0.4, 0.0, 0.3], [1.0, 0.0, 0.5])[FIRST] == 1


@given(st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_the_least_of_all_pairs_is_found(count, seed):
    generator = np.random.default_rng(seed)
    gaps, gains = generator.random(count) ** 3 + 1e-9, generator.random(count) ** 6 + 1e-6
    smallest = (gaps**2 / gains).min()
    for i, j in itertools.permutations(range(count), 2):
        rise, growth = gaps[j] - gaps[i], gains[j] - gains[i]
        chance = np.clip(gaps[i] / rise - 2 * gains[i] / growth, 0, 1)
        mixed = (gaps[i] + chance * rise) ** 2 / (gains[i] + chance * growth)
        smallest = min(smallest, mixed)
    assert least(gaps, gains)[RATIO] == pytest.approx(smallest, rel=1e-9)
