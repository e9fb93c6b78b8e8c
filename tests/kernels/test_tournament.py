"""The tournament against a plain argmax."""

import numpy as np
import pytest

from halfseen.kernels.tournament import build, climb, inner_nodes


@pytest.mark.parametrize("arms", [1, 2, 4, 5, 16, 17, 63, 65, 300])
def test_winner_is_the_first_largest(arms):
    generator = np.random.default_rng(arms)
    leaves = inner_nodes(arms)
    values = np.full(4 * leaves + 1, -np.inf)
    winners = np.zeros(values.size, np.uint32)
    plain = generator.integers(0, 4, arms).astype(float)
    values[leaves : leaves + arms] = plain
    winners[leaves : leaves + arms] = np.arange(arms)
    assert build(values, winners, leaves) == np.argmax(plain)
    for _ in range(400):
        arm = int(generator.integers(arms))
        plain[arm] = generator.integers(0, 4)
        assert climb(values, winners, leaves, arm, plain[arm]) == np.argmax(plain)


@pytest.mark.parametrize("arms", [1, 4, 5, 64, 10_000, 1_000_000])
def test_every_arm_has_a_seat(arms):
    leaves = inner_nodes(arms)
    assert 4 * leaves + 1 >= leaves + arms
