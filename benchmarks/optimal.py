"""What optimal policies cost: IMED and KL-UCB against UCB, VIDS against plain numpy."""

import time
from functools import partial

import numpy as np

from halfseen import (
    IMED,
    KLUCB,
    UCB,
    VIDS,
    ArmedBandit,
    FiniteActions,
    LinearBandit,
    PerAction,
    Study,
    Uniform,
)
from halfseen.engine.player import blank_track, player
from halfseen.engine.specialise import compiled

MEANS = np.linspace(0.9, 0.1, 10)
HORIZON = 20_000
NOISE, DRAWS, REFRESH = 0.5, 60, 16


def ready(problem, censorship, policy, horizon, runs=1):
    """Return what plays some replications of a study, compiled."""
    options = {"horizon": horizon, "replications": runs, "checkpoints": 2, "alphas": ()}
    study = Study(problem, censorship, policy, baseline=False, **options)
    _, cell = next(study.cells())
    track, play = blank_track(cell, runs), player(cell, compiled)
    play(0, runs, track)
    return lambda: play(0, runs, track)


def quickest(*plays, repeats):
    """Return the least seconds of CPU of each, taken in turns: other programs do not count."""
    best = [np.inf] * len(plays)
    for _ in range(repeats):
        for k, play in enumerate(plays):
            started = time.process_time()
            play()
            best[k] = min(best[k], time.process_time() - started)
    return best


def against_ucb(repeats=300):
    """Return the cost a round of IMED and KL-UCB over that of UCB on ten arms."""
    rows = []
    for law, policy, target in (("gaussian", IMED(), 1.5), ("bernoulli", KLUCB(), 4.0)):
        problem = ArmedBandit(MEANS, reward=law, noise=NOISE if law == "gaussian" else None)
        plays = [ready(problem, Uniform(1.0), each, HORIZON) for each in (policy, UCB())]
        own, ucb = (1e9 * seconds / HORIZON for seconds in quickest(*plays, repeats=repeats))
        rows.append(
            {
                "benchmark": f"{type(policy).__name__}, 10 {law} arms, everything seen",
                "halfseen": f"{own:.3g} ns/round",
                "other": f"UCB: {ucb:.3g} ns/round",
                "ratio": own / ucb,
                "target": f"<= {target:g}x",
            }
        )
    return rows


def numpy_vids(rows, theta, observe, horizon, seed, choice):
    """Play VIDS with p learned in plain numpy, as the package does: the same work every round."""
    rng = np.random.default_rng(seed)
    count, d = rows.shape
    design, target = np.eye(d), np.zeros(d)
    plays, seen = np.zeros(count), np.zeros(count)
    stale = True
    for clock in range(horizon):
        if clock % REFRESH == 0:
            normals, stale = rng.normal(size=(DRAWS, d)), True
        if stale:
            inverse = np.linalg.inv(design)
            factor = np.linalg.cholesky(inverse)
            thetas = inverse @ target + NOISE * normals @ factor.T
            values = thetas @ rows.T
            best = values.argmax(axis=1)
            mean = values.mean(axis=0)
            gaps = values.max(axis=1).mean() - mean
            spreads = np.zeros(count)
            for b in np.unique(best):
                chosen = best == b
                spreads += chosen.mean() * (values[chosen].mean(axis=0) - mean) ** 2
            stale = False
        gains = (seen + 1) / (plays + 2) * spreads
        action = choice(gaps, gains, rng)
        plays[action] += 1
        if rng.random() < observe[action]:
            x = rows[action]
            design += np.outer(x, x)
            target += (x @ theta + NOISE * rng.normal()) * x
            seen[action] += 1
            stale = True


def numpy_choice(gaps, gains, rng):
    """Return a draw from the distribution with the least information ratio."""
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.where(gains > 0, gaps**2 / gains, np.where(gaps > 0, np.inf, 0.0))
        rise, growth = gaps - gaps[:, None], gains - gains[:, None]
        chance = gaps[:, None] / rise - 2 * gains[:, None] / growth
        inside = (rise > 0) & (growth > 0) & (chance > 0) & (chance < 1)
        pairs = 4 * rise * (gaps[:, None] * growth - rise * gains[:, None]) / growth**2
    pairs = np.where(inside, pairs, np.inf)
    first, second = np.unravel_index(pairs.argmin(), pairs.shape)
    if not gains.any() or alone.min() <= pairs[first, second]:
        return int((alone if gains.any() else gaps).argmin())
    return int(second if rng.random() < chance[first, second] else first)


def plain_choice(gaps, gains, rng):
    """Return the same draw, singles and pairs compared one after the other."""
    if not gains.any():
        return int(gaps.argmin())
    least, first, second, chance = np.inf, 0, 0, 0.0
    for a in range(len(gaps)):
        if gains[a] > 0 and gaps[a] ** 2 / gains[a] < least:
            least, first, second, chance = gaps[a] ** 2 / gains[a], a, a, 0.0
        for b in range(len(gaps)):
            rise, growth = gaps[b] - gaps[a], gains[b] - gains[a]
            if rise > 0 and growth > 0:
                q = gaps[a] / rise - 2 * gains[a] / growth
                ratio = 4 * rise * (gaps[a] * growth - rise * gains[a]) / growth**2
                if 0 < q < 1 and ratio < least:
                    least, first, second, chance = ratio, a, b, q
    return int(second if rng.random() < chance else first)


def in_turns(play, others, turns):
    """Return the median CPU time of `play` and of each of the others, one run a turn."""
    own, theirs = [], np.zeros((turns, len(others)))
    for turn in range(turns):
        for k, other in enumerate(others):
            started = time.process_time()
            other(turn)
            theirs[turn, k] = time.process_time() - started
            for _ in range(10):
                started = time.process_time()
                play()
                own.append(time.process_time() - started)
    return [float(np.median(own)), *np.median(theirs, axis=0)]


def against_numpy(turns=10):
    """Return rounds a second of VIDS, p learned, over those of plain numpy.

    Both play ten runs of their own draws, so that both observe about as often. They take turns
    within seconds, so that other programs slow both of them alike.
    """
    place = np.outer(np.arange(1, 13), np.arange(1, 6))
    rows = np.cos(place)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    theta, horizon = np.array([0.5, -0.3, 0.2, 0.4, -0.1]), 2000
    problem = LinearBandit(theta, NOISE, FiniteActions(rows))
    some = 0.05 + 0.3 * (np.arange(12) % 4)
    worlds = {"everything seen": np.ones(12), "three in four seen": some}

    def in_numpy(observe, choice, seed):
        numpy_vids(rows, theta, observe, horizon, seed, choice)

    found = []
    for name, observe in worlds.items():
        play = ready(problem, PerAction(observe), VIDS(), horizon, turns)
        plays = [partial(in_numpy, observe, choice) for choice in (plain_choice, numpy_choice)]
        ours, *others = (1e6 * t / horizon for t in in_turns(play, plays, turns))
        ours /= turns
        ways = (("plain numpy", ">= 200x"), ("numpy, all pairs at once", ""))
        found += [
            {
                "benchmark": f"VIDS, p learned, 12 actions of 5 features, {name}",
                "halfseen": f"{ours:.3g} us/round",
                "other": f"{way}: {theirs:.3g} us/round",
                "ratio": theirs / ours,
                "target": target,
            }
            for (way, target), theirs in zip(ways, others, strict=True)
        ]
    return found


def costs():
    """Return every row."""
    return against_ucb() + against_numpy()
