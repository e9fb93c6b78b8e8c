"""The mixture of Bernoulli likelihoods over Beta(1/2, 1/2), to full precision at any counts."""

from __future__ import annotations

import math

import numpy as np

from halfseen.checks import Vector

MANY = 1e3  # from this value on, Stirling's series is exact in double precision


def log_mixture(successes: Vector, failures: Vector) -> Vector:
    r"""Return the log of the mixture divided by the largest likelihood.

    .. math:: \log\frac{B(S+\frac12,F+\frac12)}{B(\frac12,\frac12)}
              -S\log\frac Sn-F\log\frac Fn,\qquad n=S+F

    Terms of order n are cancelled analytically, since their difference would lose most digits.
    """
    n = successes + failures
    return _half_up(successes) + _half_up(failures) - one_up(n) - math.log(math.pi)


def _half_up(x: Vector) -> Vector:
    """Return log Gamma(x + 1/2) - x log x + x."""
    from scipy.special import gammaln, xlogy

    many = np.maximum(x, MANY)
    series = 0.5 * math.log(2.0 * math.pi) - (1.0 - 7.0 / many / many / 120.0) / many / 24.0
    few = np.minimum(x, MANY)
    return np.where(x > MANY, series, gammaln(few + 0.5) - xlogy(few, few) + few)


def one_up(x: Vector) -> Vector:
    """Return log Gamma(x + 1) - x log x + x."""
    from scipy.special import gammaln, xlogy

    many = np.maximum(x, MANY)
    series = 0.5 * np.log(2.0 * math.pi * many) + (1.0 - 1.0 / many / many / 30.0) / many / 12.0
    few = np.minimum(x, MANY)
    return np.where(x > MANY, series, gammaln(few + 1.0) - xlogy(few, few) + few)
