"""The clock every driver shares: ten arms, best of three, one JSON line."""

import contextlib
import json
import random
import statistics
import sys
import time
from importlib.metadata import version

MEANS = [0.5 - 0.05 * k for k in range(10)]
ARMS = list(range(len(MEANS)))
REPEATS = 3
DECISIONS = 20_000


def noise(n, seed=1):
    """Return n standard normal draws as a list, by numpy where the peer brings it along."""
    try:
        import numpy as np
    except ImportError:
        gauss = random.Random(seed).gauss
        return [gauss(0.0, 1.0) for _ in range(n)]
    return np.random.default_rng(seed).standard_normal(n).tolist()


def loop(make):
    """Turn a live policy into a way to play: draw the noise, then choose and observe in turn.

    `make()` returns a fresh (choose, observe) pair.
    """

    def play(rounds):
        choose, observe = make()
        total = 0.0
        for z in noise(rounds):
            arm = choose()
            reward = MEANS[arm] + z
            observe(arm, reward)
            total += reward
        return total / rounds

    return play


def best_of(play, rounds):
    """Warm up, play three times, return the fewest seconds and the mean reward."""
    play(max(1000, rounds // 20))
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        mean = float(play(rounds))
        times.append(time.perf_counter() - start)
    if not mean > 0.3:
        raise RuntimeError(f"mean reward {mean:.3f}: the policy did not learn")
    return min(times), mean


def decision_us(make, n=DECISIONS):
    """Median microseconds of one choose and observe, after a warm-up of n/10 pairs."""
    choose, observe = make()
    clock = time.perf_counter_ns
    times = []
    for z in noise(n + n // 10, seed=2):
        rewards = [m + z for m in MEANS]
        start = clock()
        arm = choose()
        observe(arm, rewards[arm])
        times.append(clock() - start)
    return statistics.median(times[n // 10 :]) / 1000.0


def report(peer, policy, ways, make=None):
    """Time every way, keep the fastest and print one line of JSON.

    `ways` maps a name to (play, rounds); `play(rounds)` returns the mean reward. Rewards are
    Gaussian unless the name says Bernoulli. With `make` single decisions are timed too.
    """
    with contextlib.redirect_stdout(sys.stderr):
        runs = {name: (rounds, *best_of(play, rounds)) for name, (play, rounds) in ways.items()}
        latency = min(decision_us(make) for _ in range(REPEATS)) if make else None
    speed = {name: rounds / seconds for name, (rounds, seconds, _) in runs.items()}
    way = max(speed, key=speed.get)
    rounds, seconds, mean = runs[way]
    row = {
        "peer": peer,
        "version": version(peer),
        "policy": policy,
        "rounds": rounds,
        "seconds": round(seconds, 4),
        "rounds_per_second": round(speed[way]),
        "decision_us": latency and round(latency, 3),
        "way": way,
        "ways": {name: round(s) for name, s in speed.items()},
        "rewards": "bernoulli" if "Bernoulli" in way else "gaussian",
        "mean_reward": round(mean, 4),
    }
    print(json.dumps(row))
