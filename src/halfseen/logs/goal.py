"""When a bandit counts as having found the best arm, in calendar days."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.logs.futures import Followed


@dataclass(frozen=True, repr=False)
class Goal(Shown):
    """The condition that a plan waits for.

    Attributes
    ----------
    share
        Share of decisions that must go to a best arm.
    days
        Number of days over which they must.
    close
        Arms whose mean is at most this much below the best one count as best.
    target
        Reward lost per day to get under instead; None for the share of decisions.
    """

    share: float = 0.9
    days: int = 7
    close: float = 0.0
    target: float | None = None

    def __str__(self) -> str:
        last = f"days d to d+{self.days - 1}" if self.days > 1 else "day d"
        if self.target is not None:
            return (
                f"the first day d such that over {last} less than {self.target:,.6g} is lost a day"
            )
        best = f"an arm within {self.close:,.4g} of the best" if self.close else "a best arm"
        return (
            f"the first day d such that of all decisions of {last} at least"
            f" {100 * self.share:.3g}% go to {best}"
        )

    def first_day(self, followed: Followed) -> Vector:
        """Return the day on which each future meets the goal; infinite if never."""
        made = _over(followed.decisions, self.days)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.target is None:
                met = _over(followed.good, self.days) >= self.share * made - 1e-9
            else:
                met = _over(followed.regret, self.days) < self.target * self.days
        met &= made > 0.0
        return np.where(met.any(axis=1), 1.0 + np.argmax(met, axis=1), math.inf)


def _over(totals: Vector, days: int) -> Vector:
    """Return the growth of running totals over a number of days, from each day on."""
    start = np.concatenate([np.zeros((*totals.shape[:-1], 1)), totals], axis=-1)
    return np.asarray(start[..., days:] - start[..., :-days])


def checked_goal(share: float, days: int, close: float, target: float | None) -> Goal:
    """Return a goal, or say what is wrong with it."""
    share = checks.number("goal_share", share, above=0.0, at_most=1.0, fix="Use 0.9.")
    days = checks.whole("goal_days", days, at_least=1, fix="Use 7.")
    close = checks.number("close", close, at_least=0.0, fix="Use 0, or a difference of means.")
    if target is not None:
        target = checks.number("target", target, above=0.0, fix="Give reward lost per day.")
    return Goal(share, days, close, target)
