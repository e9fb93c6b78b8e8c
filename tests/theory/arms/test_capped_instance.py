"""Bounds from caps on observations, against golden values and a plain filling of cells."""

import math

import numpy as np
import pytest

from halfseen.theory import capped_instance_bound

MEANS, OBSERVE = np.array([0.9, 0.8, 0.7, 0.5, 0.2]), [0.9, 0.1, 0.5, 0.3, 0.05]
GOLDEN = [
    (5000, 11654.18186802, 3500.0014, 11935.04214646),
    (10**6, 97139.95560496, 48824.46667367, 97471.39822169),
    (10**8, 129491.90655987, 65067.00000007, 129869.16781043),
]


@pytest.mark.parametrize(("horizon", "widths", "gaps", "closed"), GOLDEN)
def test_bounds_from_caps_golden(horizon, widths, gaps, closed):
    found = capped_instance_bound(0.9 - MEANS, OBSERVE, horizon, bound=0.9)
    assert found == pytest.approx((widths, gaps, closed), abs=1e-8)


def test_widths_against_sorting_all_cells():
    gaps, p, horizon = np.array([0.0, 0.5, 0.9]), np.array([0.7, 0.4, 0.2]), 2000
    found = capped_instance_bound(gaps, p, horizon, noise=0.3, regularization=2.0, bound=1.0)
    root, inverse = 2 * math.sqrt(6 * math.log(horizon)) * 0.3, 2 * 2.0 * 1.0
    cells = []
    for gap, chance in zip(gaps[1:], p[1:], strict=True):
        top = (math.sqrt(root**2 + 4 * gap * inverse) + root) / (2 * gap)
        n = np.arange(math.floor(top**2 - 2.0) + 1.0) + 2.0
        cells += [(cost, 1 / chance) for cost in root / np.sqrt(n) + inverse / n]
    left, total = float(horizon), 2 * 3 * 0.9 / horizon
    for cost, rounds in sorted(cells, reverse=True):
        total += cost * min(rounds, left)
        left -= min(rounds, left)
    assert found.widths == pytest.approx(total, rel=1e-12)
    assert found.gaps <= found.widths <= found.closed


def test_no_worse_arm_costs_nothing():
    assert capped_instance_bound([0.0, 0.0], [0.5, 0.5], 100) == (0.0, 0.0, 0.0)
