"""Optimism on the unit ball against a plain simulation with numpy's eigenvectors."""

import math

import numpy as np
import pytest

from halfseen import (
    InvalidInput,
    LinearBandit,
    LinRandom,
    LinUCB,
    Logistic,
    MultiThreshold,
    Study,
    Uniform,
    UnitBall,
    simulate,
)
from halfseen.draws import ENVIRONMENT, exponential_from, normal_from, words
from halfseen.engine.linear_cell import LinearCell
from halfseen.theory.ellipsoid import farthest_point

THETA = [0.6, 0.3, -0.2]
CENSORSHIPS = [
    Uniform(1.0),
    Uniform(0.4),
    MultiThreshold([0.2, 0.7], [0.9, 0.5, 0.1], [1.0, 0.0, 0.0]),
    Logistic([1.0, 0.5, 0.0], slope=-3.0),
]


def cell_of(censorship, horizon, policy=None):
    problem = LinearBandit(THETA, 0.3, UnitBall(3))
    return LinearCell(
        problem, censorship, policy or LinUCB(0.7), horizon, 4, np.array([horizon]), np.array([1.0])
    )


def textbook(cell, replication, rate_of):
    """Play every round from the definitions; return regret, V_1 and both designs."""
    key = cell.arguments()[7]
    world = (*key, replication, ENVIRONMENT)
    theta, lam = np.array(THETA), 0.7
    log = 2 * math.log(cell.horizon)
    observed, expected, target = lam * np.eye(3), lam * np.eye(3), np.zeros(3)
    regret = potential = 0.0
    learned, wait, action, rate = 0, 0, None, None
    for _ in range(cell.horizon):
        inverse = np.linalg.inv(observed)
        if wait == 0:
            spread = np.linalg.slogdet(observed)[1] - 3 * math.log(lam)
            radius = 0.3 * math.sqrt(spread + log) + math.sqrt(lam) * np.linalg.norm(theta)
            values, vectors = np.linalg.eigh(observed)
            action = farthest_point(inverse @ target, values, vectors, radius).action
            rate = rate_of(action)
            high, low, wait_high, wait_low = words(world, learned, 0)
            reward = action @ theta + 0.3 * normal_from(high, low, world, learned, 0)
            wait = 1
            if rate < 1:
                late = exponential_from(wait_high, wait_low, world, learned, 0)
                wait += math.floor(late / -math.log1p(-rate))
        regret += np.linalg.norm(theta) - action @ theta
        potential += action @ inverse @ action
        expected += rate * np.outer(action, action)
        wait -= 1
        if wait == 0:
            observed += np.outer(action, action)
            target += reward * action
            learned += 1
    return regret, potential, observed, expected, learned


@pytest.mark.parametrize("censorship", CENSORSHIPS)
def test_loop_follows_the_definitions(censorship):
    """From the second observation on no two widest directions tie, and the paths agree."""
    cell = cell_of(censorship, 300)
    problem = cell.problem
    study = Study(
        problem,
        censorship,
        LinUCB(0.7),
        300,
        3,
        seed=4,
        alphas=[1.0],
        checkpoints=1,
        baseline=False,
    )
    tracks = {name: array[0, 0, 0, :, -1] for name, array in simulate(study).tracks.items()}

    def rate_of(action):
        if isinstance(censorship, Uniform):
            return censorship.observe
        return float(censorship.probabilities(action[None])[0])

    for replication in range(3):
        regret, potential, observed, expected, learned = textbook(cell, replication, rate_of)
        assert tracks["observations"][replication].sum() == learned
        np.testing.assert_allclose(tracks["regret"][replication], regret, rtol=1e-6)
        np.testing.assert_allclose(tracks["potential"][replication, 0], potential, rtol=1e-6)
        for design, matrix in enumerate((observed, expected)):
            np.testing.assert_allclose(
                tracks["eigenvalues"][replication, design], np.linalg.eigvalsh(matrix), rtol=1e-6
            )
            spread = np.linalg.slogdet(matrix)[1] - 3 * math.log(0.7)
            np.testing.assert_allclose(tracks["spread"][replication, design], spread, rtol=1e-6)


@pytest.mark.parametrize("censorship", CENSORSHIPS)
def test_compiled_equals_plain(censorship):
    study = Study(
        LinearBandit(THETA, 0.3), censorship, LinUCB(), 120, 2, alphas=[1.0, 0.5], baseline=False
    )
    plain, fast = simulate(study, engine="reference"), simulate(study)
    for name, array in plain.tracks.items():
        assert np.array_equal(array, fast.tracks[name]), name


@pytest.mark.parametrize(
    ("horizon", "tolerance"),
    [(200_000, 0.12), pytest.param(1_000_000, 0.08, marks=pytest.mark.slow)],
)
def test_slope_of_the_potential_on_the_sphere(horizon, tolerance):
    """With theta = u the slope of V_1 in log T tends to (d+1)/(2 p(a*))."""
    theta, observe = [1.0, 0.0, 0.0], [0.8, 0.25]
    study = Study(
        LinearBandit(theta, 1.0),
        MultiThreshold([0.6], observe, theta),
        LinUCB(),
        horizon,
        16,
        baseline=False,
    )
    result = simulate(study)
    rounds = result.study.rounds_recorded
    potential = result.tracks["potential"][0, 0, 0, :, :, 0].mean(axis=0)
    late = rounds >= horizon / 10
    slope = np.polyfit(np.log(rounds[late]), potential[late], 1)[0]
    assert slope == pytest.approx(4 / (2 * 0.25), rel=tolerance)


def test_other_policies_cannot_search_the_ball():
    with pytest.raises(InvalidInput, match="must be LinUCB on the unit ball"):
        Study(LinearBandit(THETA), Uniform(0.5), LinRandom(), 10)
