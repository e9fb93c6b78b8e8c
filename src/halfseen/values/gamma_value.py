r"""Bounds on a policy's value if missing rewards differ from the ones seen.

The Gamma model of `halfseen.logs.missing_bounds`, cell by cell (context and arm). It needs no
probability of being seen: the missing rewards of a cell have a mean between two expectiles of the
rewards seen there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.logs.group_sums import sum_by
from halfseen.logs.missing_bounds import HUGE, expectile_bounds
from halfseen.logs.seen_rewards import SeenRewards
from halfseen.values.influence import Influence, Sample
from halfseen.values.log_groups import LogGroups
from halfseen.values.rare_rewards import RareRewards
from halfseen.values.target_policy import PolicyOnLog
from halfseen.values.value_bounds import Bound, GammaBounds, both_bounds


@dataclass(frozen=True, eq=False)
class Part(ByValue):
    """A policy's weights, divided by their mean.

    Attributes
    ----------
    weight
        They, with a minus sign for the policy that is taken from another.
    drawn
        Cell and context of each group if shares of arms stand in for propensities, else None.
    """

    weight: Vector
    drawn: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None


@dataclass(frozen=True, eq=False)
class Cells(ByValue):
    """Which cell each group of decisions belongs to, and the rewards seen in each.

    Attributes
    ----------
    sample
        The decisions.
    cell
        The number of each group's cell.
    known
        The cells with rewards.
    rewards
        Their rewards.
    emphasis
        How much each group's rewards count in its cell.
    parts
        The policies that the weights come from; none if their means are taken as they are.
    """

    sample: Sample
    cell: NDArray[np.int64]
    known: NDArray[np.int64]
    rewards: SeenRewards
    emphasis: Vector
    parts: tuple[Part, ...] = ()

    @property
    def cells(self) -> int:
        """The number of cells."""
        return int(self.cell.max()) + 1

    @cached_property
    def rare(self) -> RareRewards:
        """The rewards that chance may have left out."""
        return RareRewards(self.sample, (self.cell,))

    def missing_mean(self, gamma: float) -> tuple[Vector, Vector]:
        """Return the bounds of the mean of each cell's missing rewards.

        Where no reward was seen they are the ends of all rewards seen.
        """
        low, high = np.full(self.cells, self.rewards.least), np.full(self.cells, self.rewards.most)
        if not math.isinf(gamma) and len(self.known):
            low[self.known], high[self.known] = expectile_bounds(self.rewards, gamma)
        return low, high


def in_cells(sample: Sample, cell: NDArray[np.int64], weight: Vector | None = None) -> Cells:
    """Sort the rewards of some decisions by cell and value.

    Parameters
    ----------
    sample
        The decisions, with at least one reward.
    cell
        The number of each group's cell.
    weight
        Weights w of a policy, or of a difference, that differ between the decisions of a cell:
        decisions looked at more than the cell, and rewards may be tied to what they looked at.
        Then a reward counts as much as its weight, and those of positive and of negative weight are
        in cells of their own. Left out, all rewards of a cell count alike.
    """
    emphasis = np.ones(len(cell)) if weight is None else np.abs(weight)
    if weight is not None and (weight < 0.0).any():
        cell = 2 * cell + (weight < 0.0)
    seen = np.flatnonzero(sample.seen & (sample.count * emphasis > 0.0))
    least, most = sample.reward[sample.seen].min(), sample.reward[sample.seen].max()
    order = seen[np.lexsort((sample.reward[seen], cell[seen]))]
    places, values = cell[order], sample.reward[order]
    first = np.flatnonzero((np.diff(places, prepend=-1) != 0) | (np.diff(values, prepend=0.0) != 0))
    mass = (sample.count * emphasis)[order]
    counts = np.add.reduceat(mass, first) if len(first) else mass
    within = np.zeros(len(counts))
    places, values = places[first], values[first]  # one entry for equal rewards of a cell
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    totals: Any = np.add.reduceat(counts, starts) if len(starts) else counts
    rewards = SeenRewards(
        names=tuple(map(str, places[starts].tolist())),
        never_seen=(),
        left_out=0,
        rows=sum_by(cell, sample.count)[places[starts]],
        seen=totals,
        starts=starts,
        values=values,
        counts=counts,
        within=within,
        least=float(least),
        most=float(most),
    )
    return Cells(sample, cell, places[starts], rewards, emphasis)


@dataclass(frozen=True, eq=False)
class CellBounds(ByValue):
    """The bounds of a policy's value, or of a difference of two.

    Attributes
    ----------
    cells
        The decisions in cells.
    weight
        Weights of the value or of the difference.
    """

    cells: Cells
    weight: Vector
    given = "in a context"

    def at(self, gamma: float) -> GammaBounds:
        """Bound it at one Gamma."""
        return gamma_bounds(self.cells, self.weight, gamma)

    def tipping(self) -> float:
        """Return the smallest Gamma at which it may be 0."""
        return tipping(self.cells, self.weight)


def weighted_cells(
    log: LogGroups, policies: Sequence[PolicyOnLog], weights: Sequence[Vector]
) -> list[CellBounds]:
    """Return the bounds of the first policy's value, then of its difference from the second.

    Weights are divided by their mean, so that the value of a constant reward is that constant.

    Parameters
    ----------
    log
        The decisions.
    policies
        One or two.
    weights
        w of each.
    """
    sample, drawn = log.sample, None if log.propensity is not None else (log.cell, log.context)
    parts = [
        Part(sign * w / sample.mean(w), None if policy.is_logging else drawn)
        for sign, policy, w in zip((1.0, -1.0), policies, weights, strict=False)
    ]
    found = []
    for number in range(1, len(parts) + 1):
        weight = np.sum([part.weight for part in parts[:number]], axis=0)
        cells = in_cells(sample, log.cell, weight)
        found.append(CellBounds(replace(cells, parts=tuple(parts[:number])), weight))
    return found


def gamma_bounds(cells: Cells, weight: Vector, gamma: float) -> GammaBounds:
    r"""Bound the value of a policy, or a difference of two, at one Gamma.

    .. math:: \phi = w [O R + (1 - O) e] + O \frac{\sum_{missing} w}{n_{seen}} \psi(R)

    with the expectile e of the cell, its rewards weighted as `in_cells` says, and psi of
    `halfseen.logs.missing_bounds.mean_bounds`. For a difference w is the difference of the weights,
    and where a cell's missing weigh less than 0 its largest value has their smallest mean. Weights
    that were divided by their mean add -V (w - 1), with V the policy's part of the bound.

    Parameters
    ----------
    cells
        The decisions in cells.
    weight
        w of each group: probability under the policy over propensity.
    gamma
        How many times the odds of being seen differ at most; infinite for any missing reward.
    """
    low, high = cells.missing_mean(gamma)
    sample, cell = cells.sample, cells.cell
    lacking = sum_by(cell, np.where(sample.seen, 0.0, sample.count * weight), cells.cells)
    found = []
    for lower in (True, False):
        smallest = (lacking >= 0.0) if lower else (lacking < 0.0)
        mean = np.where(smallest, low, high)
        tilt = np.where(smallest, 1.0 / gamma, gamma)
        values = _influence(cells, weight, lacking, mean, tilt)
        more = cells.rare.variance(_slopes_of_rare(cells, weight, lacking, tilt))
        found.append(Bound.of(values, more, cells.rare, cell))
    return both_bounds(gamma, *found)


def _influence(
    cells: Cells, weight: Vector, lacking: Vector, mean: Vector, tilt: Vector
) -> Influence:
    sample, cell = cells.sample, cells.cell
    away = sample.reward - mean[cell]
    heavy = np.where(away > 0.0, tilt[cell], 1.0) * cells.emphasis
    number = np.where(sample.seen, sample.count, 0.0)
    slopes = np.zeros(len(cell))
    usable = np.isfinite(tilt[cell]) & (tilt[cell] > 0.0) & sample.seen
    # psi is (R - e) heavy over the mean of heavy among the seen, and that mean times their number
    # is the sum.
    total = sum_by(cell, np.where(usable, number * heavy, 0.0), cells.cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(total > 0.0, lacking / total, 0.0)[cell] * heavy
    slopes[usable] = scaled[usable]
    known, turned = np.where(sample.seen, sample.reward, mean[cell]), slopes * away
    rate = known + np.divide(turned, weight, out=np.zeros(len(cell)), where=weight != 0.0)
    values = weight * known + turned + _of_divisors(cells, rate)
    return Influence(values, np.where(sample.seen, weight, 0.0) + slopes)


def _slopes_of_rare(cells: Cells, weight: Vector, lacking: Vector, tilt: Vector) -> Vector:
    r"""Return how much a bound changes with a reward that is not the most frequent one.

    Where rewards have two values and s is the share of the larger one, the expectile does by
    :math:`t/(t s + 1 - s)^2` for the tilt t; where nearly all are equal, by t or by 1.
    """
    rewards, known = cells.rewards, cells.known
    share = (rewards.mean - rewards.least) / max(rewards.most - rewards.least, 1e-300)
    per_reward = np.zeros(cells.cells)
    finite = np.isfinite(tilt[known])
    t = np.where(finite, tilt[known], 0.0)
    rate = t / np.maximum(t * share + 1.0 - share, 1e-9) ** 2
    if not cells.rare.two_values:
        rate = np.where(t > 0.0, np.maximum(t, 1.0), 0.0)
    per_reward[known] = lacking[known] / rewards.seen * rate
    return np.where(cells.sample.seen, weight + cells.emphasis * per_reward[cells.cell], 0.0)


def _of_divisors(cells: Cells, rate: Vector) -> Vector:
    """Return what the means of weights, and the shares of arms, that divide add to influence.

    The rate is by how much a decision's value changes with its weight.
    """
    sample, added = cells.sample, np.zeros(len(rate))
    for part in cells.parts:
        own = part.weight * rate
        change = -sample.mean(own) * (np.abs(part.weight) - 1.0)
        added += change
        if part.drawn is not None:
            cell, context = (means_at(sample.count, own + change, of) for of in part.drawn)
            added += context - cell
    return added


def means_at(count: Vector, values: Vector, groups: NDArray[np.int64]) -> Vector:
    """Return the mean of each group's decisions, at each of its entries."""
    size = np.maximum(sum_by(groups, count), 1.0)
    return np.asarray((sum_by(groups, count * values) / size)[groups])


def tipping(cells: Cells, weight: Vector) -> float:
    """Return the smallest Gamma at which a difference of values may be 0.

    Parameters
    ----------
    cells
        The decisions in cells.
    weight
        The difference of the weights w of two policies.

    Returns
    -------
    float
        1 if the values are equal where missing rewards are like the seen ones, infinite if no
        finite Gamma opens the order of the values; then missing rewards of values that a cell
        never showed may still do, as `gamma_bounds` at an infinite Gamma tells.
    """
    sample, cell = cells.sample, cells.cell
    lacking = sum_by(cell, np.where(sample.seen, 0.0, sample.count * weight), cells.cells)
    parts = sample.count * (np.where(sample.seen, sample.reward, 0.0) * weight)
    known, rounding = float(parts.sum()), 1e-14 * float(np.abs(parts).sum())
    up, down = np.maximum(lacking, 0.0), np.minimum(lacking, 0.0)

    def open_at(gamma: float) -> bool:
        low, high = cells.missing_mean(gamma)
        smallest = known + up @ low + down @ high
        return bool(smallest <= rounding and -rounding <= known + up @ high + down @ low)

    if open_at(1.0):
        return 1.0
    if not open_at(HUGE):
        return math.inf
    low, high = 0.0, math.log(HUGE)
    while high - low > 1e-15 * high and (middle := (low + high) / 2.0) not in (low, high):
        low, high = (low, middle) if open_at(math.exp(middle)) else (middle, high)
    return math.exp(high)
