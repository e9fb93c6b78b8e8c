"""The forecast for a learner in one world, over simulated futures."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.tables import percent, show

DRAWN = 50  # points of a plotted curve


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(Shown, ByValue):
    """The forecast for one world.

    Attributes
    ----------
    name
        The world.
    days
        The day on which the goal is met, one number per future; infinite if it is not.
    regret
        Reward lost over the whole plan, one number per future.
    bound
        Bound on the expected regret; None where none is proved or means are drawn.
    curve
        Reward lost per day: the day, and quantiles 10%, 50% and 90% over futures.
    """

    name: str
    days: Vector
    regret: Vector
    bound: float | None
    curve: Vector

    def _headline(self) -> str:
        days = ((share, self.quantile(share)) for share in (0.1, 0.5, 0.9))
        met = "".join(f"{share:.0%} by day {day:,.0f}, " for share, day in days if day < math.inf)
        lost = show(float(self.regret.mean()))
        return f"{self.name}: {met}{percent(self.never)} not; {lost} lost on average"

    def quantile(self, share: float) -> float:
        """Return the day by which a share of futures meets the goal; infinite if it never does."""
        return float(np.quantile(self.days, share, method="higher"))

    @property
    def never(self) -> float:
        """The share of futures that do not meet the goal within the plan."""
        return float(np.isinf(self.days).mean())


def loss_curve(regret: Vector) -> Vector:
    """Return reward lost per day over a few stretches of days, as quantiles over futures."""
    days = regret.shape[1]
    edges = np.unique(np.rint(np.geomspace(1.0, days, DRAWN)).astype(int))
    lost = np.diff(regret[:, edges - 1], axis=1, prepend=0.0) / np.diff(edges, prepend=0)
    return np.vstack([edges.astype(float), np.quantile(lost, [0.1, 0.5, 0.9], axis=0)])
