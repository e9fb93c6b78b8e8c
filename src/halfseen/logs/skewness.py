"""Correction of intervals of means for skewness."""

from __future__ import annotations

from typing import Any

import numpy as np

SKEWER = 1.25  # times the skewness of a sample that intervals allow for: it is too small on average


def longer_quantile(z: Any, skew: Any) -> Any:
    r"""Return how many standard errors an interval reaches on the side of an estimate's tail.

    .. math:: \max\Big(z, \frac3a\big(1-\sqrt[3]{1-a(z+a/6)}\big)\Big)

    inverts Hall's (1992) transformation of the studentized mean.

    Parameters
    ----------
    z
        Standard errors of a symmetric interval.
    skew
        Skewness a of the estimate, at least 0.

    Examples
    --------
    >>> longer_quantile(2.0, [0.2, 0.0]).round(2).tolist()
    [2.4, 2.0]
    """
    a = np.maximum(skew, 1e-6)
    far = 3.0 / a * (1.0 - np.cbrt(1.0 - a * (z + a / 6.0)))
    # below 1e-6, cube roots lose more digits than the skewness adds
    return np.where(np.asarray(skew) > 1e-6, np.maximum(z, far), z)
