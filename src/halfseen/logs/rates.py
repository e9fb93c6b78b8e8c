"""How often each arm is seen: exact intervals, and intervals that borrow from the other arms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.logs.group_sums import distinct_pairs

FEW_ARMS = 20  # below, the law of rates across arms is too uncertain for an interval


@dataclass(frozen=True, repr=False)
class RatePrior(Shown):
    """The distribution of rates across arms: a beta law given by mean and prior sample size.

    Attributes
    ----------
    mean
        The rate of a typical arm.
    worth
        Prior sample size: the number of rows at which an arm's own data weigh as much as the prior.
    arms
        How many arms it was fitted to; None if it is known.
    """

    mean: float
    worth: float
    arms: int | None = None

    def posterior(self, seen: NDArray[Any], rows: NDArray[Any]) -> tuple[Vector, Vector]:
        """Return the two parameters of each arm's beta law."""
        first = self.worth * self.mean + seen
        return first, self.worth * (1.0 - self.mean) + rows - seen


def fit_prior(seen: NDArray[Any], rows: NDArray[Any], *, doubt: float = math.inf) -> RatePrior:
    r"""Fit the law of rates across arms by maximum likelihood.

    .. math:: \max_{m, s} \sum_a \log\frac{B(sm + k_a, s(1-m) + n_a - k_a)}{B(sm, s(1-m))}

    Parameters
    ----------
    seen, rows
        Rewards seen and decisions made, per arm.
    doubt
        Lets arms differ until the log says otherwise: a worth of s is a priori as likely as
        1/(1 + s/doubt). Infinite, every worth is as likely.

    Returns
    -------
    RatePrior
        The fit; of a single arm Jeffreys' prior, which borrows next to nothing.

    Notes
    -----
    Where arms differ no more than by chance, the most likely law is a single rate and nothing would
    be left to chance; so no prior is worth more rows than it was fitted to.

    References
    ----------
    Efron, Morris (1975), Data analysis using Stein's estimator and its generalizations.

    Examples
    --------
    >>> fit = fit_prior(np.array([10, 50, 90]), np.array([100, 100, 100]))
    >>> round(fit.mean, 3), round(fit.worth, 2)
    (0.5, 1.85)
    """
    from scipy.optimize import minimize
    from scipy.special import betaln, expit, logit

    if len(seen) < 2:
        return RatePrior(0.5, 1.0, len(seen))
    pairs, _, times = distinct_pairs(np.asarray(seen, float), np.asarray(rows - seen, float))
    hits, misses = np.ascontiguousarray(pairs.T)
    pooled = float(np.clip((hits * times).sum() / ((hits + misses) * times).sum(), 1e-9, 1 - 1e-9))

    def loss(place: Vector) -> float:
        mean, worth = float(expit(place[0])), math.exp(place[1])
        a, b = worth * mean, worth * (1.0 - mean)
        fit = float(times @ (betaln(a + hits, b + misses) - betaln(a, b)))
        return math.log1p(worth / doubt) - fit

    most = math.log(max(float(rows.sum()), 2.0))
    limits = [(-25.0, 25.0), (math.log(1e-3), most)]
    starts = [(float(logit(pooled)), min(math.log(worth), most)) for worth in (2.0, 200.0)]
    fits = [minimize(loss, start, method="L-BFGS-B", bounds=limits) for start in starts]
    best = min(fits, key=lambda fit: fit.fun).x
    return RatePrior(float(expit(best[0])), math.exp(best[1]), len(seen))


def shrunken_interval(
    seen: NDArray[Any], rows: NDArray[Any], prior: RatePrior, level: float = 0.95
) -> tuple[Vector, Vector, Vector]:
    """Return each arm's rate shrunken towards the others, with its interval.

    Parameters
    ----------
    seen, rows
        Rewards seen and decisions made, per arm.
    prior
        The law of rates across arms.
    level
        Level of the interval.

    Returns
    -------
    rate, low, high
        The mean and the quantiles of the beta law of each arm.

    Notes
    -----
    Fewer than 20 arms tell too little about their law: a prior fitted to three arms covered 75% to
    95%. The interval is then joined with the arm's own, by Jeffreys' prior. With more arms it holds
    the truth of 95 in 100 arms, not of an arm that is unlike all others.

    Examples
    --------
    >>> rate, low, high = shrunken_interval(np.array([0]), np.array([10]), RatePrior(0.5, 2.0))
    >>> round(float(rate[0]), 4), round(float(low[0]), 4), round(float(high[0]), 4)
    (0.0833, 0.0023, 0.2849)
    """
    from scipy.special import betaincinv

    a, b = prior.posterior(seen, rows)
    tail = (1.0 - level) / 2.0
    low, high = betaincinv(a, b, tail), betaincinv(a, b, 1.0 - tail)
    if prior.arms is not None and prior.arms < FEW_ARMS:
        own = seen + 0.5, rows - seen + 0.5
        low = np.minimum(low, betaincinv(*own, tail))
        high = np.maximum(high, betaincinv(*own, 1.0 - tail))
    return a / (a + b), low, high
