"""The definitions themselves, spelled out for small horizons and independent of the package."""

from functools import cache
from itertools import product
from math import comb


def inverse_moment(plays, p, regularization, alpha):
    return sum(
        comb(plays, k) * p**k * (1 - p) ** (plays - k) * (k + regularization) ** -alpha
        for k in range(plays + 1)
    )


def allocations(rounds, arms):
    if arms == 1:
        yield (rounds,)
        return
    for first in range(rounds + 1):
        for rest in allocations(rounds - first, arms - 1):
            yield (first, *rest)


def offline(observe, horizon, alpha, regularization, weights):
    tables = [
        [w * inverse_moment(n, p, lam, alpha) for n in range(horizon)]
        for p, lam, w in zip(observe, regularization, weights, strict=True)
    ]
    return max(
        (sum(sum(t[:n]) for t, n in zip(tables, plays, strict=True)), plays)
        for plays in allocations(horizon, len(observe))
    )


def adaptive(observe, horizon, alpha, regularization, weights):
    @cache
    def value(left, counts):
        if left == 0:
            return 0.0
        options = []
        for arm, p in enumerate(observe):
            seen = (*counts[:arm], counts[arm] + 1, *counts[arm + 1 :])
            now = weights[arm] * (counts[arm] + regularization[arm]) ** -alpha
            options.append(now + p * value(left - 1, seen) + (1 - p) * value(left - 1, counts))
        return max(options)

    return value(horizon, (0,) * len(observe))


def single_monitoring(observe, horizon, alpha, regularization, early):
    late = horizon - early

    @cache
    def continuation(counts):
        starts = [lam + n for lam, n in zip(regularization, counts, strict=True)]
        if late == 0:
            return 0.0
        return offline(observe, late, alpha, starts, [1.0] * len(observe))[0]

    def worth(plays):
        total = 0.0
        for p, lam, n in zip(observe, regularization, plays, strict=True):
            total += sum(inverse_moment(k, p, lam, alpha) for k in range(n))
        for counts in product(*(range(n + 1) for n in plays)):
            chance = 1.0
            for p, n, k in zip(observe, plays, counts, strict=True):
                chance *= comb(n, k) * p**k * (1 - p) ** (n - k)
            total += chance * continuation(counts)
        return total

    return max(worth(plays) for plays in allocations(early, len(observe)))


def fluid(observe, horizon, costs):
    """Fill the rounds cell by cell; `costs[a](n)` is arm a's cost after n observations."""
    cells = sorted(
        ((cost(n), 1 / p) for p, cost in zip(observe, costs, strict=True) for n in range(horizon)),
        reverse=True,
    )
    total, left = 0.0, float(horizon)
    for value, lasts in cells:
        total += value * min(lasts, left)
        left -= min(lasts, left)
    return total
