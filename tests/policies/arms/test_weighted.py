"""Weighted learning is unbiased, and worth what the theory says."""

import numpy as np
import pytest

from halfseen import UCB, DoublyRobust, InvalidInput, InversePropensity, compare_imputations
from halfseen.problems import ArmedBandit


@pytest.mark.parametrize("policy", [InversePropensity([0.25]), DoublyRobust([0.25])])
def test_the_estimate_is_unbiased(policy):
    rng = np.random.default_rng(0)
    kernels, table = policy.kernels(), policy.table(ArmedBandit([2.0], noise=0.5).setting(100))
    finals = []
    for _ in range(2000):
        state = np.zeros((1, 2))
        for _ in range(40):
            if rng.random() < 0.25:
                kernels.learn(state, 0, rng.normal(2.0, 0.5), table)
            else:
                kernels.learn(state, 0, kernels.fill(state, 0, table), table)
        finals.append(state[0, 1] / state[0, 0])
    error = np.std(finals) / np.sqrt(len(finals))
    assert np.mean(finals) == pytest.approx(2.0, abs=4 * error)


def test_all_seen_is_ucb():
    setting = ArmedBandit([0.5, 0.2], noise=0.3).setting(1000)
    for policy in (InversePropensity(1.0), DoublyRobust([1.0, 1.0])):
        np.testing.assert_allclose(policy.table(setting)[:, :3], UCB().table(setting))


@pytest.mark.slow
def test_what_they_lose():
    found = compare_imputations([0.6, 0.5], [0.34, 0.87], noise=0.5, replications=20)
    lost = {row["policy"]: row["regret"] for row in found.summary()}
    assert lost["zero"] > 10 * lost["skip"]
    assert lost["doubly robust"] == pytest.approx(lost["skip"], rel=0.3)


def test_bad_input():
    with pytest.raises(InvalidInput, match=r"DoublyRobust.observe"):
        DoublyRobust([0.0])
    with pytest.raises(InvalidInput, match="one number or have 2 entries"):
        InversePropensity([0.5]).check(ArmedBandit([1, 2]).setting(10))
