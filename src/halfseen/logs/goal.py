"""The criterion for having found the best arm, in days."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    kept
        How long they must at least, as a multiple of the time it took to get there.
    close
        Arms whose mean is at most this much below the best one count as best.
    target
        Reward lost per day to get under instead; None for the share of decisions.
    """

    share: float = 0.9
    days: int = 7
    kept: float = 1.0
    close: float = 0.0
    target: float | None = None

    def __str__(self) -> str:
        last = f"days d to d+{self.days - 1}" if self.days > 1 else "day d"
        times = "" if self.kept == 1.0 else f"{self.kept:.4g} times "
        again = f", and again from day d on for {times}as long as it took to get there"
        again = again if self.kept else ""
        if self.target is not None:
            return (
                f"the first day d such that over {last} less than {self.target:,.6g} is lost a"
                f" day{again}"
            )
        best = f"an arm within {self.close:,.4g} of the best" if self.close else "a best arm"
        return (
            f"the first day d such that of all decisions of {last} at least"
            f" {100 * self.share:.3g}% go to {best}{again}"
        )

    def first_day(self, followed: Followed) -> Vector:
        """Return the day on which each future meets the goal; infinite if never."""
        start, kept = self._spans(len(followed.decisions))
        met = self._met(followed, start, start + self.days) & self._met(followed, start, kept)
        if not met.size:
            return np.full(len(met), math.inf)
        return np.where(met.any(axis=1), 1.0 + np.argmax(met, axis=1), math.inf)

    def last_day(self, length: int) -> int:
        """Return the last day on which a plan of so many days can show that the goal is met."""
        return len(self._spans(length)[0])

    def _spans(self, length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the starts from which the goal can be seen to be kept in time, and until when."""
        start = np.arange(length - self.days + 1)
        kept = start + np.maximum(self.days, np.ceil(self.kept * (start + 1)).astype(int))
        return start[kept <= length], kept[kept <= length]

    def _met(
        self, followed: Followed, start: NDArray[np.int64], end: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return for every future whether the days from each start to its end are good enough."""
        made = _growth(followed.decisions, start, end)
        if self.target is None:
            good = _growth(followed.good, start, end) >= self.share * made - 1e-9
        else:
            good = _growth(followed.regret, start, end) < self.target * (end - start)
        return np.asarray(good & (made > 0.0))


def _growth(totals: Vector, start: NDArray[np.int64], end: NDArray[np.int64]) -> Vector:
    """Return by how much running totals grow from each start to its end."""
    from_zero = np.concatenate([np.zeros((*totals.shape[:-1], 1)), totals], axis=-1)
    return np.asarray(from_zero[..., end] - from_zero[..., start])


def checked_goal(share: float, days: int, kept: float, close: float, target: float | None) -> Goal:
    """Return a goal, or say what is wrong with it."""
    share = checks.number("goal_share", share, above=0.0, at_most=1.0, fix="Use 0.9.")
    days = checks.whole("goal_days", days, at_least=1, fix="Use 7.")
    kept = checks.number(
        "goal_kept", kept, at_least=0.0, at_most=100.0, fix="Use 1, or 0 to look no further."
    )
    close = checks.number("close", close, at_least=0.0, fix="Use 0, or a difference of means.")
    if target is not None:
        target = checks.number("target", target, above=0.0, fix="Give reward lost per day.")
    return Goal(share, days, kept, close, target)
