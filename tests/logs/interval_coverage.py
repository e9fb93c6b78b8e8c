"""How often the intervals of an audit hold the truth, on clean logs of every kind.

The truth is that of the log's own decisions: their arms, users, times and contexts are given, what
is drawn is whether each reward is seen, when, and what it is.
"""

from collections import defaultdict

import numpy as np

from halfseen.logs.dimension import estimate_dimension
from halfseen.logs.maturity import estimate_maturity
from halfseen.logs.missing_bounds import mean_bounds
from halfseen.logs.rates import fit_prior, shrunken_interval
from halfseen.logs.seen_rewards import read_rewards
from halfseen.logs.worth_most import worth_most
from halfseen.theory.events import clopper_pearson
from logs.warnings.made_logs import (
    DAYS,
    FEWER_ROWS,
    MEANS,
    RATES,
    ROWS,
    START,
    Parts,
    read,
    users_differ_independently,
)

GAMMAS = (1.0, 2.0)
FRESH = 20  # rewards drawn anew per decision, for the truth of bounds


def covered(kind, change, seed):
    """Return, for each interval that an audit prints of a made log, whether it holds the truth."""
    parts = Parts(np.random.default_rng([seed, 2026]), FEWER_ROWS.get(kind, ROWS))
    own = parts.noise.copy()
    change(parts)
    frame, roles = parts.log()
    decisions, dated = read(frame, roles)
    end = (START.timestamp() + DAYS * 86400.0) if parts.ends_now else None
    maturity = estimate_maturity(decisions, dated=dated, now=end)
    counts = decisions.counts
    seen, rows = (counts.seen, counts.rows) if maturity is None else (maturity.seen, maturity.rows)
    rates = _true_rates(parts, change, None if maturity is None else maturity.windows / 86400.0)
    held = defaultdict(list)
    low, high = clopper_pearson(seen, rows, 0.95)
    title = "rate within the window, rewards pending" if parts.ends_now else "rate of an arm"
    held[title] += ((low <= rates) & (rates <= high)).tolist()
    _, low, high = shrunken_interval(seen, rows, fit_prior(seen, rows))
    held["shrunken rate"] += ((low <= rates) & (rates <= high)).tolist()
    size = estimate_dimension(seen, rows)
    held["effective dimension and factor"].append(size.low <= (1 / rates).sum() <= size.high)
    most = worth_most(np.array(counts.names, dtype=object), seen, rows)
    times = (np.median(rates) / rates[counts.names.index(most.arm)]) ** 2
    held["worth of a little more (90%)"].append(most.times_low <= times <= most.times_high)
    rewards = read_rewards(decisions)
    if maturity is not None:
        rewards = rewards.at_rates(counts.names, seen / rows)
    for gamma in GAMMAS:
        bounds = mean_bounds(rewards, gamma)
        true = _true_bounds(parts, own, rates, gamma)
        title = "mean of an arm" if gamma == 1.0 else f"bounds of the mean, Gamma {gamma:.0f}"
        for found, error, truth in zip(
            (bounds.low, bounds.high), (bounds.low_error, bounds.high_error), true, strict=True
        ):
            held[title] += (np.abs(found - truth) <= 1.96 * error).tolist()
    return held


def _chance(parts):
    return RATES[parts.arm] * parts.factor if parts.chance is None else parts.chance


def _true_rates(parts, change, windows):
    chance = _chance(parts)
    rates = np.array([chance[parts.arm == arm].mean() for arm in range(3)])
    if windows is None:
        return rates
    if change is users_differ_independently:  # delays are those of the users
        back = [chance[(parts.arm == a) & (parts.delay <= w)].sum() for a, w in enumerate(windows)]
        return np.array(back) / np.bincount(parts.arm)
    return rates * -np.expm1(-windows / 7.0)


def _true_bounds(parts, own, rates, gamma):
    """Return the bounds that rewards drawn ever anew for these decisions would give."""
    rng = np.random.default_rng(0)
    effect = MEANS[parts.arm] + parts.noise - own
    chance, ends = _chance(parts), []
    if parts.ends_now:  # the mean is that of rewards that are back: early ones more often
        chance = chance * -np.expm1(-(DAYS - parts.time) / 7.0)
    for arm in range(3):
        mine = parts.arm == arm
        if parts.reward is not None:
            share = (0.3, 0.4, 0.5)[arm]
            values, weights = np.array([0.0, 1.0]), np.array([1 - share, share])
        else:
            z = rng.standard_normal((FRESH, mine.sum()))
            z -= z.mean()
            values = (effect[mine] + z / z.std()).ravel()
            weights = np.tile(chance[mine], FRESH)
        ends.append(_bounds_of(values, weights / weights.sum(), rates[arm], gamma))
    return np.array(ends).T


def _bounds_of(values, weights, rate, gamma):
    mean = float(weights @ values)
    low = high = mean
    for _ in range(60):  # expectiles, by fixed point
        up = np.where(values > high, gamma, 1.0) * weights
        down = np.where(values > low, 1.0, gamma) * weights
        high, low = float(up @ values / up.sum()), float(down @ values / down.sum())
    return rate * mean + (1 - rate) * low, rate * mean + (1 - rate) * high


def coverage(kind, change, logs):
    """Return the share of intervals of each name that hold the truth."""
    held = defaultdict(list)
    for seed in range(logs):
        for name, some in covered(kind, change, seed).items():
            held[name] += some
    return {name: float(np.mean(some)) for name, some in held.items()}
