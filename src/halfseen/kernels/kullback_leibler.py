"""Kullback-Leibler divergences of reward laws by their means, and their inverses.

A family is a number, so that one kernel handles all: GAUSSIAN, BERNOULLI, POISSON and EXPONENTIAL.
"""

from __future__ import annotations

import math

from halfseen.kernels.compile_hints import shared

GAUSSIAN, BERNOULLI, POISSON, EXPONENTIAL = range(4)
CLOSE = 1e-7  # relative Newton step after which the next one is below rounding
STEPS = 60
HUGE = 1e150  # replaces infinity, where it may be multiplied by 0
NEAR = 0.1  # relative change below which logarithms are summed as series


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


@shared
def bend(old: float, new: float, change: float) -> float:
    """Return new - old - old log(new/old) to full relative precision, for two numbers above 0.

    `change` is new - old, which a caller may know more precisely than the two numbers. With
    s = change/(new + old) the logarithm is 2 (s + s^3/3 + s^5/5 + ...), whose first term is
    subtracted exactly.

    >>> round(1e13 * bend(1e6, 1e6 + 1e-3, 1e-3), 9)
    4.999999997
    """
    if not abs(change) < NEAR * old:
        ratio = new / old
        log = math.log(ratio) if ratio > 0.0 else math.log(new) - math.log(old)
        return change - old * log
    s = change / (new + old)
    x = s * s
    tail = x * (1.0 / 9.0 + x * (1.0 / 11.0 + x / 13.0))
    tail = x * (1.0 / 3.0 + x * (1.0 / 5.0 + x * (1.0 / 7.0 + tail)))
    return s * (change - 2.0 * old * tail)


def bernoulli(mean: float, larger: float) -> float:
    """Return the divergence of Bernoulli(mean) from Bernoulli(larger), infinite from 1 up."""
    if larger >= 1.0:
        return math.inf
    if not mean > 0.0:
        return -math.log1p(-larger)
    rise = larger - mean
    return bend(mean, larger, rise) + bend(1.0 - mean, 1.0 - larger, -rise)


def poisson(mean: float, larger: float) -> float:
    """Return the divergence of Poisson(mean) from Poisson(larger)."""
    return bend(mean, larger, larger - mean) if mean > 0.0 else larger


def exponential(mean: float, larger: float) -> float:
    """Return the divergence of exponential laws of two means, infinite from 0."""
    return bend(larger, mean, mean - larger) / larger if mean > 0.0 else math.inf


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
    """Return the coefficient of the mean in K(mean, M), for laws that are not normal."""
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
        ``own_term(family, mean)``, which a caller may have computed already.
    level
        At least 0.
    start
        Initial guess, or 0; the solution of a similar problem saves steps.

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
        return upper_poisson(mean, level, start)
    return upper_exponential(mean, level)


@shared
def upper_bernoulli(mean: float, own: float, level: float, start: float) -> float:
    """Return the largest M with K(mean, M) <= level, for Bernoulli laws.

    K is convex in M, so Newton's method descends to the solution from any larger M, at the latest
    after its first step. The initial M is the least of the upper bounds given by
    K >= 2 (M-m)^2, K >= (M-m)^2/(2M) and K >= own - (1-m) log(1-M).
    """
    if mean >= 1.0:
        return 1.0
    if not mean > 0.0:
        return -math.expm1(-level)
    rest = 1.0 - mean
    rise = start - mean
    if not 0.0 < rise < rest:
        rise = min(
            math.sqrt(0.5 * level),
            level + math.sqrt(level * (2.0 * mean + level)),
            -math.expm1((own - level) / rest) - mean,
        )
    for _ in range(STEPS):
        q, left = mean + rise, rest - rise
        if not left > 0.0:
            return 1.0
        excess = bend(mean, q, rise) + bend(rest, left, -rise) - level
        step = excess * (q * left) / rise
        rise -= step
        if rise >= rest:  # from a start below the solution
            rise = -math.expm1((own - level) / rest) - mean
        elif abs(step) <= CLOSE * rise:
            break
    return mean + rise


@shared
def upper_poisson(mean: float, level: float, start: float) -> float:
    """Return the largest M with K(mean, M) <= level, for Poisson laws; see `upper_bernoulli`."""
    if not mean > 0.0:
        return level
    rise = start - mean
    if not rise > 0.0:
        rise = level + math.sqrt(level * (2.0 * mean + level))
    for _ in range(STEPS):
        step = (bend(mean, mean + rise, rise) - level) * (mean + rise) / rise
        rise -= step
        if abs(step) <= CLOSE * rise:
            break
    return mean + rise


@shared
def upper_exponential(mean: float, level: float) -> float:
    """Return the largest M with K(mean, M) <= level, for exponential laws.

    In x = log(M/mean) the divergence exp(-x) - 1 + x is convex, at least x - 1 and at least
    x^2/(2+x); Newton's method descends from the smaller of the two resulting bounds.
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
