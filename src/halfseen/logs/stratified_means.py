r"""Means of arms where an always-seen group explains which rewards are missing.

If, given arm and group M, being seen does not depend on the reward, then
:math:`\mu_a = \sum_m P(M=m|a) E[R | a, m, O=1]`. The mean of the rewards seen is not this where
groups are seen at different rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from halfseen.checks import Vector


@dataclass(frozen=True)
class StratifiedMean:
    """The mean of an arm, from the means of its groups.

    Attributes
    ----------
    arm
        Its name.
    mean, standard_error
        The stratified mean, and its standard error.
    seen_mean
        The mean of the rewards seen, for comparison.
    variance
        Variance per decision: that of the groups' means, and that within groups over their rates.
    unseen
        Share of the arm's decisions in groups of which no reward was seen; the mean is that of the
        others.
    """

    arm: str
    mean: float
    standard_error: float
    seen_mean: float
    variance: float
    unseen: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return dict(vars(self))


def stratified_mean(rows: Vector, seen: Vector, total: Vector, spread: Vector) -> tuple[float, ...]:
    r"""Return an arm's stratified mean, its variance per decision and the share never seen.

    .. math:: V = Var_m(\mu_{am}) + \sum_m q_m \sigma_{am}^2 / p_{am}

    Parameters
    ----------
    rows, seen
        Decisions, and rewards seen, per group.
    total
        Sum of the rewards seen, per group.
    spread
        Variance of the rewards of a group.

    Examples
    --------
    >>> import numpy as np
    >>> two = np.array([[60.0, 40], [48, 8], [14, 7]])
    >>> mean = two[2] / two[1]
    >>> found = stratified_mean(*two, mean * (1 - mean))
    >>> round(found[0], 3), round(found[1], 6), found[2]
    (0.525, 0.455365, 0.0)
    """
    known = seen > 0.0
    lost = float(rows[~known].sum() / rows.sum())
    if not known.any():
        return float("nan"), float("nan"), lost
    q, p = rows[known] / rows[known].sum(), seen[known] / rows[known]
    means = total[known] / seen[known]
    mean = float(q @ means)
    variance = float(q @ (means - mean) ** 2 + q @ (spread[known] / p))
    return mean, variance, lost
