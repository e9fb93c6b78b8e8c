"""The loop against definitions, exact enumeration and coin flips."""

import itertools
import math

import numpy as np
import pytest

from halfseen import (
    UCB,
    ArmedBandit,
    FixedArms,
    PerArm,
    RandomArms,
    SequenceOfArms,
    Study,
    simulate,
)
from halfseen.draws import AVAILABILITY, ENVIRONMENT
from halfseen.engine.cells.arms import Cell
from halfseen.engine.loops.feedback import PATIENCE, feedback, write_playable
from halfseen.engine.player import player
from halfseen.engine.specialise import fitted
from halfseen.policies.arms.ucb import EXPLORATION

ALPHAS = np.array([0.5, 1.0, 2.0, 0.3])
OBSERVE = np.array([0.9, 0.3, 0.5])


def textbook(world, replication):
    """Play UCB round by round from the definitions; return the six tracks at the horizon."""
    facts, law, table, key = world.arm_constants, world.law, world.policy_constants, world.key
    alphas, lam = world.alphas, world.regularization
    arms = len(facts)
    means = facts[:, 0]
    environment, availability = (*key, replication, ENVIRONMENT), (*key, replication, AVAILABILITY)
    seen, pulls, total = np.zeros(arms), np.zeros(arms), np.zeros(arms)
    upcoming = [list(feedback(facts, a, 0, law, environment)) for a in range(arms)]
    potential, regret = np.zeros(len(alphas)), 0.0
    optimism = censoring = 0
    row = np.zeros(arms, np.uint8)
    for clock in range(1, int(world.stops[-1]) + 1):
        write_playable(world, clock, availability, row)
        playable = np.flatnonzero(row)
        width = np.sqrt(table[:, 0] / (seen + lam)) + table[:, 2] / (seen + lam)
        estimate = total / (seen + lam)
        arm = playable[np.argmax((estimate + width)[playable])]
        potential += (seen[arm] + lam) ** -alphas
        regret += means[playable].max() - means[arm]
        pulls[arm] += 1
        upcoming[arm][1] -= 1
        if upcoming[arm][1] == 0:
            total[arm] += upcoming[arm][0]
            seen[arm] += 1
            upcoming[arm] = list(feedback(facts, arm, int(seen[arm]), law, environment))
        late = (pulls >= facts[:, PATIENCE]) & (seen < facts[:, 2] * pulls)
        censoring |= int(late.any())
        width = np.sqrt(table[:, 0] / (seen + lam)) + table[:, 2] / (seen + lam)
        optimism |= int((np.abs(total / (seen + lam) - means) > width).any())
    return regret, pulls, seen, potential, optimism, censoring


@pytest.mark.parametrize(
    "actions", [None, FixedArms([0, 2]), RandomArms([0.4, 0.9, 0.2]), SequenceOfArms([[0, 1], [2]])]
)
@pytest.mark.parametrize("observe", [(1.0, 1.0, 1.0), tuple(OBSERVE)])
def test_tracks_follow_their_definitions(actions, observe):
    """Thresholds are lowered so that both bad events happen in some replications."""
    extra = {} if actions is None else {"actions": actions}
    problem = ArmedBandit([0.5, 0.8, 0.1], noise=[0.3, 1.0, 0.5], **extra)
    cell = Cell(problem, PerArm(observe), UCB(0.7), 150, 3, np.array([7, 150]), ALPHAS)
    world = cell.world()
    world.arm_constants[:, PATIENCE] = 4.0
    world.policy_constants[:, EXPLORATION] *= 0.12
    track = cell.blank(12, 3, 0)
    player(cell, fitted, world=world)(0, 12, track)
    events = set()
    for replication in range(12):
        expected = textbook(world, replication)
        found = [array[replication, -1] for array in track.arrays().values()]
        for value, right in zip(found, expected, strict=True):
            np.testing.assert_allclose(value, right, rtol=1e-11, atol=1e-11)
        events |= {("optimism", expected[4]), ("censoring", expected[5])}
    assert {("optimism", 0), ("optimism", 1)} <= events
    if observe != (1.0, 1.0, 1.0):
        assert {("censoring", 0), ("censoring", 1)} <= events


def enumerate_ucb(means, observe, horizon, lam=1.0):
    """Return the exact expected regret, potential and observations of UCB on Bernoulli arms."""
    bound, explore = max(means), 6 * 0.25 * math.log(horizon)
    totals = {"regret": 0.0, "potential": 0.0, "seen": 0.0}

    def walk(clock, probability, seen, total):
        if clock == horizon:
            totals["seen"] += probability * sum(seen)
            return
        index = [
            s / (n + lam) + math.sqrt(explore / (n + lam)) + lam * bound / (n + lam)
            for n, s in zip(seen, total, strict=True)
        ]
        arm = index.index(max(index))
        totals["regret"] += probability * (max(means) - means[arm])
        totals["potential"] += probability / (seen[arm] + lam)
        p, m = observe[arm], means[arm]
        for chance, gained in ((1 - p, None), (p * m, 1), (p * (1 - m), 0)):
            if chance == 0.0:
                continue
            n, s = list(seen), list(total)
            if gained is not None:
                n[arm] += 1
                s[arm] += gained
            walk(clock + 1, probability * chance, n, s)

    walk(0, 1.0, [0] * len(means), [0] * len(means))
    return totals


@pytest.mark.parametrize("observe", [(1.0, 1.0), (0.3, 0.8), (0.9, 0.15)])
def test_means_agree_with_exact_enumeration(observe):
    means, horizon, replications = (0.7, 0.4), 9, 200_000
    exact = enumerate_ucb(means, observe, horizon)
    problem = ArmedBandit(means, reward="bernoulli")
    study = Study(
        problem,
        PerArm(observe),
        UCB(),
        horizon=horizon,
        replications=replications,
        seed=2,
        baseline=False,
        checkpoints=1,
        alphas=[1.0],
    )
    tracks = simulate(study).tracks
    found = {
        "regret": tracks["regret"][0, 0, 0, :, -1],
        "potential": tracks["potential"][0, 0, 0, :, -1, 0],
        "seen": tracks["observations"][0, 0, 0, :, -1].sum(axis=-1),
    }
    for name, sample in found.items():
        tolerance = 4 * sample.std() / math.sqrt(replications) + 1e-12
        assert abs(sample.mean() - exact[name]) < tolerance, name


def test_jumping_has_the_law_of_flipping_a_coin_every_round():
    """Two-sample Kolmogorov-Smirnov against a plain simulation with numpy's own generator."""
    means, noise, horizon, runs = np.array([0.6, 0.4, 0.5]), 0.5, 1000, 3000
    generator = np.random.default_rng(7)
    seen, total, regret = (np.zeros((runs, 3)) for _ in range(3))
    lost, rows = np.zeros(runs), np.arange(runs)
    explore = 6 * noise**2 * math.log(horizon)
    for _ in range(horizon):
        weight = 1 / (seen + 1.0)
        arm = np.argmax(total * weight + np.sqrt(explore * weight) + 0.6 * weight, axis=1)
        lost += means.max() - means[arm]
        observed = generator.random(runs) < OBSERVE[arm]
        reward = means[arm] + noise * generator.standard_normal(runs)
        seen[rows, arm] += observed
        total[rows, arm] += np.where(observed, reward, 0.0)
    study = Study(
        ArmedBandit(means, noise=noise),
        PerArm(OBSERVE),
        UCB(),
        horizon=horizon,
        replications=runs,
        baseline=False,
    )
    regret = simulate(study).tracks["regret"][0, 0, 0, :, -1]
    both = np.sort(np.concatenate([lost, regret]))
    gap = np.abs(
        np.searchsorted(np.sort(lost), both, side="right")
        - np.searchsorted(np.sort(regret), both, side="right")
    ).max()
    assert gap / runs < 1.95 * math.sqrt(2 / runs)


def test_identity_of_the_potential():
    """E V = E sum_a G(N_a)/p_a for every policy, within four standard errors."""
    study = Study(
        ArmedBandit([0.5, 0.4, 0.3]),
        PerArm(OBSERVE),
        UCB(),
        horizon=2000,
        replications=4000,
        alphas=[1.0],
        baseline=False,
    )
    tracks = simulate(study).tracks
    seen = tracks["observations"][0, 0, 0, :, -1]
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, 2001))])
    difference = tracks["potential"][0, 0, 0, :, -1, 0] - (harmonic[seen] / OBSERVE).sum(axis=1)
    assert abs(difference.mean()) < 4 * difference.std() / math.sqrt(len(difference))


def test_random_availability_has_its_law():
    """All seven non-empty subsets appear as independent coins given that one shows heads."""
    chances = np.array([0.4, 0.9, 0.05])
    cell = Cell(
        ArmedBandit([0.1, 0.2, 0.3], actions=RandomArms(chances)),
        PerArm(OBSERVE),
        UCB(),
        10,
        0,
        np.array([10]),
        ALPHAS,
    )
    world = cell.world()
    row, counts, rounds = np.zeros(3, np.uint8), {}, 20_000
    for clock in range(1, rounds + 1):
        write_playable(world, clock, (*world.key, 0, AVAILABILITY), row)
        counts[tuple(row.tolist())] = counts.get(tuple(row.tolist()), 0) + 1
    some = 1 - np.prod(1 - chances)
    for subset in itertools.product((0, 1), repeat=3):
        p = np.prod(np.where(subset, chances, 1 - chances)) / some if any(subset) else 0.0
        assert abs(counts.get(subset, 0) - rounds * p) <= 4 * math.sqrt(rounds * p * (1 - p))


def test_common_random_numbers_across_policies_and_censorships():
    """The n-th observed reward of an arm is the same whatever is missing."""
    problem = ArmedBandit([0.5, 0.4])
    worlds = [
        Cell(problem, PerArm(p), policy, 100, 4, np.array([100]), ALPHAS).world()
        for p, policy in (((1.0, 1.0), UCB()), ((0.1, 0.5), UCB(3.0)))
    ]
    rewards = [
        [
            feedback(world.arm_constants, arm, n, 0, (*world.key, 6, ENVIRONMENT))[0]
            for arm in (0, 1)
            for n in range(9)
        ]
        for world in worlds
    ]
    assert rewards[0] == rewards[1]


@pytest.mark.parametrize("engine", ["reference", "cpu"])
@pytest.mark.parametrize("scale", [1.0, 1e100, 1e-100])
def test_without_noise_the_confidence_interval_never_fails(engine, scale):
    """The mean then lies exactly on the edge of the interval, up to rounding."""
    means = scale * np.array([0.6, 0.5, 0.1, -0.3])
    problem = ArmedBandit(means, noise=0.0)
    run = Study(
        problem,
        PerArm([1.0, 0.5, 0.7, 0.9]),
        UCB(0.7),
        horizon=3_000,
        replications=2,
        baseline=False,
    )
    assert simulate(run, engine=engine).tracks["optimism_failed"].max() == 0


def test_an_interval_that_misses_the_mean_by_more_than_rounding_fails():
    problem = ArmedBandit([0.6, 0.5], noise=0.0)
    run = Study(
        problem,
        PerArm([1.0, 1.0]),
        UCB(0.7, bound=0.59),
        horizon=500,
        replications=1,
        baseline=False,
    )
    assert simulate(run, engine="reference").tracks["optimism_failed"].max() == 1
