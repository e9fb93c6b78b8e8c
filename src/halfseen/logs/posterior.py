"""The posterior of the arms' means given a log, and draws of means and rates from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.logs.counts import Counts
from halfseen.logs.group_sums import distinct_pairs, smallest
from halfseen.logs.rates import fit_prior

DOUBT = 20.0  # prior scale, in rows, of how much arms borrow from each other
FEW = 30  # with fewer rewards, an arm's spread is at least the pooled one
CAPACITY = 2000  # arms that may be best and are compared
NODES = 801


def spreads(counts: Counts, few: int = FEW) -> Vector:
    """Return the standard deviation of every arm's rewards, never smaller than few rewards allow.

    Of rewards of 0 or 1 it is that of the share with half a success and half a failure added.
    Otherwise an arm with fewer than `few` rewards has at least the spread of all arms together.

    Parameters
    ----------
    counts
        What the log says about each arm.
    few
        Number of rewards from which an arm's own spread is used: with fewer, rare large ones may be
        absent.
    """
    if counts.binary:
        share = (counts.mean * counts.seen + 0.5) / (counts.seen + 1.0)
        return np.sqrt(share * (1.0 - share))
    freedom = np.maximum(counts.seen - 1.0, 0.0)
    variance = np.nan_to_num(counts.variance)
    pooled = float(freedom @ variance / freedom.sum()) if freedom.sum() > 0.0 else 0.0
    return np.sqrt(np.where(counts.seen < few, np.maximum(variance, pooled), variance))


@dataclass(frozen=True, eq=False)
class Beliefs(ByValue):
    """Independent normal distributions of the arms' means.

    Attributes
    ----------
    mean, deviation
        Posterior mean and standard deviation of each arm.
    """

    mean: Vector
    deviation: Vector

    def probability_best(self, arm: int) -> float:
        """Return the probability that an arm has the largest mean."""
        from scipy.special import log_ndtr

        reach = self.mean + 8.0 * self.deviation
        others = np.delete(np.arange(len(self.mean)), arm)
        low = self.mean[arm] - 8.0 * self.deviation[arm]
        others = others[reach[others] > low]
        others = others[smallest(-reach[others], CAPACITY)]
        if not len(others):
            return 1.0
        z = np.linspace(-8.0, 8.0, NODES)
        places = self.mean[arm] + self.deviation[arm] * z
        below = np.zeros(NODES)
        alike, _, times = distinct_pairs(self.mean[others], self.deviation[others])
        for (mean, deviation), count in zip(alike.tolist(), times.tolist(), strict=True):
            below += count * log_ndtr((places - mean) / deviation)
        weights = np.exp(-(z**2) / 2.0)
        return float((weights * np.exp(below)).sum() / weights.sum())


def mean_beliefs(counts: Counts) -> Beliefs:
    r"""Return normal posteriors of the means, shrunken towards each other.

    .. math:: \tau^2 = \max\Big(\frac1{\sum w},
              \frac{\sum w (m - c)^2 - K + 1}{\sum w - \sum w^2 / \sum w}\Big),
              \qquad w = n/\sigma^2,\; c = \sum w m / \sum w

    is the variance between arms; two arms are not drawn together.

    Parameters
    ----------
    counts
        Counts of arms with at least one reward seen.
    """
    spread = spreads(counts)
    scale = float(np.abs(counts.mean).max())
    spread = np.maximum(spread, max(scale, 1.0) * 1e-12)
    w = counts.seen / spread**2
    centre = float(w @ counts.mean / w.sum())
    if len(counts) < 3:
        return Beliefs(counts.mean, 1.0 / np.sqrt(w))
    excess = float(w @ (counts.mean - centre) ** 2) - len(counts) + 1.0
    room = float(w.sum() - (w**2).sum() / w.sum())
    between = max(1.0 / float(w.sum()), excess / room if room > 0.0 else 0.0)
    precision = w + 1.0 / between
    mean = (w * counts.mean + centre / between) / precision
    return Beliefs(mean, 1.0 / np.sqrt(precision))


def draw_means(counts: Counts, draws: int, rng: np.random.Generator) -> Vector:
    """Return draws of all means given a log, one row each.

    Of rewards of 0 or 1 from beta laws with a prior fitted over arms, else from `mean_beliefs`.
    """
    if not counts.binary:
        beliefs = mean_beliefs(counts)
        return beliefs.mean + beliefs.deviation * rng.standard_normal((draws, len(counts)))
    ones = np.rint(counts.mean * counts.seen)
    prior = fit_prior(ones, counts.seen, doubt=DOUBT)
    return rng.beta(*prior.posterior(ones, counts.seen), size=(draws, len(counts)))


def draw_rates(
    seen: NDArray[np.float64], rows: NDArray[np.float64], draws: int, rng: np.random.Generator
) -> Vector:
    """Return draws of all rates given effective counts, one row each, from Jeffreys' prior."""
    rates = rng.beta(seen + 0.5, rows - seen + 0.5, size=(draws, len(seen)))
    return np.clip(rates, 1e-9, 1.0)
