"""Kullback-Leibler divergences of reward laws by their means, and the largest mean they allow.

A family is a number, so that one kernel serves all: GAUSSIAN, BERNOULLI, POISSON and EXPONENTIAL.
"""

from __future__ import annotations

import math

from halfseen.kernels.compile_hints import shared

GAUSSIAN, BERNOULLI, POISSON, EXPONENTIAL = range(4)
CLOSE = 1e-7  # relative Newton step after which the next one is below rounding
STEPS = 60
HUGE = 1e150  # for infinity, where it may be multiplied by 0


def divergence(family: float, mean: float, larger: float, scale: float) -> float:
    r"""Return K(mean, larger), the divergence of the law of one mean from that of a larger one.

    With m and M for the two: :math:`(M-m)^2/(2\sigma^2)` for normal laws, of which `scale` is
    :math:`1/(2\sigma^2)`, :math:`m\log(m/M)+(1-m)\log((1-m)/(1-M))` for Bernoulli,
    :math:`M-m+m\log(m/M)` for Poisson and :math:`m/M-1-\log(m/M)` for exponential ones. 0 where M
    is not larger.

    >>> round(divergence(BERNOULLI, 0.3, 0.5, 0.0), 12)
    0.082282878505
    """
    if not larger > mean:
        return 0.0
    if family == GAUSSIAN:
        gap = larger - mean
        return gap * gap * scale
    if family == BERNOULLI:
        return bernoulli(mean, larger)
    if family == POISSON:
        return poisson(mean, larger)
    return exponential(mean, larger)


def bernoulli(mean: float, larger: float) -> float:
    """Return the divergence of Bernoulli(mean) from Bernoulli(larger), infinite from 1 up."""
    if larger >= 1.0:
        return math.inf
    total = (1.0 - mean) * math.log((1.0 - mean) / (1.0 - larger))
    if mean > 0.0:
        total += mean * math.log(mean / larger)
    return total


def poisson(mean: float, larger: float) -> float:
    """Return the divergence of Poisson(mean) from Poisson(larger)."""
    total = larger - mean
    if mean > 0.0:
        total += mean * math.log(mean / larger)
    return total


def exponential(mean: float, larger: float) -> float:
    """Return the divergence of exponential laws of two means, infinite from 0."""
    if not mean > 0.0:
        return math.inf
    ratio = mean / larger
    return ratio - 1.0 - math.log(ratio)


def own_term(family: float, mean: float) -> float:
    """Return the part of K(mean, M) that depends on the mean alone; 0 for normal laws.

    K(mean, M) is this number plus ``mean * slope_term(M) + level_term(M)``.
    """
    if family == BERNOULLI:
        own = mean * math.log(mean) if mean > 0.0 else 0.0
        return own + (1.0 - mean) * math.log(1.0 - mean) if mean < 1.0 else own
    if family == POISSON:
        return mean * math.log(mean) - mean if mean > 0.0 else 0.0
    if family == EXPONENTIAL:
        return -1.0 - math.log(mean) if mean > 0.0 else HUGE
    return 0.0


def slope_term(family: float, larger: float) -> float:
    """Return what the mean is multiplied by in K(mean, M), for laws that are not normal."""
    if family == BERNOULLI:
        return math.log((1.0 - larger) / larger) if 0.0 < larger < 1.0 else -HUGE
    if family == POISSON:
        return -math.log(larger) if larger > 0.0 else HUGE
    return 1.0 / larger if larger > 0.0 else HUGE


def level_term(family: float, larger: float) -> float:
    """Return the part of K(mean, M) that depends on M alone, for laws that are not normal."""
    if family == BERNOULLI:
        return -math.log(1.0 - larger) if larger < 1.0 else HUGE
    if family == POISSON:
        return larger
    return math.log(larger) if larger > 0.0 else -HUGE


def upper_mean(
    family: float, mean: float, own: float, level: float, scale: float, start: float
) -> float:
    """Return the largest M with K(mean, M) <= level.

    Parameters
    ----------
    family, mean, scale
        As for `divergence`.
    own
        ``own_term(family, mean)``, which a caller may have at hand.
    level
        At least 0.
    start
        A guess, or 0: the solution of a problem nearby saves steps.

    Examples
    --------
    >>> own = own_term(BERNOULLI, 0.3)
    >>> round(upper_mean(BERNOULLI, 0.3, own, 0.5, 0.0, 0.0), 12)
    0.771382328608
    """
    if family == GAUSSIAN:
        return mean + math.sqrt(level / scale)
    if not level > 0.0:
        return mean
    if family == BERNOULLI:
        return upper_bernoulli(mean, own, level, start)
    if family == POISSON:
        return upper_poisson(mean, own, level, start)
    return upper_exponential(mean, level)


@shared
def upper_bernoulli(mean: float, own: float, level: float, start: float) -> float:
    """Return the largest M with K(mean, M) <= level, for Bernoulli laws.

    K is convex in M: Newton's method descends to the solution from any larger M, at the latest
    after its first step. The first M is the least of the bounds that K >= 2 (M-m)^2,
    K >= (M-m)^2/(2M) and K >= own - (1-m) log(1-M) give.
    """
    if mean >= 1.0:
        return 1.0
    if not mean > 0.0:
        return -math.expm1(-level)
    rest = 1.0 - mean
    q = start
    if not mean < q < 1.0:
        q = min(
            mean + math.sqrt(0.5 * level),
            mean + level + math.sqrt(level * (2.0 * mean + level)),
            -math.expm1((own - level) / rest),
        )
    for _ in range(STEPS):
        left = 1.0 - q
        if not left > 0.0:
            return 1.0
        excess = own - level - mean * math.log(q) - rest * math.log(left)
        step = excess * (q * left) / (q - mean)
        q -= step
        if q >= 1.0:  # from a start below the solution
            q = -math.expm1((own - level) / rest)
        elif abs(step) <= CLOSE * (q - mean):
            break
    return q


@shared
def upper_poisson(mean: float, own: float, level: float, start: float) -> float:
    """Return the largest M with K(mean, M) <= level, for Poisson laws, as `upper_bernoulli`."""
    if not mean > 0.0:
        return level
    q = start
    if not q > mean:
        q = mean + level + math.sqrt(level * (2.0 * mean + level))
    for _ in range(STEPS):
        step = (own - level + q - mean * math.log(q)) * q / (q - mean)
        q -= step
        if abs(step) <= CLOSE * (q - mean):
            break
    return q


@shared
def upper_exponential(mean: float, level: float) -> float:
    """Return the largest M with K(mean, M) <= level, for exponential laws.

    In x = log(M/mean) the divergence exp(-x) - 1 + x is convex, at least x - 1 and at least
    x^2/(2+x): Newton's method descends from the lesser of the two bounds.
    """
    if not mean > 0.0:
        return 0.0
    x = min(1.0 + level, 0.5 * (level + math.sqrt(level * (level + 8.0))))
    for _ in range(STEPS):
        fall = -math.expm1(-x)
        step = (x - fall - level) / fall
        x -= step
        if not step > CLOSE * x:
            break
    return mean * math.exp(x)
