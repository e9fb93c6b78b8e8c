r"""Means of arms where being seen depends on the reward itself, identified by a proxy.

O is independent of an always-seen group M given arm and reward; the reward has k values, M at
least k. The odds of being missing :math:`o_r` solve :math:`A o = b` with
:math:`A_{mr} = P(M=m, R=r, O=1)` and :math:`b_m = P(M=m, O=0)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput

WORST_CONDITION = 1e8  # of A beyond which it counts as singular


@dataclass(frozen=True)
class ProxyMean:
    """The mean of an arm, by a proxy.

    Attributes
    ----------
    mean, standard_error, variance
        The mean, its standard error and its variance per decision; NaN if not identified.
    odds
        The odds of being missing, per value of the reward.
    identified
        Whether A has full column rank: the proxy distinguishes the values of the reward.
    possible
        Whether no odds are negative.
    condition
        The condition number of A, its columns scaled to one: large if the proxy is weak.
    p_value
        Of the test that one set of odds explains every group; None without more groups than
        values of the reward.
    """

    mean: float
    standard_error: float
    variance: float
    odds: tuple[float, ...]
    identified: bool
    possible: bool
    condition: float
    p_value: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return dict(vars(self))


def proxy_mean(seen: Any, missing: Any, values: Any = (0.0, 1.0)) -> ProxyMean:
    r"""Estimate an arm's mean from counts by proxy and reward.

    Parameters
    ----------
    seen
        Counts of rewards seen: one row per group of the proxy, one column per value.
    missing
        Counts of missing rewards, one per group.
    values
        The values of the reward.

    Returns
    -------
    ProxyMean
        :math:`\sum_r r c_r (1 + o_r)`, c being the column sums of A, with the influence function
        :math:`O R (1 + o_R) + h_M ((1 - O) - O o_R) - \mu`, :math:`A' h = (r c_r)`.

    Notes
    -----
    With more groups than values the odds are a weighted least-squares fit, each equation weighted
    by the inverse of its variance at a first, unweighted one. The weighted squares of what is left
    over then have a chi-square law, one degree of freedom per group too many.

    Examples
    --------
    >>> found = proxy_mean([[30, 8], [10, 20]], [18, 34])
    >>> round(found.mean, 6), [round(o, 4) for o in found.odds]
    (0.610256, [0.1692, 1.6154])
    """
    table, lost, value = _checked(seen, missing, values)
    n = table.sum() + lost.sum()
    a, b = table / n, lost / n
    c = a.sum(axis=0)
    groups, count = a.shape
    scaled = a / np.where(c > 0.0, c, 1.0)
    condition = float(np.linalg.cond(scaled)) if np.all(c > 0.0) else math.inf
    if groups < count or condition > WORST_CONDITION:
        nan, none = math.nan, (math.nan,) * count
        return ProxyMean(nan, nan, nan, none, False, False, condition, None)
    weight = np.ones(groups)
    if groups > count:
        first = np.linalg.lstsq(a, b, rcond=None)[0]
        spread = b + a @ first**2
        weight = 1.0 / np.where(spread > 0.0, spread, spread[spread > 0.0].min())
    inverse = np.linalg.solve(a.T @ (weight[:, None] * a), (a * weight[:, None]).T)
    odds = inverse @ b
    mean = float(value @ (c * (1.0 + odds)))
    h = inverse.T @ (value * c)
    kept = value * (1.0 + odds) - np.outer(h, odds) - mean
    variance = float((a * kept**2).sum() + b @ (h - mean) ** 2)
    p_value = None
    if groups > count:
        left = b - a @ odds
        p_value = float(chdtrc(groups - count, n * float(weight @ left**2)))
    return ProxyMean(
        mean=mean,
        standard_error=math.sqrt(variance / n),
        variance=variance,
        odds=tuple(odds.tolist()),
        identified=True,
        possible=bool(np.all(odds >= 0.0)),
        condition=condition,
        p_value=p_value,
    )


def _checked(seen: Any, missing: Any, values: Any) -> tuple[Vector, Vector, Vector]:
    value = np.array(checks.vector("values", values))
    lost = np.array(checks.vector("missing", missing, at_least=0.0))
    table = np.asarray(seen, dtype=float)
    if table.shape != (len(lost), len(value)) or not np.all(table >= 0.0):
        raise InvalidInput(
            "seen",
            f"must have {len(lost)} rows of {len(value)} counts, groups by values",
            f"shape {table.shape}",
            "Count the rewards seen by group of the proxy and value.",
        )
    if table.sum() <= 0.0:
        raise InvalidInput("seen", "must hold at least one reward", 0, "Give a longer log.")
    return table, lost, value
