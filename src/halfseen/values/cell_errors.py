"""Standard errors of estimates whose regression is the mean of each cell's own rewards.

The mean of a few rewards lies among them: its residuals are too small, by (n - 1)/n in a cell of n
rewards seen, and 0 where n is 1. The mean's own error counts as often as the policy plays there,
not as often as the propensities say it should have been logged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.logs.group_sums import sum_by
from halfseen.values.influence import Influence, Sample
from halfseen.values.log_groups import LogGroups
from halfseen.values.target_policy import PolicyOnLog

ALIKE = 4.0  # degrees of freedom that the variance of an arm's cells has for each of them
FEW = 20  # rewards of a cell, below which resampling them misses much of their mean's error


def few_rewards(log: LogGroups, by_context: bool, policies: Sequence[PolicyOnLog]) -> bool:
    """Return whether a cell that some policy plays has too few rewards for a bootstrap."""
    means = CellMeans(log, by_context)
    return any(means.seen[means.played(policy) > 0.0].min() < FEW for policy in policies)


@dataclass(frozen=True, eq=False)
class CellMeans(ByValue):
    """The cells whose means are the regression: contexts and arms, or arms alone.

    Attributes
    ----------
    log
        The decisions.
    by_context
        Whether each context has cells of its own.
    """

    log: LogGroups
    by_context: bool

    @property
    def sample(self) -> Sample:
        """The decisions' counts and rewards."""
        return self.log.sample

    @cached_property
    def cell(self) -> NDArray[np.int64]:
        """The cell of each group of decisions."""
        return self.log.cell if self.by_context else self.log.arm

    @cached_property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.log.arms) * (len(self.log.contexts) if self.by_context else 1)

    def total(self, values: Vector) -> Vector:
        """Return sums over the seen decisions of each cell."""
        return sum_by(
            self.cell, np.where(self.sample.seen, self.sample.count, 0.0) * values, self.cells
        )

    @cached_property
    def seen(self) -> Vector:
        """Rewards seen in each cell."""
        return self.total(np.ones(len(self.cell)))

    @cached_property
    def mean(self) -> Vector:
        """Their mean; 0 where there is none."""
        return self.total(self.sample.reward) / np.maximum(self.seen, 1.0)

    @cached_property
    def spread(self) -> tuple[Vector, Vector]:
        """The variance of one reward of each cell, and its degrees of freedom.

        Those of all cells of its arm where the cell has one reward.
        """
        away = self.sample.reward - self.mean[self.cell]
        squares, free = self.total(away**2 + self.sample.within), np.maximum(self.seen - 1.0, 0.0)
        arm = np.arange(self.cells) % len(self.log.arms)
        by_arm, free_in_arm = sum_by(arm, squares), sum_by(arm, free)
        overall = float(squares.sum()) / max(float(free.sum()), 1.0)
        if not free.any():  # no two rewards in a cell
            overall = float(np.var(self.mean[self.seen > 0.0]))
        pooled = np.where(free_in_arm > 0.0, by_arm / np.maximum(free_in_arm, 1.0), overall)
        return (
            np.where(free > 0.0, squares / np.maximum(free, 1.0), pooled[arm]),
            np.where(free > 0.0, free, np.maximum(free_in_arm[arm], 1.0)),
        )

    @cached_property
    def lacking(self) -> Vector:
        """What the variance of a reward of each cell lacks if those of its arm's cells are alike.

        That of all of them counts as `ALIKE` degrees of freedom besides the cell's own.
        """
        variance, free = self.spread[0], np.maximum(self.seen - 1.0, 0.0)
        arm = np.arange(self.cells) % len(self.log.arms)
        pooled = sum_by(arm, free * variance) / np.maximum(sum_by(arm, free), 1.0)
        away = ALIKE / (ALIKE + free) * (pooled[arm] - variance)
        return np.where(self.seen > 1.0, np.maximum(away, 0.0), 0.0)

    def played(self, policy: PolicyOnLog) -> Vector:
        """Return how many of the log's decisions a policy would make in each cell."""
        log, count = self.log, self.sample.count
        if policy.table is None:  # the logging policy: those it made
            return sum_by(self.cell, count, self.cells)
        if log.by_row:
            sums = [sum_by(log.context, count * p, len(log.contexts)) for p in policy.table.T]
            table = np.stack(sums, axis=1)
        else:
            table = sum_by(log.context, count, len(log.contexts))[:, None] * policy.table
        return np.asarray(table.ravel() if self.by_context else table.sum(axis=0))

    def thin(self, policy: PolicyOnLog) -> float:
        """Return the share of a policy's decisions in cells with at most one reward seen."""
        return float(self.played(policy)[self.seen <= 1.0].sum()) / self.sample.size

    def slopes(self, found: Influence, played: Vector) -> Vector:
        """Return the derivative of an estimate in each reward, that through the means included."""
        own = (played - self.total(found.slopes)) / np.maximum(self.seen, 1.0)
        return np.where(self.sample.seen, found.slopes + own[self.cell], 0.0)

    def error(self, found: Influence, played: Vector) -> tuple[float, float]:
        """Return the standard error of an estimate that adds weighted residuals to cell means.

        And its degrees of freedom by the formula of Welch and Satterthwaite.

        Parameters
        ----------
        found
            The estimate, or a difference of two, as if the means were known.
        played
            Decisions that the policy makes in each cell, or the difference of two policies.
        """
        slopes = self.slopes(found, played)
        spread = np.sqrt(self.seen / np.maximum(self.seen - 1.0, 1.0))[self.cell]
        away = self.sample.reward - self.mean[self.cell]
        adjusted = Influence(
            found.values + (spread * slopes - found.slopes) * np.where(self.sample.seen, away, 0.0),
            spread * slopes,
        )
        n, (variance, freedom) = self.sample.size, self.spread
        of_cells = self.total(slopes**2) * variance / n
        of_empty, freedom_of_empty = self._borrowed(played)
        of_single = of_cells[self.seen == 1.0].sum() + self.total(slopes**2) @ self.lacking / n
        more = (float(of_single) + float(of_empty.sum())) * n / (n - 1.0)
        whole = adjusted.variance(self.sample) + more
        if not whole > 0.0:
            return 0.0, math.inf
        shares = (of_cells / whole) ** 2 / freedom + (of_empty / whole) ** 2 / freedom_of_empty
        unsure = float(shares.sum())
        return math.sqrt(whole / n), max(1.0 / unsure, 1.0) if unsure > 0.0 else math.inf

    def _borrowed(self, played: Vector) -> tuple[Vector, Vector]:
        """Return the variance of cells without rewards, which have the mean of their arm.

        And its degrees of freedom. They differ from it as much as one reward of the arm does, or
        less: the variance of a mean is part of that of a reward.
        """
        arms = self if not self.by_context else CellMeans(self.log, by_context=False)
        arm = np.arange(self.cells) % len(self.log.arms)
        variance, freedom = (of_arms[arm] for of_arms in arms.spread)
        empty = self.seen == 0.0
        return np.where(empty, played**2 * variance / self.sample.size, 0.0), freedom
