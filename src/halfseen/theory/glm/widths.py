"""How wide the confidence ellipsoid of GLMUCB must be."""

from __future__ import annotations

import math

from halfseen import checks
from halfseen.policies.glm.glm_ucb import WIDTHS


def glm_width_constant(
    *,
    smallest: float = 1.0,
) -> float:
    r"""Return the constant c of GLMUCB's width where every direction was observed often enough.

    .. math:: c=\sqrt{2+\frac1{\lambda_{\min}(W)}}

    Parameters
    ----------
    smallest
        Lower bound on the smallest eigenvalue of W, the sum of aa' over observed rounds.

    Returns
    -------
    float
        The constant: sqrt 3 at the end of exploration, falling to sqrt 2.

    Notes
    -----
    No constant below sqrt 2 holds for all delta, and sqrt 2 itself fails for small delta when
    each observation adds little information. The policy always uses sqrt 3, which is proved.

    References
    ----------
    Corrects Guinet, Amin, Jaillet (2022), section "Extension to Generalized Linear Contextual
    Bandits", and Li, Lu, Zhou (2017), lemma 9, which print 1.

    Examples
    --------
    >>> round(glm_width_constant(), 6), round(glm_width_constant(smallest=100.0), 6)
    (1.732051, 1.417745)
    """
    mu = checks.number("smallest", smallest, above=0.0, fix="Use 1.0, the end of exploration.")
    return math.sqrt(2.0 + 1.0 / mu)


def glm_confidence_factor(
    dimension: int,
    horizon: float,
    noise: float,
    kappa: float,
    delta: float,
    *,
    width: str = "proved",
    smallest: float = 1.0,
) -> float:
    r"""Return the largest width factor GLMUCB can reach in T rounds.

    .. math:: c\,\frac\sigma\kappa\sqrt{\frac d2\log\Big(1+\frac{2T}d\Big)+\log\frac1\delta}

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    horizon
        Number of rounds T.
    noise
        Sub-Gaussian scale sigma of the rewards.
    kappa
        The smallest slope of the link.
    delta
        Probability that the ellipsoid ever misses theta, in ]0, 1].
    width
        ``"proved"``, c of `glm_width_constant`, or ``"paper"``, c = 1.
    smallest
        Lower bound on the smallest eigenvalue of the observed design; 1, its value at the end of
        exploration, gives c = sqrt 3.

    Returns
    -------
    float
        An upper bound on the factor in use in every round after exploration.

    Notes
    -----
    The paper has c = 1, which is wrong: see `GLMUCB`.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section "Extension to Generalized Linear Contextual Bandits";
    Li, Lu, Zhou (2017), lemma 9.

    Examples
    --------
    >>> round(glm_confidence_factor(2, 100, 0.5, 0.2, delta=0.01, width="paper"), 6)
    7.591233
    """
    d = checks.whole("dimension", dimension, at_least=1)
    time = checks.number("horizon", horizon, at_least=0.0)
    sigma = checks.number("noise", noise, at_least=0.0)
    least = checks.number("kappa", kappa, above=0.0)
    share = checks.number("delta", delta, above=0.0, at_most=1.0, fix="Use for example 0.01.")
    constant = glm_width_constant(smallest=smallest)
    factor = constant if checks.one_of("width", width, WIDTHS) == "proved" else WIDTHS[width]
    inside = 0.5 * d * math.log1p(2.0 * time / d) - math.log(share)
    return factor * sigma / least * math.sqrt(inside)
