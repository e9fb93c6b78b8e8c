"""Means where a group explains which rewards are missing."""

import numpy as np
import pytest

from halfseen.logs.stratified_means import stratified_mean


def test_the_mean_by_group_and_its_variance():
    rows, seen, ones = np.array([60.0, 40]), np.array([48.0, 8]), np.array([14.0, 7])
    mean = ones / seen
    value, variance, lost = stratified_mean(rows, seen, ones, mean * (1 - mean))
    assert value == pytest.approx(0.525, abs=1e-12)
    assert variance == pytest.approx(0.455364583333, abs=1e-12)
    assert lost == 0.0


def test_the_standard_error_is_that_of_many_logs():
    rng = np.random.default_rng(2)
    found = []
    for _ in range(500):
        group = rng.random(400) < 0.4
        reward = rng.random(400) < np.where(group, 0.8, 0.3)
        seen = rng.random(400) < np.where(group, 0.3, 0.8)
        rows = np.array([np.sum(group == m) for m in (False, True)], dtype=float)
        back = np.array([np.sum(seen & (group == m)) for m in (False, True)], dtype=float)
        ones = np.array([np.sum(seen & reward & (group == m)) for m in (False, True)], dtype=float)
        mean = ones / back
        found.append(stratified_mean(rows, back, ones, mean * (1 - mean))[:2])
    mean, variance = np.array(found).T
    assert mean.mean() == pytest.approx(0.5, abs=0.005)
    assert np.sqrt(variance.mean() / 400) == pytest.approx(mean.std(), rel=0.1)
