"""The linear loops against a textbook LinUCB that inverts its matrix afresh in every round."""

import itertools
import math

import numpy as np
import pytest

from halfseen import (
    FiniteActions,
    ImputeZeroLinUCB,
    LinearBandit,
    LinUCB,
    Logistic,
    MultiThreshold,
    PerAction,
    RandomActions,
    SequenceOfActions,
    Uniform,
)
from halfseen.draws import AVAILABILITY, ENVIRONMENT, normal_from, unit, words
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.loops.feedback import GAUSSIAN, feedback
from halfseen.engine.player import player
from halfseen.engine.specialise import fitted

THETA = np.array([0.5, -0.3, 0.2, 0.4])
RNG = np.random.default_rng(11)
SEVERAL = RNG.normal(size=(8, 4))
SEVERAL *= (0.5 + 0.5 * RNG.random((8, 1))) / np.linalg.norm(SEVERAL, axis=1, keepdims=True)
ROUNDS = RNG.normal(size=(700, 5, 4))  # a sequence starts again when it ends
ROUNDS *= RNG.random((700, 5, 1)) / np.linalg.norm(ROUNDS, axis=2, keepdims=True)
ACTIONS = {
    "finite": FiniteActions(SEVERAL),
    "sphere": RandomActions(6, 4),
    "gaussian": RandomActions(6, 4, "gaussian"),
    "sequence": SequenceOfActions(ROUNDS),
}
CENSORSHIPS = {
    "all seen": Uniform(1.0),
    "uniform": Uniform(0.3),
    "thresholds": MultiThreshold([-0.4, 0.3], observe=[0.9, 0.5, 0.1], direction=[1, 2, 0, -1]),
    "logistic": Logistic([1, 0, 1, 0], slope=-3.0, offset=0.5),
}
ALPHAS = np.array([1.0, 0.5, 2.0])


class FixedWorld:
    """The same actions in every round; each knows its next reward and the pulls until it."""

    def __init__(self, cell, key, replication):
        actions = cell.problem.actions.actions
        self.rates = (
            np.full(len(actions), cell.censorship.observe)
            if isinstance(cell.censorship, Uniform)
            else cell.censorship.probabilities(actions)
        )
        partly = self.rates < 1
        self.facts = np.zeros((len(actions), 5))
        self.facts[:, 0] = actions @ np.array(cell.problem.theta)
        self.facts[:, 1] = cell.problem.noise
        self.facts[partly, 3] = -1 / np.log1p(-self.rates[partly])
        self.stream = (*key, replication, ENVIRONMENT)
        self.actions = actions
        self.seen = [0] * len(actions)
        self.next = [feedback(self.facts, k, 0, GAUSSIAN, self.stream) for k in range(len(actions))]

    def offer(self, clock):
        return self.actions

    def answer(self, k, x, clock):
        reward, wait = self.next[k]
        if wait > 1:
            self.next[k] = (reward, wait - 1)
            return None
        self.seen[k] += 1
        self.next[k] = feedback(self.facts, k, self.seen[k], GAUSSIAN, self.stream)
        return reward

    def rate(self, k, x):
        return self.rates[k]

    def group(self, k, x):
        return k


class ChangingWorld:
    """Other actions in every round, and a coin for each."""

    def __init__(self, cell, key, replication):
        self.cell = cell
        self.stream = (*key, replication, ENVIRONMENT)
        self.doors = (*key, replication, AVAILABILITY)

    def offer(self, clock):
        actions = self.cell.problem.actions
        if isinstance(actions, SequenceOfActions):
            return actions.at(clock)
        return actions.sample(self.doors, clock)

    def answer(self, k, x, clock):
        high, low, coin_high, coin_low = words(self.stream, clock, 0)
        if unit(coin_high, coin_low) >= self.rate(k, x):
            return None
        noise = normal_from(high, low, self.stream, clock, 0)
        return x @ np.array(self.cell.problem.theta) + self.cell.problem.noise * noise

    def rate(self, k, x):
        censorship = self.cell.censorship
        uniform = isinstance(censorship, Uniform)
        return censorship.observe if uniform else censorship.probabilities(x[None])[0]

    def group(self, k, x):
        many = isinstance(self.cell.censorship, MultiThreshold)
        return self.cell.censorship.region(x[None])[0] if many else 0


def first_largest(values):
    """Return the place of the largest value, the first of those that rounding may tell apart."""
    return int(np.flatnonzero(values >= values.max() - 1e-12 * abs(values.max()))[0])


def squares(inverse, rows):
    """Return a' M a of each row, added up in the order of plain loops, so that ties stay ties."""
    total = np.zeros(len(rows))
    for i in range(len(inverse)):
        line = np.zeros(len(rows))
        for j in range(len(inverse)):
            line += inverse[i, j] * rows[:, j]
        total += line * rows[:, i]
    return total


def textbook(cell, key, replication, factor):
    """Return what the loop should have recorded, checkpoint by checkpoint."""
    policy, theta, d = cell.policy, np.array(cell.problem.theta), cell.problem.dimension
    kind = FixedWorld if isinstance(cell.problem.actions, FiniteActions) else ChangingWorld
    world = kind(cell, key, replication)
    lam = policy.regularization
    sigma = cell.problem.noise if policy.noise is None else policy.noise
    delta = 1 / cell.horizon if policy.delta is None else policy.delta
    learned, observed, expected = (lam * np.eye(d) for _ in range(3))
    b = np.zeros(d)
    regret, potential, optimism, censoring = 0.0, np.zeros(len(cell.alphas)), 0, 0
    pulls, seen = np.zeros(cell.groups), np.zeros(cell.groups)
    rows = []
    for clock in range(1, cell.horizon + 1):
        offer = world.offer(clock)
        inverse = np.linalg.inv(learned)
        spread = np.linalg.slogdet(learned)[1] - d * math.log(lam)
        beta = sigma * math.sqrt(spread + 2 * math.log(1 / delta))
        beta += math.sqrt(lam) * np.linalg.norm(theta)
        k = first_largest(offer @ (inverse @ b) + beta * np.sqrt(squares(inverse, offer)))
        x = offer[k]
        values, vectors = np.linalg.eigh(learned)
        potential += [((vectors.T @ x) ** 2) @ values**-alpha for alpha in cell.alphas]
        regret += (offer @ theta).max() - x @ theta
        rate, group = world.rate(k, x), world.group(k, x)
        expected += rate * np.outer(x, x)
        pulls[group] += 1
        reward = world.answer(k, x, clock)
        if reward is not None:
            observed += np.outer(x, x)
            seen[group] += 1
        if reward is not None or policy.imputes:
            learned += np.outer(x, x)
            b += (0.0 if reward is None else reward) * x
            spread = np.linalg.slogdet(learned)[1] - d * math.log(lam)
            beta = sigma * math.sqrt(spread + 2 * math.log(1 / delta))
            beta += math.sqrt(lam) * np.linalg.norm(theta)
            error = np.linalg.solve(learned, b) - theta
            optimism |= int(error @ learned @ error > beta**2)
        censoring |= int(np.linalg.eigvalsh(observed - expected / factor)[0] < 0)
        if clock in cell.checkpoints:
            designs = (observed, expected)
            logs = [np.linalg.slogdet(design)[1] - d * math.log(lam) for design in designs]
            eigenvalues = [np.linalg.eigvalsh(design) for design in designs]
            now = [regret, pulls, seen, potential, optimism, censoring, logs, eigenvalues]
            rows.append([np.array(value, dtype=float) for value in now])
    return rows


def compare(cell, replications, factor=None):
    """Check every track of every replication and return which events happened."""
    world = cell.world()
    assert world.censoring_factor == cell.censoring_factor
    if factor is not None:
        world = world._replace(censoring_factor=factor)
    track = cell.blank(replications, cell.groups, cell.problem.dimension)
    player(cell, fitted, world=world)(0, replications, track)
    events = set()
    for replication in range(replications):
        rows = textbook(cell, world.key, replication, world.censoring_factor)
        for checkpoint, right in enumerate(rows):
            for (name, found), value in zip(track.arrays().items(), right, strict=True):
                np.testing.assert_allclose(
                    found[replication, checkpoint], value, rtol=1e-8, atol=1e-8, err_msg=name
                )
        events |= {("optimism", int(rows[-1][4])), ("censoring", int(rows[-1][5]))}
    return events


@pytest.mark.slow
@pytest.mark.parametrize(
    ("actions", "censorship"),
    [
        pytest.param(*names, marks=[] if place % 5 == 0 else [pytest.mark.slow])  # the diagonal
        for place, names in enumerate(itertools.product(ACTIONS, CENSORSHIPS))
    ],
)
def test_two_thousand_rounds_of_linucb(actions, censorship):
    problem = LinearBandit(THETA, 0.5, ACTIONS[actions])
    checkpoints = np.array([1, 17, 300, 2000])
    cell = LinearCell(
        problem, CENSORSHIPS[censorship], LinUCB(), 2000, 4, checkpoints, np.array([1.0])
    )
    compare(cell, 1)


@pytest.mark.parametrize(
    ("actions", "policy"),
    [
        ("finite", ImputeZeroLinUCB),
        ("sphere", LinUCB),
        pytest.param("finite", LinUCB, marks=pytest.mark.slow),
        pytest.param("sphere", ImputeZeroLinUCB, marks=pytest.mark.slow),
    ],
)
def test_tracks_follow_their_definitions(actions, policy):
    """Noise is understated and the factor lowered so that both bad events happen in some runs."""
    problem = LinearBandit(THETA, 1.0, ACTIONS[actions])
    censorship = CENSORSHIPS["thresholds"]
    wrong = policy(0.7, delta=0.8, noise=0.6 if policy is ImputeZeroLinUCB else 0.8)
    cell = LinearCell(problem, censorship, wrong, 120, 3, np.array([1, 7, 120]), ALPHAS)
    events = compare(cell, 15, factor=1.5)
    assert {("optimism", 0), ("optimism", 1), ("censoring", 0), ("censoring", 1)} <= events


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.05, 1.2, 2.0, 4.0])
@pytest.mark.parametrize("actions", ["finite", "sphere", "sequence"])
def test_too_little_feedback_is_noticed_in_the_round_it_happens(actions, factor):
    problem = LinearBandit(THETA, 0.2, ACTIONS[actions])
    cell = LinearCell(problem, Uniform(0.5), LinUCB(0.1), 40, 6, np.arange(1, 41), np.array([1.0]))
    compare(cell, 12, factor=factor)


def test_a_probability_for_each_action():
    observe = PerAction([1.0, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05])
    problem = LinearBandit(THETA, 1.0, ACTIONS["finite"])
    cell = LinearCell(problem, observe, LinUCB(2.0), 1000, 9, np.array([30, 1000]), ALPHAS)
    compare(cell, 2)


def test_one_coordinate_and_one_action():
    problem = LinearBandit([0.7], 0.3, FiniteActions([[0.9]]))
    cell = LinearCell(problem, Uniform(0.4), LinUCB(), 100, 1, np.array([1, 100]), ALPHAS)
    compare(cell, 3)
    problem = LinearBandit([0.7], 0.3, SequenceOfActions(np.full((100, 1, 1), -0.9)))
    cell = LinearCell(problem, Uniform(0.4), LinUCB(), 100, 1, np.array([1, 100]), ALPHAS)
    compare(cell, 3)
