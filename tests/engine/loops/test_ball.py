"""Policies on the unit ball against a plain simulation with numpy's eigenvectors."""

import math

import numpy as np
import pytest

from halfseen import (
    DesignExploration,
    ImputeZeroLinUCB,
    InvalidInput,
    LinearBandit,
    LinEpsilonGreedy,
    LinRandom,
    LinThompson,
    LinUCB,
    Logistic,
    MultiThreshold,
    Study,
    Uniform,
    UnitBall,
    simulate,
)
from halfseen.draws import ENVIRONMENT, POLICY, exponential_from, normal_from, uniform, words
from halfseen.engine.backends import cpu, reference
from halfseen.engine.cells.linear import LinearCell
from halfseen.problems.action_sets import fill_normals
from halfseen.theory.ellipsoid import farthest_point

THETA = [0.6, 0.3, -0.2]
CENSORSHIPS = [
    Uniform(1.0),
    Uniform(0.4),
    MultiThreshold([0.2, 0.7], [0.9, 0.5, 0.1], [1.0, 0.0, 0.0]),
    Logistic([1.0, 0.5, 0.0], slope=-3.0, offset=3.0),
]


def cell_of(censorship, horizon, policy=None):
    problem = LinearBandit(THETA, 0.3, UnitBall(3))
    return LinearCell(
        problem, censorship, policy or LinUCB(0.7), horizon, 4, np.array([horizon]), np.array([1.0])
    )


def most_optimistic(cell, design, target, clock, mind):
    lam = cell.policy.regularization
    spread = np.linalg.slogdet(design)[1] - 3 * math.log(lam)
    log = 2 * math.log(cell.horizon)
    radius = 0.3 * math.sqrt(spread + log) + math.sqrt(lam) * np.linalg.norm(THETA)
    values, vectors = np.linalg.eigh(design)
    return farthest_point(np.linalg.solve(design, target), values, vectors, radius).action


def sampled(cell, design, target, clock, mind):
    noise = np.zeros(3)
    fill_normals(mind, clock, 0, noise)
    inverse = np.linalg.inv(design)
    drawn = inverse @ target + 0.3 * np.linalg.cholesky(inverse) @ noise
    return drawn / np.linalg.norm(drawn)


def anywhere(cell, design, target, clock, mind):
    drawn = np.zeros(3)
    fill_normals(mind, clock, 0, drawn)
    return drawn / np.linalg.norm(drawn)


def greedy(cell, design, target, clock, mind):
    if uniform(mind, clock, (1 << 24) - 1) < cell.policy.epsilon:
        return anywhere(cell, design, target, clock, mind)
    if not target.any():
        return np.array([1.0, 0.0, 0.0])
    estimate = np.linalg.solve(design, target)
    return estimate / np.linalg.norm(estimate)


def textbook(cell, replication, rate_of, choose):
    """Play every round from the definitions; return regret, V_1 and both designs."""
    world, mind = ((*cell.key, replication, purpose) for purpose in (ENVIRONMENT, POLICY))
    theta, policy = np.array(THETA), cell.policy
    observed, expected, design = (policy.regularization * np.eye(3) for _ in range(3))
    target = np.zeros(3)
    regret = potential = 0.0
    shown, left, news = 0, 0.0, True
    for clock in range(1, cell.horizon + 1):
        if news or not policy.waits or policy.imputes:
            action = choose(cell, design, target, clock, mind)
        if news:
            high, low, wait_high, wait_low = words(world, shown, 0)
            noise = 0.3 * normal_from(high, low, world, shown, 0)
            left = exponential_from(wait_high, wait_low, world, shown, 0)
        rate = rate_of(action)
        used = -math.log1p(-rate) if rate < 1 else math.inf
        news = left < used
        left -= used
        regret += np.linalg.norm(theta) - action @ theta
        potential += action @ np.linalg.solve(design, action)
        expected += rate * np.outer(action, action)
        if news:
            observed += np.outer(action, action)
            target += (action @ theta + noise) * action
            shown += 1
        if news or policy.imputes:
            design += np.outer(action, action)
    return regret, potential, observed, expected, shown


CHOICES = {
    LinUCB(0.7): most_optimistic,
    ImputeZeroLinUCB(0.7): most_optimistic,
    LinThompson(0.7): sampled,
    LinEpsilonGreedy(0.2, 0.7): greedy,
    LinRandom(): anywhere,
}


@pytest.mark.slow
@pytest.mark.parametrize("censorship", CENSORSHIPS)
@pytest.mark.parametrize("policy", CHOICES, ids=lambda policy: policy.kind)
def test_loop_follows_the_definitions(policy, censorship):
    """From the second observation on no two widest directions tie, and the paths agree."""
    cell = cell_of(censorship, 200, policy)
    track = cell.blank(2, cell.groups, 3)
    engine = cpu if policy == LinUCB(0.7) else reference
    engine.run(cell, track, report=lambda done: None, workers=1)
    tracks = {name: array[:, -1] for name, array in track.arrays().items()}

    def rate_of(action):
        if isinstance(censorship, Uniform):
            return censorship.observe
        return float(censorship.probabilities(action[None])[0])

    for replication in range(2):
        regret, potential, observed, expected, shown = textbook(
            cell, replication, rate_of, CHOICES[policy]
        )
        assert tracks["observations"][replication].sum() == shown
        np.testing.assert_allclose(tracks["regret"][replication], regret, rtol=1e-6)
        np.testing.assert_allclose(tracks["potential"][replication, 0], potential, rtol=1e-6)
        for design, matrix in enumerate((observed, expected)):
            np.testing.assert_allclose(
                tracks["eigenvalues"][replication, design], np.linalg.eigvalsh(matrix), rtol=1e-6
            )
            spread = np.linalg.slogdet(matrix / policy.regularization)[1]
            np.testing.assert_allclose(tracks["spread"][replication, design], spread, rtol=1e-6)
        assert (tracks["optimism_failed"][replication] == -1) == (policy.radius is None)


def test_pure_exploration_takes_the_coordinates_in_turn():
    """W stays diagonal, every coordinate is played T/d times, and V_1 is d harmonic sums."""
    cell = cell_of(Uniform(1.0), 300, DesignExploration(0.7))
    track = cell.blank(1, 1, 3)
    reference.run(cell, track, report=lambda done: None, workers=1)
    np.testing.assert_allclose(track.eigenvalues[0, -1], 100.7, rtol=1e-12)
    harmonic = 3 * sum(1 / (0.7 + n) for n in range(100))
    np.testing.assert_allclose(track.potential[0, -1, 0], harmonic, rtol=1e-12)


@pytest.mark.slow
def test_thompson_learns_the_ball_and_chance_does_not():
    policies = {"thompson": LinThompson(), "chance": LinRandom(), "greedy": LinEpsilonGreedy()}
    study = Study(
        LinearBandit(THETA, 0.3),
        Uniform(0.5),
        policies,
        horizon=4000,
        replications=8,
        baseline=False,
    )
    regret = simulate(study).tracks["regret"][0, 0, :, :, -1].mean(axis=1)
    per_round = np.linalg.norm(THETA)  # a random direction has mean reward 0
    assert regret[1] == pytest.approx(4000 * per_round, rel=0.03)
    assert regret[0] < 0.05 * regret[1]
    assert 0.095 * regret[1] < regret[2] < 0.13 * regret[1]  # one round in ten explores


@pytest.mark.slow
@pytest.mark.parametrize("censorship", CENSORSHIPS)
def test_compiled_equals_plain(censorship):
    study = Study(
        LinearBandit(THETA, 0.3),
        censorship,
        LinUCB(),
        horizon=120,
        replications=2,
        alphas=[1.0, 0.5],
        baseline=False,
    )
    plain, fast = simulate(study, engine="reference"), simulate(study)
    for name, array in plain.tracks.items():
        assert np.array_equal(array, fast.tracks[name]), name


@pytest.mark.slow
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
        horizon=horizon,
        replications=16,
        baseline=False,
    )
    result = simulate(study)
    rounds = result.study.rounds_recorded
    potential = result.tracks["potential"][0, 0, 0, :, :, 0].mean(axis=0)
    late = rounds >= horizon / 10
    slope = np.polyfit(np.log(rounds[late]), potential[late], 1)[0]
    assert slope == pytest.approx(4 / (2 * 0.25), rel=tolerance)


class Stranger(LinRandom):
    on_ball = None


def test_policy_without_a_rule_for_the_ball_is_refused():
    with pytest.raises(InvalidInput, match=r"must have an `on_ball` kernel.*use LinUCB"):
        Study(LinearBandit(THETA), Uniform(0.5), Stranger(), horizon=10)
