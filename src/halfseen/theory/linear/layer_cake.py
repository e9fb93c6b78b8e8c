"""An upper bound on the potential of any path, for any order of its actions and any p."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.censorship.directions import action_rows
from halfseen.checks import Vector
from halfseen.theory import inputs
from halfseen.theory.linear.largest_potential import level_weights


def layered_potential(
    actions: Any,
    observe: Sequence[float] | Vector,
    durations: Sequence[float] | Vector,
    *,
    regularization: float = 1.0,
) -> float:
    r"""Return the largest potential over all orders of playing actions for given times.

    .. math:: J\le\sum_n\Big(\frac1{p_n}-\frac1{p_{n+1}}\Big)\log\det\Big(I+\frac1\lambda
              \sum_{a:\,p(a)\le p_n}p(a)\,\tau_a\,aa'\Big)

    with :math:`p_0<p_1<\dots` the values of p and the last :math:`1/p_{n+1}` zero. Playing the most
    censored actions first attains it.

    Parameters
    ----------
    actions
        An array (n, d), one action per row.
    observe
        Probability that each action's reward is observed.
    durations
        Total time that each action is played, at least 0.
    regularization
        The paper's lambda.

    Returns
    -------
    float
        The bound.

    References
    ----------
    Replaces the order of regions in Guinet, Amin, Jaillet (2022), section 4.2.

    Examples
    --------
    >>> round(layered_potential([[1, 0], [0, 1]], [0.5, 1.0], [2.0, 2.0]), 9)
    2.48490665
    """
    rows = action_rows("actions", actions)
    p = inputs.action_observation(observe, rows)
    times = inputs.per_arm("durations", durations, len(rows))
    lam = checks.number("regularization", regularization, above=0.0)
    levels = np.unique(p)
    scaled = rows * np.sqrt(p * times / lam)[:, None]
    total = 0.0
    for level, weight in zip(levels, level_weights(levels.copy()), strict=True):
        played = scaled[p <= level]
        eigenvalues = np.maximum(np.linalg.eigvalsh(played.T @ played), 0.0)
        total += float(weight) * float(np.log1p(eigenvalues).sum())
    return total
