"""Confidence sequences: intervals for a mean that hold after every observation at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.theory.anytime.beta_mixture import log_mixture
from halfseen.theory.anytime.gamma_mixture import mean_limits
from halfseen.theory.anytime.samples import Samples, risk, samples
from halfseen.theory.lower.least_divergence import bernoulli

LARGEST_LOGIT = 745.0  # beyond, a probability or its complement underflows
HALVINGS = 64
MANY = 1e6  # number of observations from which likelihoods are compared by their difference


class ConfidenceLimits(NamedTuple):
    """Lower and upper confidence limits, one of each per arm."""

    low: Vector
    high: Vector


def confidence_sequence(
    observed: Sequence[float] | Vector,
    total: Sequence[float] | Vector,
    *,
    level: float = 0.95,
    side: str = "both",
    noise: float | Sequence[float] | Vector = 1.0,
    rho: float = 10.0,
    reward: str = "gaussian",
) -> ConfidenceLimits:
    r"""Return limits of each arm's mean that hold at every round at once.

    With n observed rewards of mean m and sub-Gaussian scale sigma,

    .. math:: |m-\mu|\le\frac{\sigma}{n}\sqrt{(n+\rho)\bigl(2\log\tfrac1\alpha
              +\log(1+\tfrac n\rho)\bigr)}\quad\text{for all }n,

    fails with probability at most :math:`\alpha=1-` level. One limit alone is
    :math:`\sigma\sqrt{n+\rho}\,s/n` away from m, where :math:`\log2-\frac12\log(1+n/\rho)
    +s^2/2+\log\Phi(s)=\log(1/\alpha)`. For rewards of 0 or 1, with S successes, the limits are the
    ends of the set of all q with

    .. math:: \log\frac{B(S+\frac12,n-S+\frac12)}{B(\frac12,\frac12)}-S\log q-(n-S)\log(1-q)
              \le\log\tfrac1\alpha .

    For Poisson rewards with sum S and :math:`(N,x)=(S,n\mu)`, and for exponential ones with
    :math:`(N,x)=(n,S/\mu)`, they are the ends of the set of all :math:`\mu` with

    .. math:: \log\frac{\rho^\rho\,\Gamma(\rho+N)}{\Gamma(\rho)\,(\rho+x)^{\rho+N}}+x
              \le\log\tfrac1\alpha .

    Parameters
    ----------
    observed
        Number of observed rewards of each arm.
    total
        Sum of the observed rewards of each arm.
    level
        Probability, for each arm separately, that its limits hold at every round.
    side
        ``"both"``, or ``"low"`` or ``"high"`` for a single limit; the other one is infinite. For
        rewards that are not Gaussian the limit is the same as for ``"both"``, and the other one is
        the end of the range: 0, and 1 or infinity.
    noise
        Sub-Gaussian scale of the rewards, one number or one per arm; only Gaussian rewards need it.
    rho
        Determines when the limits are tightest: at 95%, after about 8 rho observations.
        `tightest_rho` returns the best value for any number of observations. Choose it before
        looking at the data. For Poisson rewards it counts events, the sum of the rewards; it is
        not used for Bernoulli rewards.
    reward
        ``"gaussian"`` (any sub-Gaussian law), ``"bernoulli"`` (any law between 0 and 1),
        ``"poisson"`` or ``"exponential"``.

    Returns
    -------
    ConfidenceLimits
        The limits ``low`` and ``high``; the ends of the range where nothing was observed. With
        few events the lower limit of Poisson rewards may be 0, and the upper one of exponential
        rewards infinite.

    Notes
    -----
    The observed rewards of an arm, in the order in which they arrive, are independent and
    identically distributed whatever the policy does, as long as being observed does not depend on
    the reward. A sequence valid for all n is therefore valid at all rounds and at any stopping
    time, however the arms were chosen. The Bernoulli sequence holds for all laws on [0, 1]: with
    :math:`x\in[0,1]`, :math:`u^xv^{1-x}\le xu+(1-x)v`. The Poisson sequence holds for all laws
    with :math:`E\,\theta^x\le e^{\mu(\theta-1)}`, the exponential one for all with
    :math:`E\,e^{-(\theta-1)x/\mu}\le1/\theta`, such as Gamma laws of shape 1 or more.

    References
    ----------
    Robbins (1970); Howard, Ramdas, McAuliffe, Sekhon (2021), the normal, the beta-binomial and the
    gamma-exponential mixture.

    Examples
    --------
    >>> low, high = confidence_sequence([100], [50.0], rho=1)
    >>> round(float(high[0]) - 0.5, 6)
    0.327302
    >>> low, high = confidence_sequence([100], [30], reward="bernoulli")
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.1657], [0.4628])
    >>> low, high = confidence_sequence([100], [150], reward="poisson")
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([1.1539], [1.9046])
    """
    side = checks.one_of("side", side, ("both", "low", "high"))
    return limits(samples(observed, total, noise, rho, reward), risk(level), side)


def limits(seen: Samples, alpha: float, side: str) -> ConfidenceLimits:
    """Return limits for validated samples, each failing with probability at most alpha."""
    if seen.family == "bernoulli":
        least, greatest = 0.0, 1.0
        low, high = _bernoulli(seen, alpha)
    elif seen.family != "gaussian":
        least, greatest = 0.0, math.inf
        low, high = mean_limits(seen, math.log(1.0 / alpha))
    else:
        least, greatest = -math.inf, math.inf
        half = np.where(seen.observed > 0.0, _half_width(seen, alpha, side), np.inf)
        centre = np.where(seen.observed > 0.0, seen.means, 0.0)
        low, high = centre - half, centre + half
    if side == "low":
        high = np.full_like(low, greatest)
    elif side == "high":
        low = np.full_like(high, least)
    return ConfidenceLimits(low, high)


def tightest_rho(observed: float, *, level: float = 0.95) -> float:
    r"""Return the rho whose two-sided confidence sequence is tightest after n observations.

    .. math:: \rho=\frac{n}{x-1},\qquad x-1-\log x=2\log\tfrac1\alpha,\quad x>1

    Parameters
    ----------
    observed
        Number n of observations at which the interval should be tightest.
    level
        Level of the confidence sequence.

    Returns
    -------
    float
        The best rho.

    References
    ----------
    Howard, Ramdas, McAuliffe, Sekhon (2021), section 3.5.

    Examples
    --------
    >>> round(tightest_rho(100), 6)
    12.177349
    """
    from scipy.special import lambertw

    count = checks.number("observed", observed, above=0.0)
    root = -float(lambertw(-(risk(level) ** 2) / math.e, -1).real)
    return count / (root - 1.0)


def _half_width(seen: Samples, alpha: float, side: str) -> Vector:
    """Return the distance of the limits from the mean; meaningless where nothing was observed."""
    counts = np.maximum(seen.observed, 1e-300)
    grown = np.log1p(counts / seen.rho)
    if side == "both":
        deviations = np.sqrt(2.0 * math.log(1.0 / alpha) + grown)
    else:
        deviations = one_sided_deviations(math.log(1.0 / alpha) + grown / 2.0)
    return seen.noise * np.sqrt(counts + seen.rho) * deviations / counts


def one_sided_deviations(target: Vector) -> Vector:
    """Solve log 2 + s^2/2 + log Phi(s) = target for s > 0.

    The left side is convex and exceeds s^2/2, so Newton's method from sqrt(2 target) falls to the
    root.
    """
    from scipy.special import log_ndtr

    s = np.sqrt(2.0 * target)
    for _ in range(50):
        tail = log_ndtr(s)
        excess = math.log(2.0) + s * s / 2.0 + tail - target
        density = np.exp(-s * s / 2.0 - tail) / math.sqrt(2.0 * math.pi)
        step = excess / (s + density)
        s = s - step
        if np.all(np.abs(step) <= 1e-15 * s):
            break
    return s


def _bernoulli(seen: Samples, alpha: float) -> tuple[Vector, Vector]:
    """Solve for the limits by bisection on the logit of q, on either side of the observed mean."""
    from scipy.special import betaln, expit

    n, successes = seen.observed, seen.total
    failures = n - successes
    constant = betaln(successes + 0.5, failures + 0.5) - betaln(0.5, 0.5) + math.log(alpha)
    many = n > MANY
    shares = np.where(many, successes / np.maximum(n, 1.0), 0.5)
    small = log_mixture(successes, failures) + math.log(alpha)

    def rejected(logit: Vector) -> NDArray[np.bool_]:
        likelihood = successes * np.logaddexp(0.0, -logit) + failures * np.logaddexp(0.0, logit)
        if not many.any():
            return constant + likelihood > 0.0
        apart = bernoulli(shares, expit(logit) - shares, 1.0)  # without cancellation
        return np.where(many, small + np.maximum(n, 1.0) * apart, constant + likelihood) > 0.0

    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.clip(np.log(successes / failures), -LARGEST_LOGIT, LARGEST_LOGIT)
    centre = np.where(n > 0.0, centre, 0.0)
    ends = []
    for far in (-LARGEST_LOGIT, LARGEST_LOGIT):
        inner, outer = centre, np.full_like(centre, far)
        for _ in range(HALVINGS):
            middle = (inner + outer) / 2.0
            out = rejected(middle)
            inner, outer = np.where(out, inner, middle), np.where(out, middle, outer)
        ends.append(expit(outer))
    low = np.where(successes == 0.0, 0.0, ends[0])
    high = np.where(failures == 0.0, 1.0, ends[1])
    return low, high
