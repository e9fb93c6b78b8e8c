"""The test for the best arm after every observation: a kernel for the rule "either".

`halfseen.theory.winner` computes the same from any counts and sums; here an arm's upper limit is
computed when it is needed and kept until the arm is observed again.
"""

from __future__ import annotations

import math

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import shared
from halfseen.kernels.event_rates import (
    events_mixture,
    events_ratio,
    events_upper,
    least_product,
)
from halfseen.kernels.kullback_leibler import (
    BERNOULLI,
    GAUSSIAN,
    POISSON,
    own_term,
    upper_bernoulli,
)

EVIDENCE, LIMIT, RHO, FAMILY = range(4)  # entries of a rule: two thresholds, rho, the reward law
UPPER, MIXTURE = range(2)  # kept per arm: its upper limit, the log of its mixture
NONE = -1
SMALLEST_SCALE = 1e-100  # used for rewards without noise
STEPS = 50


@shared
def winning_arm(
    observed: Vector, totals: Vector, kept: Vector, rule: Vector, scales: Vector, arm: int
) -> int:
    """Return the arm shown to be the best now that `arm` was observed, NONE if none is.

    Parameters
    ----------
    observed, totals
        Number and sum of the observed rewards of each arm.
    kept
        Two numbers per arm that this function keeps from one observation to the next.
    rule
        The threshold for the evidence against every other arm, the threshold for the evidence
        against a value of one arm's mean, rho, and the family of the rewards: GAUSSIAN, or that of
        an exact rule.
    scales
        Sub-Gaussian scale of each arm's rewards; below 0 for arms that are never played.
    arm
        The arm observed last.
    """
    arms = observed.size
    kept[arm, UPPER] = math.nan
    if rule[FAMILY] != GAUSSIAN:
        kept[arm, MIXTURE] = log_mixture(observed[arm], totals[arm], rule)
    leader = NONE
    top = -math.inf
    for a in range(arms):
        if scales[a] < 0.0:
            continue
        if not observed[a] > 0.0:
            return NONE
        mean = totals[a] / observed[a]
        if mean > top:
            top = mean
            leader = a
    pairwise = True
    highest = -math.inf
    for a in range(arms):
        if a == leader or scales[a] < 0.0:
            continue
        if pairwise:
            against = evidence_against(observed, totals, kept, rule, scales, leader, a)
            pairwise = top > totals[a] / observed[a] and against >= rule[EVIDENCE]
        if kept[a, UPPER] != kept[a, UPPER]:
            kept[a, UPPER] = upper_limit(observed[a], totals[a], kept[a, MIXTURE], rule, scales[a])
        highest = max(highest, kept[a, UPPER])
    if highest == -math.inf:  # there is only one arm
        return NONE
    if pairwise:
        return leader
    if top > highest:
        n, mixture = observed[leader], kept[leader, MIXTURE]
        if evidence_above(n, totals[leader], mixture, highest, rule, scales[leader]) > rule[LIMIT]:
            return leader
    return NONE


def log_mixture(n: float, total: float, rule: Vector) -> float:
    """Return what the evidence of an arm has that depends on no mean.

    It is log B(S + 1/2, F + 1/2) - log B(1/2, 1/2) of rewards of 0 or 1.
    """
    if rule[FAMILY] != BERNOULLI:
        events = total if rule[FAMILY] == POISSON else n
        return events_mixture(events, rule[RHO])
    both = math.lgamma(total + 0.5) + math.lgamma(n - total + 0.5)
    return both - math.lgamma(n + 1.0) - math.log(math.pi)


def evidence_against(
    observed: Vector,
    totals: Vector,
    kept: Vector,
    rule: Vector,
    scales: Vector,
    leader: int,
    rival: int,
) -> float:
    """Return the evidence that the leader has a larger mean than a rival of a smaller one."""
    n, m = observed[leader], observed[rival]
    if rule[FAMILY] == BERNOULLI:
        successes = totals[leader] + totals[rival]
        share = successes / (n + m)
        own = own_term(BERNOULLI, share)
        return kept[leader, MIXTURE] + kept[rival, MIXTURE] - own * (n + m)
    rho = rule[RHO]
    if rule[FAMILY] != GAUSSIAN:
        events, exposure, others, theirs = totals[leader], n, totals[rival], m
        if rule[FAMILY] != POISSON:
            events, exposure, others, theirs = exposure, events, theirs, others
        mixtures = kept[leader, MIXTURE] + kept[rival, MIXTURE]
        return mixtures + least_product(events, exposure, others, theirs, rho)
    gap = totals[leader] / n - totals[rival] / m
    one, other = scales[leader] / n, scales[rival] / m
    spread = one * one * (n + rho) + other * other * (m + rho)
    penalty = math.log((1.0 + n / rho) * (1.0 + m / rho))
    return 0.5 * (gap * gap / spread - penalty)


def evidence_above(
    n: float, total: float, mixture: float, value: float, rule: Vector, scale: float
) -> float:
    """Return the evidence that an arm's mean is above a value below its observed mean."""
    if rule[FAMILY] == BERNOULLI:
        failures = n - total
        likelihood = total * math.log(value)
        if failures > 0.0:
            likelihood += failures * math.log(1.0 - value)
        return mixture - likelihood
    rho = rule[RHO]
    if rule[FAMILY] == POISSON:
        return events_ratio(total, n * value, mixture, rho)
    if rule[FAMILY] != GAUSSIAN:
        return events_ratio(n, total / value, mixture, rho)
    s = (total / n - value) * n / (scale * math.sqrt(n + rho))
    return one_sided(s) - 0.5 * math.log(1.0 + n / rho)


def one_sided(s: float) -> float:
    """Return log 2 + s^2/2 + log Phi(s) for s at least 0."""
    return math.log(2.0 - math.erfc(s * math.sqrt(0.5))) + 0.5 * s * s


def upper_limit(n: float, total: float, mixture: float, rule: Vector, scale: float) -> float:
    """Return the upper confidence limit of an arm's mean."""
    mean = total / n
    if rule[FAMILY] == BERNOULLI:
        own = own_term(BERNOULLI, mean)
        return upper_bernoulli(mean, own, (rule[LIMIT] - mixture) / n + own, 0.0)
    rho = rule[RHO]
    if rule[FAMILY] != GAUSSIAN:
        return events_upper(rule[FAMILY], n, total, mixture, rule[LIMIT], rho)
    target = rule[LIMIT] + 0.5 * math.log(1.0 + n / rho)
    s = math.sqrt(2.0 * target)
    for _ in range(STEPS):  # Newton's method descends to the root, as the left side is convex
        density = 2.0 * math.exp(-0.5 * s * s) / math.sqrt(2.0 * math.pi)
        step = (one_sided(s) - target) / (s + density / (2.0 - math.erfc(s * math.sqrt(0.5))))
        s -= step
        if abs(step) <= 1e-14 * s:
            break
    return mean + scale * math.sqrt(n + rho) * s / n
