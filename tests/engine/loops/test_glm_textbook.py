"""The loops of generalized linear bandits against a textbook that solves everything afresh."""

import math

import numpy as np
import pytest
from scipy import optimize

from halfseen import (
    GLMUCB,
    FiniteActions,
    GeneralizedLinearBandit,
    ImputeZeroGLMUCB,
    LinearBandit,
    LinUCB,
    Logistic,
    MultiThreshold,
    PerAction,
    RandomActions,
    RidgeGLMUCB,
    Uniform,
)
from halfseen.draws import AVAILABILITY, ENVIRONMENT, unit, words
from halfseen.engine.cells.glm import GLMCell
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.loops.feedback import waiting
from halfseen.engine.player import player
from halfseen.engine.specialise import fitted
from halfseen.policies.glm.base import GROWTH

RNG = np.random.default_rng(5)
ROWS = RNG.normal(size=(6, 2))
ROWS *= (0.6 + 0.4 * RNG.random((6, 1))) / np.linalg.norm(ROWS, axis=1, keepdims=True)
THETA = (0.9, -0.7)
OBSERVE = PerAction([0.9, 0.3, 0.5, 1.0, 0.2, 0.6])


def first_largest(values):
    """Return the place of the largest value, the first of those that rounding may tell apart."""
    return int(np.flatnonzero(values >= values.max() - 1e-12 * abs(values.max()))[0])


def estimate(cell, actions, rewards, penalty):
    """Solve the score equation, continued by tangents beyond the limit, by a hybrid method."""
    kernels, limit = cell.problem.curve.kernels, cell.policy.limit(cell.setting)

    def equation(theta):
        total = -penalty * theta
        for x, y in zip(actions, rewards, strict=True):
            z = float(x @ theta)
            edge = min(max(z, -limit), limit)
            bend = kernels.curvature(1.0, y, edge)
            total = total + (kernels.score(1.0, y, edge) - bend * (z - edge)) * x
        return total

    found = optimize.root(equation, np.zeros(len(actions[0])), tol=1e-13)
    assert np.abs(equation(found.x)).max() < 1e-9
    return found.x


class Fixed:
    def __init__(self, cell, key, replication):
        self.cell, self.stream = cell, (*key, replication, ENVIRONMENT)
        self.rates = cell.observe()
        self.rows = cell.problem.actions.actions
        self.seen = [0] * len(self.rows)
        self.wait = [self.next(k) for k in range(len(self.rows))]

    def next(self, k):
        p = self.rates[k]
        scale = -1 / math.log1p(-p) if p < 1 else 0.0
        _, _, high, low = words(self.stream, self.seen[k], k)
        return waiting(scale, high, low, self.stream, self.seen[k], k)

    def offer(self, clock):
        return self.rows

    def answer(self, k, x, clock):
        self.wait[k] -= 1
        if self.wait[k] > 0:
            return None
        problem = self.cell.problem
        draw, mean = problem.curve.kernels.reward, problem.means(x[None])[0]
        reward = draw(mean, problem.noise, self.stream, self.seen[k], k)
        self.seen[k] += 1
        self.wait[k] = self.next(k)
        return reward


class Changing:
    def __init__(self, cell, key, replication):
        self.cell, self.stream = cell, (*key, replication, ENVIRONMENT)
        self.doors = (*key, replication, AVAILABILITY)

    def offer(self, clock):
        return self.cell.problem.actions.sample(self.doors, clock)

    def answer(self, k, x, clock):
        censorship, problem = self.cell.censorship, self.cell.problem
        _, _, high, low = words(self.stream, clock, 0)
        if unit(high, low) >= censorship.probabilities(x[None])[0]:
            return None
        mean = problem.means(x[None])[0]
        return problem.curve.kernels.reward(mean, problem.noise, self.stream, clock, 0)


def textbook(cell, key, replication):
    """Return regret, potential and optimism after the last round."""
    policy, setting, theta = cell.policy, cell.setting, np.array(cell.problem.theta)
    d, explores = len(theta), policy.explores
    world = (Fixed if cell.same_actions else Changing)(cell, key, replication)
    delta, lam = 1 / cell.horizon, policy.regularization
    ratio = policy.scale(setting) / policy.curvature(setting)
    penalty = 0.0 if explores else policy.curvature(setting) * lam
    actions, rewards = [], []
    regret = potential = 0.0
    optimism, exploring, base = 0, explores, lam
    guess, beta, used, fitted_at = np.zeros(d), 0.0, np.eye(d) / lam, 0.0
    if not explores:
        beta = ratio * math.sqrt(2 * math.log(1 / delta)) + math.sqrt(lam) * setting.bound
    for clock in range(1, cell.horizon + 1):
        offer = world.offer(clock)
        design = base * np.eye(d) + sum((np.outer(x, x) for x in actions), np.zeros((d, d)))
        inverse = np.linalg.inv(design)
        widths = np.einsum("ki,ij,kj->k", offer, inverse, offer)
        if exploring:
            k = first_largest(widths)
        else:
            older = np.einsum("ki,ij,kj->k", offer, used, offer)
            k = first_largest(offer @ guess + beta * np.sqrt(older))
        x = offer[k]
        potential += widths[k]
        regret += cell.problem.means(offer).max() - cell.problem.means(x[None])[0]
        reward = world.answer(k, x, clock)
        if reward is None and not policy.imputes:
            continue
        actions.append(x)
        rewards.append(reward or 0.0)
        pure = np.array(actions).T @ np.array(actions)
        left = exploring and np.linalg.eigvalsh(pure)[0] >= 1
        if left:
            exploring, base = False, 0.0
        design = pure + base * np.eye(d)
        spread = np.linalg.slogdet(design)[1] - d * math.log(lam)
        grown = len(actions) == 1 or left or spread > fitted_at + math.log1p(GROWTH)
        if exploring or not (grown or cell.same_actions):
            continue
        guess = estimate(cell, actions, rewards, penalty)
        used, fitted_at = np.linalg.inv(design), spread
        if explores:
            inside = d / 2 * math.log(1 + 2 * len(actions) / d) + math.log(1 / delta)
            beta = math.sqrt(3) * ratio * math.sqrt(inside)
        else:
            beta = ratio * math.sqrt(spread + 2 * math.log(1 / delta))
            beta += math.sqrt(lam) * setting.bound
        off = guess - theta
        optimism |= int(off @ design @ off > beta**2)
    return regret, potential, optimism


def played(cell, replications):
    track = cell.blank(replications, cell.groups, cell.problem.dimension)
    player(cell, fitted)(0, replications, track)
    return track


@pytest.mark.slow
@pytest.mark.parametrize("policy", [GLMUCB(), RidgeGLMUCB(2.0), ImputeZeroGLMUCB(noise=0.1)])
@pytest.mark.parametrize("link", ["logistic", "probit", "poisson"])
def test_the_same_actions_in_every_round(policy, link):
    problem = GeneralizedLinearBandit(THETA, link=link, actions=FiniteActions(ROWS))
    cell = GLMCell(problem, OBSERVE, policy, 60, 3, np.array([60]), np.array([1.0]))
    check(cell, 2)


@pytest.mark.parametrize("policy", [GLMUCB(), RidgeGLMUCB(0.5)])
@pytest.mark.parametrize(
    "censorship", [MultiThreshold([0.3], [0.9, 0.3], [1, 1]), Logistic([1, 0], slope=-2.0)]
)
def test_other_actions_in_every_round(policy, censorship):
    problem = GeneralizedLinearBandit(THETA, link="logistic", actions=RandomActions(4, 2))
    cell = GLMCell(problem, censorship, policy, 80, 3, np.array([80]), np.array([1.0]))
    check(cell, 2)


def check(cell, replications):
    track = played(cell, replications)
    key = cell.key
    for replication in range(replications):
        regret, potential, optimism = textbook(cell, key, replication)
        assert track.regret[replication, -1] == pytest.approx(regret, rel=1e-9)
        assert track.potential[replication, -1, 0] == pytest.approx(potential, rel=1e-7)
        assert track.optimism_failed[replication, -1] == optimism


def test_identity_with_normal_noise_is_linucb():
    looks = (200, 7, np.array([10, 200]), np.array([1.0, 0.5]))
    curved = GeneralizedLinearBandit(THETA, link="identity", actions=FiniteActions(ROWS), noise=0.4)
    straight = LinearBandit(THETA, 0.4, FiniteActions(ROWS))
    cells = (
        GLMCell(curved, OBSERVE, RidgeGLMUCB(1.5), *looks),
        LinearCell(straight, OBSERVE, LinUCB(1.5), *looks),
    )
    tracks = []
    for cell in cells:
        track = cell.blank(2, cell.groups, 2)
        player(cell, fitted, world=cell.world()._replace(key=cells[1].key))(0, 2, track)
        tracks.append(track.arrays())
    for name, array in tracks[0].items():
        np.testing.assert_allclose(array, tracks[1][name], rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("policy", [GLMUCB(), RidgeGLMUCB()])
def test_actions_in_a_plane_are_as_good_as_two_coordinates(policy):
    turn = np.linalg.qr(RNG.normal(size=(3, 3)))[0][:, :2]
    looks = (300, 2, np.array([300]), np.array([1.0]))
    flat = GeneralizedLinearBandit(THETA, link="logistic", actions=FiniteActions(ROWS))
    lifted = GeneralizedLinearBandit(
        turn @ THETA, link="logistic", actions=FiniteActions(ROWS @ turn.T)
    )
    cells = [GLMCell(problem, Uniform(0.5), policy, *looks) for problem in (flat, lifted)]
    tracks = []
    for cell in cells:
        world = cell.world()._replace(key=(1, 2))
        if isinstance(policy, GLMUCB):  # its width knows the dimension
            world = world._replace(policy_constants=np.array([0.0, 1.0, 0.0]))
        track = cell.blank(1, cell.groups, cell.problem.dimension)
        player(cell, fitted, world=world)(0, 1, track)
        tracks.append(track)
    assert np.array_equal(tracks[0].pulls, tracks[1].pulls)
    assert tracks[0].potential[0, -1, 0] == pytest.approx(tracks[1].potential[0, -1, 0])
    assert tracks[0].regret[0, -1] == pytest.approx(tracks[1].regret[0, -1])
