"""Whether a unit is seen less often after lower rewards, judged by its earlier rows only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.logs.group_sums import sum_by

PRIOR = 6.0  # rows added to those before, so that long histories do not decide alone


class Tie(NamedTuple):
    """The statistic, and the effective number of units behind it."""

    z: float
    units: float

    @classmethod
    def of(cls, parts: Vector) -> Tie:
        """Return the sum of independent parts in standard errors."""
        squares = float((parts**2).sum())
        if not squares > 0.0:
            return cls(0.0, 0.0)
        return cls(float(parts.sum()) / math.sqrt(squares), squares**2 / float((parts**4).sum()))


def tie_to_earlier_rows(
    unit: NDArray[Any],
    time: Vector,
    cell: NDArray[Any],
    reward: Vector,
    groups: Sequence[NDArray[np.bool_]] = (),
) -> list[Tie]:
    r"""Test whether being seen goes with the rewards that a unit showed before.

    .. math:: q_u = \sum_{i \in u} \frac{k_i - p_{g_i}}{b_i + 6} \sum_{j \in u,\ t_j < t_i}
              k_j (y_j - \mu_{g_j z_i}), \qquad z = \frac{\sum_u q_u}{\sqrt{\sum_u q_u^2}}

    with :math:`k` 1 if seen, :math:`b_i` the number of earlier rows of the unit, and
    :math:`\mu_{gz}` the mean reward of cell g among what rows with similarly many earlier rows
    (:math:`z = \lfloor\log_2 b\rfloor`) look back on.

    Parameters
    ----------
    unit, time
        Of each row, sorted by unit and then by time.
    cell
        Within which rates and rewards are compared, numbers from 0.
    reward
        NaN where it was not seen.
    groups
        Rows to judge apart, such as those of an arm, against all earlier rows of their units.

    Returns
    -------
    list of Tie
        The statistic of all rows, and how many units carry it; then those of each group.

    Notes
    -----
    Whether a row exists may depend on all that its unit showed before. Given that, it is seen with
    the rate of its cell if nothing is tied, so the statistic is a sum of martingale differences: it
    has mean 0 even if a unit's rows stop after an answer.

    Examples
    --------
    >>> reward = np.array([2.0, 1.0, 0.0, np.nan])
    >>> cell = np.zeros(4, int)
    >>> [found] = tie_to_earlier_rows(np.array([0, 0, 1, 1]), np.arange(4.0), cell, reward)
    >>> round(found.z, 4)  # (1/4)(2 - 1)/7 and (-3/4)(0 - 1)/7
    1.2649
    """
    rows = len(unit)
    seen = ~np.isnan(reward)
    shown = np.where(seen, reward, 0.0)
    new_unit = np.r_[True, unit[1:] != unit[:-1]]
    new_moment = new_unit | np.r_[True, time[1:] != time[:-1]]
    number = np.cumsum(new_unit) - 1
    first, last = _ends(new_unit, rows)
    here, after = _ends(new_moment, rows)
    before = (here - first).astype(float)
    level = np.where(before > 0, np.floor(np.log2(np.maximum(before, 1.0))), -1.0)
    rate = sum_by(cell, seen * 1.0) / np.maximum(sum_by(cell, np.ones(rows)), 1.0)
    weight = np.where(before > 0, 1.0 / (before + PRIOR), 0.0)
    history = np.zeros(rows)
    for each in range(int(level.max(initial=-1.0)) + 1):
        now = level == each
        later = _running(np.where(now, weight, 0.0))
        pairs = seen * (later[last] - later[after])
        total = sum_by(cell, pairs)
        mean = sum_by(cell, pairs * shown) / np.where(total > 0.0, total, 1.0)
        earlier = _running(seen * (shown - mean[cell]))
        history[now] = (earlier[here] - earlier[first])[now]
    parts = (seen - rate[cell]) * weight * history
    chosen = [parts, *(np.where(group, parts, 0.0) for group in groups)]
    return [Tie.of(sum_by(number, each)) for each in chosen]


def _ends(new: NDArray[Any], rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where the group of each row begins, and where the next one does."""
    starts = np.flatnonzero(new)
    place = np.cumsum(new) - 1
    return starts[place], np.append(starts, rows)[place + 1]


def _running(values: Vector) -> Vector:
    """Return the sum before each place, and the sum of all at the end."""
    return np.concatenate([[0.0], np.cumsum(values)])
