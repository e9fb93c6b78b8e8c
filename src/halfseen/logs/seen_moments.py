"""Mean and variance of the rewards seen of every arm of a long log, and the cells behind them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.logs import reward_cells
from halfseen.logs.queries import filled
from halfseen.logs.reward_cells import RewardCells
from halfseen.logs.source import Log

Whole = NDArray[np.int64]


def seen_moments(
    log: Log, sql: str, arms: int, seen: Whole | None
) -> tuple[Vector, Vector, Whole, RewardCells | None]:
    """Return the means, the variances, how many were seen, and the cells if arms are not many.

    Parameters
    ----------
    log
        The log.
    sql
        Its decisions, in the form of `decisions_sql`.
    arms
        How many arms it has.
    seen
        Rewards seen per arm; None to count them on the way, where every arm was seen.
    """
    rows, cells = f"{sql} WHERE seen AND action IS NOT NULL", None
    if seen is None:
        if arms <= reward_cells.ARMS:
            cells = reward_cells.read_cells(log, rows, exact=False)
            seen = np.add.reduceat(cells.count, cells.starts).astype(np.int64)
        if seen is None or len(seen) < arms:
            found = log.query(
                f"SELECT count(reward) AS seen FROM {sql} WHERE action IS NOT NULL"
                " GROUP BY action ORDER BY action"
            )
            seen = np.asarray(found["seen"]).astype(np.int64)
    known = seen > 0
    mean, variance = np.full(arms, np.nan), np.full(arms, np.nan)
    if not known.any():
        return mean, variance, seen, None
    if cells is None and known.sum() <= reward_cells.ARMS:
        cells = reward_cells.read_cells(log, rows, exact=False)
    if cells is not None:
        mean[known], variance[known] = cells.moments()
    else:
        found = log.query(
            f"SELECT avg(reward) AS mean, var_samp(reward) AS variance FROM {rows}"
            " GROUP BY action ORDER BY action"
        )
        mean[known], variance[known] = filled(found["mean"]), filled(found["variance"])
    return mean, variance, seen, cells
