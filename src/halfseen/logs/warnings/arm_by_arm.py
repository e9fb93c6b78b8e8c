"""One test of all arms together, and one of each of the largest arms.

Together they show an effect that every arm has. One that has opposite signs in different arms
cancels in their sum, and is the one that reverses which arm looks best.
"""

from __future__ import annotations

from collections.abc import Sequence

FOLLOWED = 12  # arms that are tested individually, the largest ones


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
        Bonferroni's p-value, half of the level for each kind; the arm's position in `alone`, or
        None if it is that of all arms together.

    Examples
    --------
    >>> smallest(0.01, [0.5, 0.001, 0.2])
    (0.006, 1)
    >>> smallest(0.002, [0.5, 0.001, 0.2])
    (0.004, None)
    """
    if len(alone) < 2:
        return together, None
    each, arm = min((p, i) for i, p in enumerate(alone))
    if len(alone) * each < together:
        return min(1.0, 2.0 * len(alone) * each), arm
    return min(1.0, 2.0 * together), None
