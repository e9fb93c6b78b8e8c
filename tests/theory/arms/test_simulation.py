"""The bounds hold in play: UCB written out once more, many replications side by side."""

import math

import numpy as np
import pytest

from halfseen.censorship import PerArm
from halfseen.policies import UCB
from halfseen.problems import ArmedBandit, RandomArms
from halfseen.theory import fluid_potential, regret_bounds
from halfseen.theory.arms.power_sums import power_sum


def play(means, observe, noise, lam, horizon, replications, seed, available=1.0):
    """Return regret, the potentials of order 1/2 and 1, and the observed counts."""
    rng = np.random.default_rng(seed)
    means, observe = np.array(means), np.array(observe)
    noise = np.broadcast_to(noise, means.shape)
    counts, sums = np.zeros((2, replications, len(means)))
    regret, half, one = np.zeros((3, replications))
    rows = np.arange(replications)
    bound = np.abs(means).max()
    for _ in range(horizon):
        weight = 1 / (counts + lam)
        index = sums * weight + np.sqrt(6 * noise**2 * math.log(horizon) * weight)
        offered = rng.random(counts.shape) < available
        offered[~offered.any(axis=1)] = True
        index = np.where(offered, index + lam * bound * weight, -np.inf)
        arm = index.argmax(axis=1)
        regret += np.where(offered, means, -np.inf).max(axis=1) - means[arm]
        half += weight[rows, arm] ** 0.5
        one += weight[rows, arm]
        seen = rng.random(replications) < observe[arm]
        reward = means[arm] + noise[arm] * rng.standard_normal(replications)
        counts[rows, arm] += seen
        sums[rows, arm] += np.where(seen, reward, 0.0)
    return regret, {0.5: half, 1.0: one}, counts


CASES = [
    ([0.9, 0.5, 0.2], [0.9, 0.3, 0.5], 0.05, 1.0),
    ([-1.0, 1.0], [0.2, 0.5], 0.0, 3.0),
    ([0.5, 0.45, -0.5], [0.1, 0.8, 1.0], [0.1, 0.0, 0.2], 0.5),
]


@pytest.mark.parametrize("available", [1.0, 0.6])
@pytest.mark.parametrize(("means", "observe", "noise", "lam"), CASES)
def test_regret_stays_below_every_bound(means, observe, noise, lam, available):
    horizon = 2000
    actions = {} if available == 1.0 else {"actions": RandomArms([available] * len(means))}
    problem = ArmedBandit(means, noise=noise, **actions)
    found = regret_bounds(problem, PerArm(observe), UCB(regularization=lam), horizon)
    regret, _, _ = play(means, observe, noise, lam, horizon, 100, 11, available)
    for bound in found:
        assert regret.mean() - 3 * regret.std() / 10 <= bound.value
    assert regret.mean() > 0.004 * found.smallest.value


@pytest.mark.parametrize(("means", "observe", "noise", "lam"), CASES)
def test_potential_identity_and_bound(means, observe, noise, lam):
    """E V = E sum G(N_a)/p_a exactly, and both stay below the fluid bound."""
    horizon, replications = 1000, 400
    _, potentials, counts = play(means, observe, noise, lam, horizon, replications, 12)
    for alpha, potential in potentials.items():
        through_counts = (power_sum(counts, lam, alpha) / np.array(observe)).sum(axis=1)
        difference = potential - through_counts
        error = difference.std() / math.sqrt(replications)
        assert abs(difference.mean()) < 4 * error
        assert error < 0.05 * potential.mean()
        assert potential.mean() < fluid_potential(observe, horizon, alpha, lam)
