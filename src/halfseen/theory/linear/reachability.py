r"""The order in which regions follow one another on the information path.

Let y/x be the ratio of the design along the direction of the censorship to that across it. Playing
a base region j drives this ratio towards :math:`(d-1)q_j/c_j`, with :math:`q=\sin^2` and
:math:`c=\cos^2` of the angle at which it is played. A region i observed more often is *reachable*
if on the way it comes to gain as much per observation as the base; it is *dual reachable* if
playing it then drives the ratio back, so that both are played from there on. The positions of the
regions enter through :math:`u=c_i/c_j` and :math:`l=q_i/q_j`, their probabilities through
:math:`r=p_i/p_j`. If lower ends of regions are played, i lies below j and :math:`l<1<u`; if upper
ends are played, i lies above j and :math:`u<1<l`. The formulas are the same.

With d >= 2 and :math:`l\le1\le u`, :math:`r^\star` and :math:`r^\dagger` are the arithmetic and the
harmonic mean of u and l with weights (d - 1)/d and 1/d, so that
:math:`l\le r^\dagger<r^\star<u`; :math:`l=r^\dagger` exactly when i lies on the equator.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from halfseen import checks
from halfseen.errors import InvalidInput

SAME = 1e-12  # relative difference up to which numbers are equal, as angles are rounded


class Reachability(NamedTuple):
    """Comparison of a region with a base region that is observed less often.

    Attributes
    ----------
    base, region
        Numbers of the two regions in the censorship.
    ratio
        How much more often the region is observed, r.
    r_star
        The region is reachable when the ratio is below this.
    r_dagger
        The region is dual reachable when the ratio is above this.
    u, l
        Ratios of squared cosines and of squared sines, region to base.
    reachable, dual_reachable
        Whether the region is reachable, and whether it is dual reachable.
    smallest_dimension
        The smallest effective dimension, times the base's probability, over all ratios.
    """

    base: int
    region: int
    ratio: float
    r_star: float
    r_dagger: float
    u: float
    l: float  # noqa: E741
    reachable: bool
    dual_reachable: bool
    smallest_dimension: float


class SmallestDimension(NamedTuple):
    """The ratio of probabilities at which the dimension of two regions is smallest.

    Attributes
    ----------
    ratio
        The ratio r = p_i/p_j.
    dimension
        The effective dimension there, times p_j.
    """

    ratio: float
    dimension: float


def reachability_threshold(u: Any, l: Any, d: int) -> Any:  # noqa: E741
    r"""Return the ratio of probabilities below which a region is reachable from a base.

    .. math:: r^\star=\frac{(d-1)u+l}{d}

    Parameters
    ----------
    u, l
        Ratios :math:`c_i/c_j` of squared cosines and :math:`q_i/q_j` of squared sines; numbers or
        arrays.
    d
        Number of coordinates of an action.

    Returns
    -------
    float or numpy.ndarray
        The threshold; at equality the region is not reachable.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section 4.2.

    Examples
    --------
    >>> reachability_threshold(4.0, 0.0, d=3)
    2.6666666666666665
    """
    return ((d - 1) * u + l) / d


def dual_reachability_threshold(u: Any, l: Any, d: int) -> Any:  # noqa: E741
    r"""Return the ratio of probabilities above which a region and its base are both kept.

    .. math:: r^\dagger=\frac{d\,l\,u}{u+(d-1)l}

    Parameters
    ----------
    u, l
        Ratios :math:`c_i/c_j` of squared cosines and :math:`q_i/q_j` of squared sines; numbers or
        arrays.
    d
        Number of coordinates of an action.

    Returns
    -------
    float or numpy.ndarray
        The threshold; at equality the region is played alone.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section 4.2.

    Examples
    --------
    >>> round(dual_reachability_threshold(5.0, 5 / 9, d=3), 9)
    1.363636364
    """
    return d * l * u / (u + (d - 1) * l)


def bi_region_dimension(u: Any, l: Any, r: Any, d: int) -> Any:  # noqa: E741
    r"""Return the effective dimension of two regions, times the base's probability.

    .. math:: p_j\,d_{\mathrm{eff}}=\frac{(d-1)(1-l)}{r-l}+\frac{u-1}{u-r}
              \quad\text{for } r^\dagger<r<r^\star,

    d / r up to :math:`r^\dagger`, where eventually only the region is played, and d from
    :math:`r^\star` on, where only the base is. It is continuous and, in between, convex in r. As r
    falls to :math:`r^\dagger` it tends to :math:`d/r^\dagger`, that is d_eff to :math:`d/p_i`; the
    smallest ratio with both regions, :math:`\max(1,r^\dagger)`, gives :math:`d/p_j` exactly when
    :math:`d\,q_i\le1`.

    Parameters
    ----------
    u, l
        Ratios :math:`c_i/c_j` of squared cosines and :math:`q_i/q_j` of squared sines, one at least
        and the other at most 1; numbers or arrays.
    r
        Ratio :math:`p_i/p_j\ge1` of probabilities; number or array.
    d
        Number of coordinates of an action.

    Returns
    -------
    float or numpy.ndarray
        The effective dimension times p_j.

    References
    ----------
    Guinet, Amin, Jaillet (2022), theorem of section 4.2.

    Examples
    --------
    >>> bi_region_dimension(4.0, 0.0, [1.0, 4 / 3, 8 / 3], d=3).tolist()
    [3.0, 2.625, 3.0]
    """
    size = checks.whole("d", d, at_least=1)
    up, low, ratio = (np.asarray(value, dtype=np.float64) for value in (u, l, r))
    _at_least("u", up, 0.0)
    _at_least("l", low, 0.0)
    _at_least("r", ratio, 1.0)
    _apart(up, low)
    alone = ratio <= dual_reachability_threshold(up, low, size) * (1.0 + SAME)
    far = ratio >= reachability_threshold(up, low, size) * (1.0 - SAME)
    both = np.where(alone | far, np.nan, ratio)
    value = two_region_dimension(up, low, both, size)
    value = np.where(far, float(size), np.where(alone, size / ratio, value))
    return float(value) if value.ndim == 0 else value


def smallest_bi_region_dimension(u: float, l: float, d: int) -> SmallestDimension:  # noqa: E741
    r"""Return the smallest effective dimension of two regions over the ratio of probabilities.

    .. math:: \min_r\ p_j\,d_{\mathrm{eff}}=
              \frac{\big(\sqrt{(d-1)(1-l)}+\sqrt{u-1}\big)^2}{u-l}

    where that is reached above :math:`r^\dagger`; otherwise :math:`d/r^\dagger`, at
    :math:`r^\dagger`.

    Parameters
    ----------
    u, l
        Ratios :math:`c_i/c_j` of squared cosines and :math:`q_i/q_j` of squared sines, one at least
        and the other at most 1.
    d
        Number of coordinates of an action.

    Returns
    -------
    SmallestDimension
        Where the minimum is and its value; the value is d, at 1, when the region is never
        reachable.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section 4.2.

    Examples
    --------
    >>> smallest_bi_region_dimension(4.0, 0.0, d=3)
    SmallestDimension(ratio=1.7979589711327124, dimension=2.4747448713915894)
    """
    size = checks.whole("d", d, at_least=1)
    up, low = checks.number("u", u, at_least=0.0), checks.number("l", l, at_least=0.0)
    _apart(np.asarray(up), np.asarray(low))
    if reachability_threshold(up, low, size) <= 1.0 + SAME:
        return SmallestDimension(1.0, float(size))
    across, along = math.sqrt((size - 1) * abs(1.0 - low)), math.sqrt(abs(up - 1.0))
    ratio = (across * up + along * low) / (across + along)
    alone = dual_reachability_threshold(up, low, size)
    if ratio <= alone:
        return SmallestDimension(alone, size / alone)
    return SmallestDimension(ratio, (across + along) ** 2 / abs(up - low))


def two_region_dimension(u: Any, l: Any, r: Any, d: int) -> Any:  # noqa: E741
    """Return p_j d_eff while both regions are played, without validation."""
    return (d - 1) * (1.0 - l) / (r - l) + (u - 1.0) / (u - r)


def _at_least(field: str, values: np.ndarray, low: float) -> None:
    fine = (values >= low) & np.isfinite(values)
    if not fine.all():
        wrong = float(values[~fine].flat[0])
        raise InvalidInput(field, f"must be at least {low:g}", wrong, "Change it.")


def _apart(u: np.ndarray, l: np.ndarray) -> None:  # noqa: E741
    if ((u - 1.0) * (l - 1.0) > 0.0).any():
        raise InvalidInput(
            "u and l",
            "must lie on different sides of 1",
            (u.tolist(), l.tolist()),
            "Take c_i/c_j and q_i/q_j of two regions; c = 1 - q, so one falls as the other rises.",
        )
