"""Of two equal arms none is called best, however arms are chosen and however often one looks."""

from dataclasses import replace

import numpy as np
import pytest

from halfseen import audit
from halfseen.logs.best_arm import _told_anytime

LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "0 or 1, half": lambda rng, shape: (rng.random(shape) < 0.5).astype(float),
    "0 or 1, rare": lambda rng, shape: (rng.random(shape) < 0.02).astype(float),
    "uniform": lambda rng, shape: rng.random(shape),
    "lognormal": lambda rng, shape: rng.lognormal(0.0, 1.0, shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "sales": lambda rng, shape: np.where(rng.random(shape) < 0.05, rng.lognormal(size=shape), 0.0),
}
OBSERVE = np.array([0.9, 0.3])
LOGS, DECISIONS = 100, 3000
LOOKS = np.unique(np.geomspace(40, DECISIONS, 20).astype(int))


def in_turns(clock, seen, sums, rng):
    return np.full(LOGS, clock % 2)


def greedy(clock, seen, sums, rng):
    best = (sums / np.maximum(seen, 1.0)).argmax(axis=1)
    best = np.where(seen.min(axis=1) == 0.0, seen.argmin(axis=1), best)
    return np.where(rng.random(LOGS) < 0.1, rng.integers(0, 2, LOGS), best)


def ucb(clock, seen, sums, rng):
    index = sums / np.maximum(seen, 1.0) + np.sqrt(2.0 * np.log(clock + 1) / np.maximum(seen, 0.1))
    return index.argmax(axis=1)


def pattern(binary):
    """Return the counts of some log, of which numbers are replaced."""
    log = {"a": [0, 1] * 20, "r": [0.0, 0.0, 1.0, 1.0] * 10 if binary else list(range(40))}
    return audit(log, action="a", reward="r").counts


@pytest.mark.slow
@pytest.mark.parametrize("choose", [in_turns, greedy, ucb])
@pytest.mark.parametrize("law", LAWS)
def test_of_two_equal_arms_one_is_ever_called_best_in_at_most_2_percent_of_logs(law, choose):
    rng = np.random.default_rng(11)
    counts, every = pattern(law.startswith("0 or 1")), np.arange(LOGS)
    rewards = LAWS[law](rng, (DECISIONS, LOGS))
    seen, sums, squares = np.zeros((LOGS, 2)), np.zeros((LOGS, 2)), np.zeros((LOGS, 2))
    plays, named = np.zeros((LOGS, 2)), np.zeros(LOGS, dtype=bool)
    for clock in range(DECISIONS):
        arm = choose(clock, seen, sums, rng)
        shown = rng.random(LOGS) < OBSERVE[arm]
        plays[every, arm] += 1.0
        for total, power in ((seen, 0), (sums, 1), (squares, 2)):
            total[every, arm] += shown * rewards[clock] ** power
        if clock + 1 not in LOOKS:
            continue
        for log in np.flatnonzero(~named & (seen.min(axis=1) >= 2.0)):
            n, mean = seen[log], sums[log] / seen[log]
            variance = np.maximum(squares[log] - n * mean**2, 0.0) / (n - 1.0)
            if mean[0] == mean[1]:
                continue
            now = replace(counts, rows=plays[log], seen=n, mean=mean, variance=variance)
            named[log] = _told_anytime(now.part(np.argsort(-mean)), 0.95, 2).all()
    assert named.mean() <= 0.02
