"""The rule for a winner among Poisson and exponential rewards, compiled.

`halfseen.theory.anytime.gamma_mixture` has the mathematics. Of an arm, `events` and `exposure` are
the sum and the number of its rewards if they are Poisson, the number and the sum if exponential.
"""

from __future__ import annotations

import math

from halfseen.kernels.compile_hints import shared
from halfseen.kernels.kullback_leibler import POISSON, bend, upper_exponential, upper_poisson

MANY = 1e3  # from here on Stirling's series is exact in doubles


def stirling(x: float) -> float:
    """Return log Gamma(x) - x log x + x."""
    if x > MANY:
        series = (1.0 - 1.0 / (30.0 * x * x)) / (12.0 * x)
        return 0.5 * math.log(2.0 * math.pi / x) + series
    return math.lgamma(x) - x * math.log(x) + x


def events_mixture(events: float, rho: float) -> float:
    """Return the log of the mixture divided by the largest likelihood."""
    return stirling(events + rho) - stirling(rho)


def events_ratio(events: float, expected: float, mixture: float, rho: float) -> float:
    """Return the log of the mixture divided by the likelihood of a rate."""
    return mixture + bend(events + rho, expected + rho, expected - events)


@shared
def least_product(
    events: float, exposure: float, others: float, their_exposure: float, rho: float
) -> float:
    """Return the smallest of the log ratio of two arms together, over a common rate.

    The terms that do not depend on the rate, `events_mixture` of both, are left out.
    """
    longest = max(exposure, their_exposure)
    share, rest = exposure / longest, their_exposure / longest
    whole = share + rest
    share, rest = share / whole, rest / whole
    square = share * rest
    slope = rho - (events + others + 2.0 * rho) * square
    level = rho * (events * share + others * rest)
    root = math.sqrt(slope * slope + 4.0 * square * level)
    z = 2.0 * level / (root + slope) if slope > 0.0 else (root - slope) / (2.0 * square)
    one = events_ratio(events, share * z, 0.0, rho)
    return one + events_ratio(others, rest * z, 0.0, rho)


@shared
def events_upper(
    family: float, n: float, total: float, mixture: float, limit: float, rho: float
) -> float:
    """Return the upper confidence limit of an arm's mean, infinite with few exponential rewards."""
    if family == POISSON:
        weight = total + rho
        return (weight * upper_poisson(1.0, (limit - mixture) / weight, 0.0) - rho) / n
    weight = n + rho
    fewest = weight / upper_exponential(1.0, (limit - mixture) / weight) - rho
    return total / fewest if fewest > 0.0 else math.inf
