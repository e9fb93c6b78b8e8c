r"""The mixture of Poisson and exponential likelihoods over a Gamma law around the mean tested.

Both laws are N events at a rate during an exposure: of n Poisson rewards with sum S, S events at
rate :math:`\mu` during n; of n exponential ones, n events at rate :math:`1/\mu` during S. Against
the rate r the rates :math:`\theta r` are mixed, :math:`\theta\sim\mathrm{Gamma}(\rho,\rho)`, which
is worth :math:`\rho` events at rate r and needs no unit.
"""

from __future__ import annotations

import numpy as np

from halfseen.checks import Vector
from halfseen.theory.anytime.beta_mixture import one_up
from halfseen.theory.anytime.samples import Samples
from halfseen.theory.lower.least_divergence import log_excess

STEPS = 60


def as_events(seen: Samples) -> tuple[Vector, Vector]:
    """Return the number of events of each arm and how long it was exposed to them."""
    counts = seen.family == "poisson"
    return (seen.total, seen.observed) if counts else (seen.observed, seen.total)


def log_mixture(events: Vector, rho: float) -> Vector:
    r"""Return the log of the mixture divided by the largest likelihood.

    .. math:: \log\frac{\rho^\rho\,\Gamma(\rho+N)}{\Gamma(\rho)\,(\rho+N)^{\rho+N}}+N
    """
    prior = np.asarray(rho, dtype=np.float64)
    return _stirling(events + rho) - _stirling(prior)


def log_ratio(events: Vector, expected: Vector, rho: float) -> Vector:
    """Return the log of the mixture divided by the likelihood of a rate.

    `expected` is how many events there would be on average at that rate.
    """
    weight = events + rho
    return log_mixture(events, rho) + weight * log_excess((expected - events) / weight)


def least_product(first: Samples, second: Samples) -> Vector:
    """Return the log of the product of two mixtures at the common rate where it is smallest.

    With A and B events, prior included, and shares e and f of the exposure, the derivative in
    z, the rate times the whole exposure, is 0 where 1 = A e/(rho + e z) + B f/(rho + f z). In
    units of all events and the prior no term of this quadratic equation is large.
    """
    rho = first.rho
    (events, time), (others, their_time) = as_events(first), as_events(second)
    with np.errstate(divide="ignore", invalid="ignore"):
        longest = np.maximum(time, their_time)
        share = (time / longest) / (time / longest + their_time / longest)
        rest = (their_time / longest) / (time / longest + their_time / longest)
        unit = events + others + rho
        prior, square = rho / unit, share * rest
        slope = prior - (1.0 + prior) * square
        level = prior * (events / unit * share + others / unit * rest)
        root = np.sqrt(slope * slope + 4.0 * square * level)
        y = np.where(slope > 0.0, 2.0 * level / (root + slope), (root - slope) / (2.0 * square))
        z = unit * y
        return log_ratio(events, share * z, rho) + log_ratio(others, rest * z, rho)


def mean_limits(seen: Samples, target: float) -> tuple[Vector, Vector]:
    """Return the ends of the set of means whose log ratio is at most a target.

    With y = (rho + expected)/(rho + events) it is the set of y - 1 - log y <= q. In x = |log y|
    both sides are convex and at least x^2/(2 + x) and x^2/2: Newton's method falls to the roots.
    """
    events, time = as_events(seen)
    weight = events + seen.rho
    q = (target - log_mixture(events, seen.rho)) / weight
    below, above = (q + np.sqrt(q * (q + 8.0))) / 2.0, np.sqrt(2.0 * q)
    above = np.minimum(above, 1.0 + np.log1p(q))  # e^x - 1 - x = q has no root beyond
    for _ in range(STEPS):
        fall, rise = -np.expm1(-below), np.expm1(above)
        steps = (below - fall - q) / fall, (rise - above - q) / rise
        below, above = below - steps[0], above - steps[1]
        if np.all(np.abs(steps) <= 1e-9 * np.stack([below, above])):
            break
    fewest = np.maximum(events + weight * np.expm1(-below), 0.0)
    most = events + weight * np.expm1(above)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ends = (
            (fewest / time, most / time)
            if seen.family == "poisson"
            else (time / most, time / fewest)
        )
    return np.where(seen.observed > 0.0, ends[0], 0.0), np.where(
        seen.observed > 0.0, ends[1], np.inf
    )


def _stirling(x: Vector) -> Vector:
    """Return log Gamma(x) - x log x + x for x above 0."""
    return one_up(x) - np.log(x)
