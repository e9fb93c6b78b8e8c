"""Areas and sums of inverse powers, written for the claims alone.

They do not use those of `halfseen.theory`, so that a mistake there cannot cancel out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from halfseen.checks import Vector


def area(start: Any, length: Any, alpha: float) -> Vector:
    r"""Return :math:`\psi_\alpha(s+l)-\psi_\alpha(s)`, the integral of :math:`u^{-\alpha}`.

    >>> float(area(1.0, 3.0, 0.5)), float(area(2.0, 2.0, 2.0)), round(float(area(1.0, 1.0, 1.0)), 9)
    (2.0, 0.25, 0.693147181)
    """
    logs = np.log1p(np.asarray(length, dtype=float) / start)
    rest = 1.0 - alpha
    return logs if rest == 0.0 else np.asarray(start) ** rest * np.expm1(rest * logs) / rest


def sums(counts: Any, offset: float, alpha: float) -> Vector:
    r"""Return :math:`\sum_{n<N}(n+\lambda)^{-\alpha}` for whole N, term by term.

    >>> sums([0, 1, 3], 1.0, 1.0).round(9).tolist()
    [0.0, 1.0, 1.833333333]
    """
    whole = np.asarray(counts).astype(np.int64)
    terms = (np.arange(float(whole.max(initial=0))) + offset) ** -alpha
    found: Vector = np.append(0.0, np.cumsum(terms))[whole]
    return found


def costliest(observe: Vector, costs: Vector, rounds: float) -> float:
    """Return the largest cost of a number of rounds when each cell of an arm lasts 1/p rounds.

    Parameters
    ----------
    observe
        Probability p of each arm.
    costs
        Shape (arms, cells): the cost of a round in each cell.
    rounds
        Number of rounds.

    Examples
    --------
    >>> costliest(np.array([1.0, 0.5]), np.array([[3.0, 1.0], [2.0, 0.5]]), 4.0)
    8.0
    """
    lasts = np.repeat(1.0 / observe, costs.shape[1])
    order = np.argsort(-costs, axis=None, kind="stable")
    before = np.cumsum(lasts[order]) - lasts[order]
    used = np.clip(rounds - before, 0.0, lasts[order])
    return float(used @ costs.ravel()[order])
