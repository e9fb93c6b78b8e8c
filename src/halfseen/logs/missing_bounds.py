r"""Bounds on the mean of every arm if missing rewards differ from the ones seen.

Two models. *Worst case* (Manski): a missing reward can be anything in the range of rewards. *Gamma
model*: the odds of being seen differ at most Gamma-fold between any two rewards. Then the law of
the missing rewards is that of the seen ones reweighted, no weight more than Gamma times another,
and the sharp bounds of its mean are expectiles of the rewards seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Shown, Tabular
from halfseen.equality import ByValue
from halfseen.logs.seen_rewards import SeenRewards
from halfseen.logs.values_unseen import enough_rewards, with_values_unseen
from halfseen.tables import Table, show, table

if TYPE_CHECKING:
    import altair as alt

HUGE = 1e12  # the largest finite Gamma tried
SHOWN = (1.5, 2.0, 3.0, 5.0)  # Gammas shown in tables


@dataclass(frozen=True, eq=False, repr=False)
class MeanBounds(Tabular, ByValue):
    """Bounds of every arm's mean reward, missing rewards included.

    Attributes
    ----------
    gamma
        How many times the odds of being seen differ at most between two rewards; infinite for the
        worst case.
    names
        The arms.
    low, high
        The smallest and the largest mean the model allows.
    low_error, high_error
        Their standard errors.
    enough
        Whether every arm has enough rewards for its errors to be trusted: 50, or 10 where all
        rewards of the log have one of two values.
    """

    gamma: float
    names: tuple[str, ...]
    low: Vector
    high: Vector
    low_error: Vector
    high_error: Vector
    enough: bool = True

    @property
    def safe(self) -> str:
        """The maximin arm, whose smallest possible mean is largest."""
        return self.names[int(np.argmax(self.low))]

    @cached_property
    def regrets(self) -> Vector:
        """For every arm, how much worse than another arm it can be at most."""
        if len(self.names) == 1:
            return np.zeros(1)
        first, second = np.argsort(-self.high, kind="stable")[:2]
        others = np.full(len(self.names), self.high[first])
        others[first] = self.high[second]
        return np.maximum(others - self.low, 0.0)

    @property
    def least_regret(self) -> str:
        """The minimax-regret arm."""
        return self.names[int(np.argmin(self.regrets))]

    @property
    def regret(self) -> float:
        """How much worse than another arm `least_regret` can be."""
        return float(self.regrets.min())

    def safe_shown(self, level: float = 0.95) -> bool:
        """Return whether `safe` is established beyond sampling error.

        Parameters
        ----------
        level
            Confidence level of all comparisons with it at once. An arm with few rewards cannot be
            compared.
        """
        from scipy.special import ndtri

        if len(self.names) == 1:
            return True
        best = int(np.argmax(self.low))
        needed = ndtri(1.0 - (1.0 - level) / (2.0 * (len(self.names) - 1)))
        error = np.hypot(self.low_error, self.low_error[best])
        told = self.low[best] - self.low > needed * error
        return bool(self.enough and np.delete(told, best).all())

    def widened(self, level: float = 0.95) -> MeanBounds:
        """Return bounds that hold for all arms at once, sampling error included.

        Parameters
        ----------
        level
            Confidence level.
        """
        from scipy.special import ndtri

        far = ndtri(1.0 - (1.0 - level) / (2.0 * len(self.names)))
        low, high = self.low - far * self.low_error, self.high + far * self.high_error
        return replace(self, low=low, high=high)

    @property
    def table(self) -> Table:
        """One row per arm."""
        return table(
            [
                {
                    "arm": name,
                    "low": float(self.low[i]),
                    "low error": float(self.low_error[i]),
                    "high": float(self.high[i]),
                    "high error": float(self.high_error[i]),
                    "regret at most": float(self.regrets[i]),
                }
                for i, name in enumerate(self.names)
            ]
        )

    def plot(self) -> alt.LayerChart:
        """Return a chart of the smallest and the largest mean of each arm."""
        from halfseen.report.core.arm_rows import spans

        order = np.argsort(-self.low, kind="stable")
        names, ends = [self.names[i] for i in order], ("at least", "at most")
        return spans(names, self.low[order], self.high[order], title="mean reward", ends=ends)

    def _details(self) -> list[str | Table]:
        return [self.table]

    def _headline(self) -> str:
        return (
            f"at Gamma {show(self.gamma)}, “{self.safe}” has the largest guaranteed mean,"
            f" {show(float(self.low.max()))}"
        )

    def __str__(self) -> str:
        return str(self.table)


@dataclass(frozen=True, repr=False)
class Tipping(Shown):
    """How strongly being seen must depend on the reward for another arm to be best.

    Attributes
    ----------
    best
        The arm with the largest mean among rewards seen.
    rival
        The first arm that may be as good; None if none can.
    gamma
        The smallest Gamma at which it may; 1 for a tie, infinite if none can, or only in the worst
        case: where missing rewards can be values that were never seen of an arm.
    """

    best: str
    rival: str | None
    gamma: float


def expectile_bounds(rewards: SeenRewards, gamma: float) -> tuple[Vector, Vector]:
    r"""Return the sharp bounds of the mean of each arm's missing rewards.

    .. math:: \max_k \frac{\sum_{i \le k} r_i + \Gamma \sum_{i > k} r_i}{k + \Gamma (n - k)}

    over the n sorted rewards seen; below, the minimum with :math:`1/\Gamma`.

    Parameters
    ----------
    rewards
        The rewards seen.
    gamma
        How many times the odds of being seen differ at most between two rewards.

    Returns
    -------
    low, high
        Per arm.
    """
    centre = rewards.mean
    away = rewards.values - np.repeat(centre, rewards.sizes)
    below, n = _running(rewards.counts, rewards)
    under, total = _running(away * rewards.counts, rewards)
    high = (under + gamma * (total - under)) / (below + gamma * (n - below))
    low = (gamma * under + (total - under)) / (gamma * below + (n - below))
    starts = rewards.starts
    # A rounding error must not push a bound past the mean or the extremes seen.
    last = np.append(starts[1:], len(away)) - 1
    return (
        centre + np.clip(np.minimum.reduceat(low, starts), away[starts], 0.0),
        centre + np.clip(np.maximum.reduceat(high, starts), 0.0, away[last]),
    )


def _running(values: Vector, rewards: SeenRewards) -> tuple[Vector, Vector]:
    """Return sums of each arm's cells up to each one, and each arm's total, cell by cell."""
    sums = np.cumsum(values)
    before = sums[rewards.starts] - values[rewards.starts]
    totals = np.add.reduceat(values, rewards.starts)
    return sums - np.repeat(before, rewards.sizes), np.repeat(totals, rewards.sizes)


def mean_bounds(
    rewards: SeenRewards, gamma: float = 2.0, between: tuple[float, float] | None = None
) -> MeanBounds:
    r"""Bound every arm's mean, with standard errors from influence functions.

    .. math:: p\,\bar r + (1 - p)\,[e^-, e^+]

    Parameters
    ----------
    rewards
        The rewards seen.
    gamma
        How many times the odds of being seen differ at most between two rewards; infinite for the
        worst case.
    between
        The range of a missing reward in the worst case; the range of those seen if left out.

    Returns
    -------
    MeanBounds
        Bounds of every arm.

    Notes
    -----
    The influence function of the upper bound U is
    :math:`O R + (1 - O) e^+ + O \frac{1-p}{p} \psi - U` with
    :math:`\psi = (\Gamma (R-e^+)_+ - (e^+-R)_+) / (\Gamma P(R > e^+) + P(R \le e^+))`.
    """
    if gamma != math.inf:
        gamma = checks.number("gamma", gamma, at_least=1.0, fix="Use 2, or infinity.")
    if math.isinf(gamma):
        least, most = (rewards.least, rewards.most) if between is None else between
        low, high = np.full(len(rewards), least), np.full(len(rewards), most)
    else:
        low, high = expectile_bounds(rewards, gamma)
    low_end, low_error = _end(rewards, low, 1.0 / gamma)
    high_end, high_error = _end(rewards, high, gamma)
    more = with_values_unseen(rewards)
    if more is not None:
        if math.isfinite(gamma):
            low, high = expectile_bounds(more, gamma)
        low_error = np.maximum(low_error, _end(more, low, 1.0 / gamma)[1])
        high_error = np.maximum(high_error, _end(more, high, gamma)[1])
    ends = low_end, high_end, low_error, high_error
    return MeanBounds(gamma, rewards.names, *ends, enough=bool(enough_rewards(rewards).all()))


def _end(rewards: SeenRewards, edge: Vector, weight: float) -> tuple[Vector, Vector]:
    """Return a bound of every arm's mean and its error; `edge` is the mean of the missing."""
    seen = rewards.seen / rewards.rows
    bound = seen * rewards.mean + (1.0 - seen) * edge
    return bound, _error(rewards, edge, bound, weight)


def _error(rewards: SeenRewards, edge: Vector, bound: Vector, weight: float) -> Vector:
    """Return the standard error of a bound: `edge` is the mean of the missing, `weight` Gamma."""
    sizes, counts, starts = rewards.sizes, rewards.counts, rewards.starts
    p = rewards.seen / rewards.rows
    slope = np.zeros(len(rewards.values))  # derivative of psi in R
    away = rewards.values - np.repeat(edge, sizes)
    if 0.0 < weight < math.inf:
        over = np.add.reduceat(np.where(away > 0.0, counts, 0.0), starts) / rewards.seen
        scale = weight * over + (1.0 - over)
        slope = np.where(away > 0.0, weight, 1.0) / np.repeat(scale, sizes)
    slope *= np.repeat((1.0 - p) / p, sizes)
    influence = rewards.values + slope * away - np.repeat(bound, sizes)
    spread = (1.0 + slope) ** 2 * rewards.within
    squares = np.add.reduceat(counts * (influence**2 + spread), starts)
    squares += (rewards.rows - rewards.seen) * (edge - bound) ** 2
    return np.sqrt(squares) / rewards.rows


def tipping_gamma(rewards: SeenRewards, best: int | None = None) -> Tipping:
    """Return the smallest Gamma at which another arm may be as good as the best one.

    Parameters
    ----------
    rewards
        The rewards seen.
    best
        The position of the arm to compare with the others; by default that of the largest mean.

    Returns
    -------
    Tipping
        The first rival, and Gamma.

    Notes
    -----
    The best arm's lower bound falls in Gamma and every other upper bound rises, so one bisection
    over log Gamma finds the first that meet. Arms that cannot be first are dropped as it narrows.
    """
    mean = rewards.mean
    a = int(np.argmax(mean)) if best is None else best
    defended, name = rewards.part([a]), rewards.names[a]
    rivals = np.delete(np.arange(len(rewards)), a)
    ahead = rivals[mean[rivals] >= mean[a]]
    if len(ahead):
        return Tipping(name, rewards.names[ahead[0]], 1.0)

    def reached(gamma: float) -> NDArray[np.int64]:
        floor = _ends(defended, gamma)[0][0]
        return np.asarray(rivals[_ends(rewards.part(rivals), gamma)[1] >= floor])

    if not len(rivals):
        return Tipping(name, None, math.inf)
    worst = mean_bounds(rewards, math.inf)
    last = rivals[np.argmax(worst.high[rivals])]
    rivals = reached(HUGE)
    if not len(rivals):
        open_at_last = worst.high[last] >= worst.low[a]
        return Tipping(name, rewards.names[last] if open_at_last else None, math.inf)
    low, high = 0.0, math.log(HUGE)
    while high - low > 1e-15 * high and (middle := (low + high) / 2.0) not in (low, high):
        nearer = reached(math.exp(middle))
        if len(nearer):
            high, rivals = middle, nearer
        else:
            low = middle
    return Tipping(name, rewards.names[rivals[0]], math.exp(high))


def _ends(rewards: SeenRewards, gamma: float) -> tuple[Vector, Vector]:
    seen = rewards.seen / rewards.rows
    low, high = expectile_bounds(rewards, gamma)
    known = seen * rewards.mean
    return known + (1.0 - seen) * low, known + (1.0 - seen) * high


def bounds_as_dict(rewards: SeenRewards, most: int | None = None) -> dict[str, Any]:
    """Return the bounds at a few Gammas and in the worst case as plain values."""
    tipping = tipping_gamma(rewards)
    order = np.argsort(-rewards.mean, kind="stable")[:most].tolist()
    levels = [mean_bounds(rewards, gamma) for gamma in (*SHOWN, math.inf)]
    return {
        "best_seen": tipping.best,
        "rival": tipping.rival,
        "tipping_gamma": tipping.gamma,
        "never_seen": list(rewards.never_seen),
        "arms_left_out": rewards.left_out,
        "levels": [
            {
                "gamma": level.gamma,
                "worst_case": math.isinf(level.gamma),
                "safe_arm": level.safe,
                "safe_arm_shown": level.safe_shown(),
                "least_regret_arm": level.least_regret,
                "regret": level.regret,
                "regret_with_sampling_error": level.widened().regret,
                "arms": [
                    {
                        "arm": level.names[i],
                        "low": level.low[i],
                        "low_error": level.low_error[i],
                        "high": level.high[i],
                        "high_error": level.high_error[i],
                    }
                    for i in order
                ],
            }
            for level in levels
        ],
    }
