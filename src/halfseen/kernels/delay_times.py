"""Delays drawn by inversion: one uniform number gives the rounds until a reward arrives.

A law is a row of numbers, so that one kernel handles all laws: its kind, the probability that a
reward ever arrives, and two parameters.
"""

from __future__ import annotations

import math

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import inline

FIXED, GEOMETRIC, LOG_NORMAL, PARETO, LISTED = range(5)
KIND, ARRIVE, FIRST, SECOND = range(4)  # columns of a law
DELAY, ARRIVED = range(2)  # rows of a list: delays, and the probability of arriving by each


@inline
def delay_time(laws: Vector, row: int, u: float, lists: Vector) -> float:
    """Return the delay for a uniform number in [0, 1[, infinite if the reward never arrives.

    The parameters, by kind, are: the delay; 1/log(M/(1+M)); the median and log scale; the exponent
    and the scale; the first and the last position in `lists`, which holds the listed laws one after
    the other.
    """
    arrive = laws[row, ARRIVE]
    if not u < arrive:
        return math.inf
    kind, first = laws[row, KIND], laws[row, FIRST]
    if kind == FIXED:
        return first
    if kind == GEOMETRIC:
        v = u / arrive
        return float(math.floor(math.log(1.0 - v) * first)) if v < 1.0 else math.inf
    return other_delay(kind, u, arrive, first, laws[row, SECOND], lists)


def other_delay(
    kind: float, u: float, arrive: float, first: float, second: float, lists: Vector
) -> float:
    """Return the delay of the laws that take longer to draw."""
    if kind == LISTED:
        return listed_delay(lists, int(first), int(second), u)
    v = u / arrive
    if not v < 1.0:  # u is just below `arrive`, up to rounding
        return math.inf
    if kind == LOG_NORMAL:
        return whole_rounds(first * math.exp(second * normal_quantile(v)))
    return whole_rounds(second * math.expm1(-math.log1p(-v) / first))


def whole_rounds(time: float) -> float:
    """Return a time rounded down to whole rounds, or the time itself if that is very large."""
    return float(math.floor(time)) if time < 2.0**52 else time


def listed_delay(lists: Vector, first: int, last: int, u: float) -> float:
    """Return the first listed delay by which more than a share `u` has arrived."""
    low, high = first, last + 1
    while low < high:
        middle = (low + high) // 2
        if u < lists[ARRIVED, middle]:
            high = middle
        else:
            low = middle + 1
    return lists[DELAY, low] if low <= last else math.inf


def normal_quantile(p: float) -> float:
    """Return the standard normal quantile, to 1e-16 (Wichura 1988, AS 241).

    >>> normal_quantile(0.5), round(normal_quantile(0.975), 12)
    (0.0, 1.95996398454)
    """
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        top = 2.5090809287301226727e3 * r + 3.3430575583588128105e4
        top = ((top * r + 6.7265770927008700853e4) * r + 4.5921953931549871457e4) * r
        top = ((top + 1.3731693765509461125e4) * r + 1.9715909503065514427e3) * r
        top = (top + 1.3314166789178437745e2) * r + 3.3871328727963666080e0
        low = 5.2264952788528545610e3 * r + 2.8729085735721942674e4
        low = ((low * r + 3.9307895800092710610e4) * r + 2.1213794301586595867e4) * r
        low = ((low + 5.3941960214247511077e3) * r + 6.8718700749205790830e2) * r
        low = (low + 4.2313330701600911252e1) * r + 1.0
        return top * q / low
    r = p if q <= 0.0 else 1.0 - p
    if not r > 0.0:
        return -math.inf if q <= 0.0 else math.inf
    r = math.sqrt(-math.log(r))
    if r <= 5.0:
        r -= 1.6
        top = 7.74545014278341407640e-4 * r + 2.27238449892691845833e-2
        top = ((top * r + 2.41780725177450611770e-1) * r + 1.27045825245236838258e0) * r
        top = ((top + 3.64784832476320460504e0) * r + 5.76949722146069140550e0) * r
        top = (top + 4.63033784615654529590e0) * r + 1.42343711074968357734e0
        low = 1.05075007164441684324e-9 * r + 5.47593808499534494600e-4
        low = ((low * r + 1.51986665636164571966e-2) * r + 1.48103976427480074590e-1) * r
        low = ((low + 6.89767334985100004550e-1) * r + 1.67638483018380384940e0) * r
        low = (low + 2.05319162663775882187e0) * r + 1.0
    else:
        r -= 5.0
        top = 2.01033439929228813265e-7 * r + 2.71155556874348757815e-5
        top = ((top * r + 1.24266094738807843860e-3) * r + 2.65321895265761230930e-2) * r
        top = ((top + 2.96560571828504891230e-1) * r + 1.78482653991729133580e0) * r
        top = (top + 5.46378491116411436990e0) * r + 6.65790464350110377720e0
        low = 2.04426310338993978564e-15 * r + 1.42151175831644588870e-7
        low = ((low * r + 1.84631831751005468180e-5) * r + 7.86869131145613259100e-4) * r
        low = ((low + 1.48753612908506148525e-2) * r + 1.36929880922735805310e-1) * r
        low = (low + 5.99832206555887937690e-1) * r + 1.0
    return -top / low if q < 0.0 else top / low
