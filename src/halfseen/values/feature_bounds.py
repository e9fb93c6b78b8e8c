r"""Bounds on a policy's value if missing rewards differ from seen ones with the same features.

The Gamma model of `halfseen.logs.missing_bounds` at each arm and features x: the missing rewards
have a mean between two expectiles of the rewards seen with that arm and x. An expectile needs of
their law the mean q and what rewards exceed each v by, :math:`C(v) = E (R - v)_+`: that at odds
that differ Gamma-fold solves :math:`(\Gamma - 1) C(e) = e - q`. C is regressed on the features at
a few places v, and is linear in between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.logs.missing_bounds import HUGE
from halfseen.values.gamma_value import means_at
from halfseen.values.influence import Influence
from halfseen.values.log_groups import LogGroups
from halfseen.values.nuisances import NuisanceModel, mean_excess
from halfseen.values.rare_rewards import RareRewards
from halfseen.values.value_bounds import Bound, GammaBounds, both_bounds

FEW_VALUES = 10  # distinct rewards up to which each is a place where C is regressed
PLACES = 8  # places between the smallest and the largest of other rewards
PLACES_OF_TREES = 4


@dataclass(frozen=True, eq=False)
class RewardTails(ByValue):
    """The law of the reward of each decision's arm at its features, as expectiles need it.

    Attributes
    ----------
    fitted
        q, its mean.
    start, scale, places
        C is known at q + start + scale place, for each of the places.
    excess
        C there, one column for each place between the first and the last.
    ends
        The smallest and the largest reward seen.
    """

    fitted: Vector
    start: Vector
    scale: Vector
    places: Vector
    excess: Vector
    ends: tuple[float, float]

    def expectile(self, tilt: float, rows: NDArray[np.bool_]) -> tuple[Vector, Vector]:
        """Return the expectile of rewards that count `tilt` times above it, and its steepness.

        Of some rows. The steepness is :math:`1 + (t - 1) P(R > e)`, by which the equation falls.
        """
        fitted, excess = self.fitted[rows], self.excess[rows]
        above, steep = np.zeros(len(fitted)), np.ones(len(fitted))
        if tilt in (0.0, math.inf):
            return above + self.ends[int(tilt > 0.0)], steep
        before = self.at(0)[rows]
        left = -tilt * before  # C is q - v below all rewards
        for k in range(1, len(self.places)):
            here = self.at(k)[rows]
            more = excess[:, k - 1] if k < len(self.places) - 1 else np.zeros(len(fitted))
            right = (tilt - 1.0) * more - here
            inside = (left > 0.0) & (right <= 0.0)
            fall = np.divide(left - right, here - before, out=np.ones_like(here), where=inside)
            above = np.where(inside, before + left / fall, above)
            steep = np.where(inside, fall, steep)
            before, left = here, right
        return fitted + above, steep

    def at(self, k: int) -> Vector:
        """Return place k less q, clipped at 0 where the first or last place is beyond q."""
        found = self.start + self.scale * self.places[k]
        if k == 0:
            return np.minimum(found, 0.0)
        return np.maximum(found, 0.0) if k == len(self.places) - 1 else np.asarray(found)


def reward_tails(log: LogGroups, model: NuisanceModel, fitted: Vector) -> RewardTails:
    """Regress on the features what rewards exceed some places by.

    Rewards of few values have these as places, so that nothing is between them; of others, what
    they differ from q by in units of its spread, which has about the same law for all features.
    """
    sample, seen = log.sample, log.sample.seen
    values, one = np.unique(sample.reward[seen]), np.ones(len(log.arm))
    ends = float(values[0]), float(values[-1])
    if len(values) <= FEW_VALUES:
        base, scale, places, start = 0.0 * one, one, values, -fitted
    else:
        base, start = fitted, 0.0 * one
        away = np.where(seen, sample.reward - fitted, 0.0)
        number = np.maximum(np.bincount(log.arm, seen), 1.0)
        spread = np.sqrt(np.bincount(log.arm, away**2) / number)
        scale = np.where(spread > 0.0, spread, 1.0)[log.arm]
        count = PLACES_OF_TREES if model.outcome == "trees" else PLACES
        places = np.unique(np.quantile((away / scale)[seen], np.linspace(0.0, 1.0, count + 2)))
    excess = mean_excess(log, model, base, scale, places[1:-1]) * scale[:, None]
    found = RewardTails(fitted, start, scale, places, excess, ends)
    before, most = found.at(0), found.at(len(places) - 1)
    share = np.divide(-before, most - before, out=np.zeros_like(most), where=most > before)
    last = -before
    for k in range(1, len(places) - 1):  # no law of mean q has more, or less
        here = np.clip(found.at(k), before, most)
        least = np.maximum(last - (here - before), np.maximum(-here, 0.0))
        greatest = np.maximum(np.minimum(last, share * (most - here)), least)
        excess[:, k - 1] = last = np.clip(excess[:, k - 1], least, greatest)
        before = here
    return found


@dataclass(frozen=True, eq=False)
class FeatureBounds(ByValue):
    """The bounds of a policy's value, or of a difference of two.

    Attributes
    ----------
    log
        The decisions.
    tails
        The laws of their rewards.
    rare
        The rare rewards that may be absent by chance.
    observe
        Their probabilities of being seen.
    shares
        Weights w of each policy over their mean, with a minus sign for the second.
    drawn
        Whether shares of arms stand in for the propensities of each policy's weights.
    robust
        The DR values of the policy, or their difference; None where it is known for logged arms
        only.
    """

    log: LogGroups
    tails: RewardTails
    rare: RareRewards
    observe: Vector
    shares: tuple[Vector, ...]
    drawn: tuple[bool, ...]
    robust: Influence | None
    given = "with equal features"

    @cached_property
    def weight(self) -> Vector:
        """The weights of the value, or of the difference."""
        return np.sum(self.shares, axis=0)

    def at(self, gamma: float) -> GammaBounds:
        r"""Bound the value, or the difference, at one Gamma.

        .. math:: \phi = \phi_{DR} + u + \tilde w\,(m - m_1 - u), \quad
           m = O R + (1 - O) e + O \frac{1 - p}{p} \frac{\Gamma (R - e)_+ - (e - R)_+}{D}

        with the expectile e and its steepness D, :math:`m_1 = q + O (R - q)/p`, which is m at Gamma
        1, and the mean u of :math:`\tilde w (m - m_1)` for weights divided by their mean.
        """
        low, high = self.worst
        if not math.isinf(gamma):
            low = max(low, self._end(gamma, lower=True))
            high = min(high, self._end(gamma, lower=False))
        return both_bounds(gamma, low, high)

    @cached_property
    def worst(self) -> tuple[Bound, Bound]:
        """The ends, with their errors, if missing rewards are at the extremes seen.

        Around those at Gamma 1. No Gamma gives more, though where few rewards are above a place the
        regression may.
        """
        low, high = ((self._end(math.inf, lower), self._end(1.0, lower)) for lower in (True, False))
        return min(low), max(high)

    def _end(self, gamma: float, lower: bool) -> Bound:
        sample = self.log.sample
        known, slopes, between = self._completed(gamma, lower)
        values = np.zeros(len(known)) if self.robust is None else self.robust.values
        base = np.zeros(len(known)) if self.robust is None else self.robust.slopes
        for share, drawn in zip(self.shares, self.drawn, strict=True):
            added = sample.mean(share * known)
            own = share * known - added * np.abs(share)
            if drawn:
                of_context, of_cell = (
                    means_at(sample.count, own, by) for by in (self.log.context, self.log.cell)
                )
                own = own + of_context - of_cell
            values = values + added + own
        found = Influence(values, base + self.weight * slopes)
        lacking = self.rare.variance(base + self.weight * between)
        return Bound.of(found, lacking, self.rare, self.log.cell)

    def _completed(self, gamma: float, lower: bool) -> tuple[Vector, Vector, Vector]:
        """Return m of each decision, less that at Gamma 1 if DR has it.

        And its derivative in the reward, and that between the most frequent reward and others.
        """
        sample, seen = self.log.sample, self.log.sample.seen
        smallest = self.weight >= 0.0 if lower else self.weight < 0.0
        mean, steep = np.empty(len(seen)), np.empty(len(seen))
        for side, factor in ((smallest, 1.0 / gamma), (~smallest, gamma)):
            mean[side], steep[side] = self.tails.expectile(factor, side)
        tilt, odds = np.ones(len(seen)), np.zeros(len(seen))
        if not math.isinf(gamma):
            tilt = np.where(smallest, 1.0 / gamma, gamma)
            odds = np.where(seen, (1.0 - self.observe) / self.observe, 0.0)
        away = sample.reward - mean
        heavy = odds * np.where(away > 0.0, tilt, 1.0) / steep
        known = np.where(seen, sample.reward + heavy * away, mean)
        rate = tilt / steep if self.rare.two_values else np.maximum(tilt, 1.0)
        slopes, between = seen + heavy, seen + odds * rate / steep
        if self.robust is None:
            return known, slopes, between
        inverse, fitted = np.where(seen, 1.0 / self.observe, 0.0), self.tails.fitted
        known = known - fitted - inverse * (sample.reward - fitted)
        return known, slopes - inverse, between - inverse

    def tipping(self) -> float:
        """Return the smallest Gamma at which the difference may be 0; infinite if none is."""
        sample = self.log.sample
        robust = 0.0 if self.robust is None else self.robust.estimate(sample)

        def end(gamma: float, lower: bool) -> float:
            known, _, _ = self._completed(gamma, lower)
            found = robust + sample.mean(self.weight * known)
            return max(found, self.worst[0].value) if lower else min(found, self.worst[1].value)

        estimate, most = end(1.0, lower=True), math.log(HUGE)
        sign, lower = math.copysign(1.0, estimate), estimate > 0.0
        if estimate == 0.0 or not self.weight.any():
            return 1.0
        if sign * end(HUGE, lower) > 0.0:
            return math.inf
        root = brentq(lambda power: sign * end(math.exp(power), lower), 0.0, most, xtol=1e-9)
        return math.exp(root)
