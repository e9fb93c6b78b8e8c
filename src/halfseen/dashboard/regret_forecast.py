"""Regret forecast for a loop from the audit of its log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfseen.errors import HalfseenError
from halfseen.logs.audit import Audit
from halfseen.phrases import counted
from halfseen.tables import show

BLOCK, BLOCKS = 200, 50  # decisions, and how often
FUTURES = 50
MOST_ARMS = 50


@dataclass(frozen=True)
class RegretForecast:
    """Forecast of the regret over the next decisions.

    Attributes
    ----------
    lost, low, high
        Mean and 80% interval over the simulated futures.
    all_seen
        On average if every reward were seen.
    left_out
        How many arms are left out because nothing was seen of them.
    """

    lost: float
    low: float
    high: float
    all_seen: float
    left_out: int

    def in_words(self) -> str:
        """Return the forecast and what it assumes."""
        missing = (
            f" {counted('arm', self.left_out)} of which nothing was seen"
            f" {'is' if self.left_out == 1 else 'are'} left out."
            if self.left_out
            else ""
        )
        return (
            f"Regret forecast: over {BLOCK * BLOCKS:,} decisions a UCB learner that starts without"
            f" data loses {show(self.lost)} in reward ({show(self.low)} to {show(self.high)} in"
            f" 8 of 10 futures), and {show(self.all_seen)} with everything seen. It assumes that"
            " rewards come at once, that means and rates stay as they are and that, given the arm,"
            f" what goes missing does not depend on the reward; it is simulated {FUTURES} times,"
            f" with means and rates drawn from their posterior given the log.{missing}"
        )


def regret_forecast(found: Audit) -> RegretForecast | None:
    """Return the forecast by `Audit.plan`; None if the audit is invalid or too little was seen."""
    known = int((~np.isnan(found.counts.mean)).sum())
    if found.voided or not 2 <= known <= MOST_ARMS:
        return None
    try:
        plan = found.plan(BLOCK, days=BLOCKS, futures=FUTURES)
    except HalfseenError:
        return None
    lost = plan.yours.regret
    low, high = np.quantile(lost, [0.1, 0.9])
    whole = float(plan.everything.regret.mean())
    return RegretForecast(float(lost.mean()), float(low), float(high), whole, len(plan.left_out))
