"""The rewards of a log that are examined for values written in place of missing ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.logs.columns import decisions_sql
from halfseen.logs.counts import Decisions
from halfseen.logs.queries import filled

SAMPLE = 200_000  # rewards examined


class Rewards(NamedTuple):
    """Rewards seen, or a part of them.

    Attributes
    ----------
    values, times
        The distinct values, ascending, and how often each occurs.
    arm, reward
        Each reward looked at with its arm's number.
    """

    values: Vector
    times: NDArray[np.int64]
    arm: NDArray[np.int64]
    reward: Vector

    @property
    def cut(self) -> tuple[float, float] | None:
        """The 0.5% and 99.5% quantiles, at which rewards are cut in tests."""
        if not len(self.reward):
            return None
        low, high = np.quantile(self.reward, [0.005, 0.995]).tolist()
        return (low, high) if low < high else None


def sample_rewards(decisions: Decisions) -> Rewards:
    """Return the rewards seen, of a long log a part of them."""
    seen, log, sql = int(decisions.counts.seen.sum()), decisions.log, decisions.sql
    if seen > 1.5 * SAMPLE:
        part = f"TABLESAMPLE system({100.0 * SAMPLE / seen!r}%) REPEATABLE (1)"
        some = replace(log, relation=f"(SELECT * FROM {log.relation} {part})")
        sql, _ = decisions_sql(some, decisions.columns)
    found = log.query(
        f"SELECT hash(action) AS arm, reward FROM {sql} WHERE reward IS NOT NULL AND"
        " action IS NOT NULL"
    )
    return rewards_of(np.asarray(found["arm"]), filled(found["reward"]))


def rewards_of(arms: NDArray[Any], reward: Vector) -> Rewards:
    """Return rewards with their distinct values counted."""
    _, arm = np.unique(arms, return_inverse=True)
    values, times = np.unique(reward, return_counts=True)
    return Rewards(values, times, arm, reward)
