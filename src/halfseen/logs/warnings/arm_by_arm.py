"""One test of all arms together, and one of each of the largest arms.

Together they show an effect that every arm has. One that has opposite signs in different arms
cancels in their sum, and is the one that reverses which arm looks best.
"""

from __future__ import annotations

from collections.abc import Sequence

FOLLOWED = 12  # arms that are tested individually, the largest ones
TOGETHER = 0.8  # part of the level that goes to the test of all arms together
DETECTABLE = 3.35  # standard errors at which that test finds something, at level 0.001


def two_sided(z: float) -> float:
    """Return the two-sided p-value of a standard normal z."""
    from scipy.special import ndtr

    return 2.0 * float(ndtr(-abs(z)))


def smallest(together: float, alone: Sequence[float]) -> tuple[float, int | None]:
    """Return the p-value of both kinds of test at once, and which arm it comes from.

    Parameters
    ----------
    together
        The p-value of all arms together.
    alone
        Those of single arms.

    Returns
    -------
    p, arm
        Bonferroni's p-value, 4/5 of the level for all arms together; the arm's position in
        `alone`, or None if it is that of all arms together.

    Examples
    --------
    >>> smallest(0.08, [0.5, 0.0, 0.2])
    (0.0, 1)
    >>> smallest(0.004, [0.5, 0.001, 0.2])
    (0.005, None)
    """
    if len(alone) < 2:
        return together, None
    each, arm = min((p, i) for i, p in enumerate(alone))
    alone_p, together_p = len(alone) * each / (1.0 - TOGETHER), together / TOGETHER
    return (min(1.0, alone_p), arm) if alone_p < together_p else (min(1.0, together_p), None)
