"""The gain from one look near the end, when too few rounds are left to correct everything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy import special

from halfseen import checks
from halfseen.checks import Vector
from halfseen.theory import inputs
from halfseen.theory.arms.adaptivity import adaptivity_constant
from halfseen.theory.arms.monitoring import monitoring_constant

POINTS = 2**12  # points of a low-discrepancy sequence, for three arms or more


def late_look_constant(observe: Sequence[float] | Vector, alpha: float, left: float) -> float:
    r"""Return the constant of the gain from one look with few rounds left.

    A look at :math:`T-s\sqrt T` gains :math:`c(s)/T^\alpha` over none. For two arms

    .. math:: c(s)=\gamma\,h(z),\quad h=1-2Q+2z\varphi(z)-2z^2Q,\quad Q=P(N>z),\quad
              z=\frac{(p_1+p_2)\,s}{2\sqrt{(2-p_1-p_2)/D}} .

    For more, with :math:`\xi_a\sim N(0,(1-p_a)/D)` the deviations of the counts at the look,

    .. math:: c(s)=\frac\alpha2D^{1+\alpha}\max_m\mathbb E\max_{k\ge0,\ \sum k=\sum m=s}
              \Big[\sum_a\frac{\xi_a^2}{p_a}-\sum_a\frac{(\xi_a+p_a(k_a-m_a))^2}{p_a}\Big].

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    alpha
        Order of the potential, above 0.
    left
        s, the number of rounds after the look divided by the square root of the horizon.

    Returns
    -------
    float
        The constant: 0 at 0, increasing, concave, and gamma in the limit. For three arms or more
        from a fixed low-discrepancy sequence, to about 3 digits.

    Notes
    -----
    Argued and checked against exact values, not proved in full.

    References
    ----------
    Settles Guinet, Amin, Jaillet (2022), remark after proposition 3.7.

    Examples
    --------
    >>> round(late_look_constant([0.5, 0.25], 1.0, 1.0), 6)
    3.894017
    """
    p, order = inputs.observation(observe), inputs.order(alpha)
    rounds = checks.number("left", left, at_least=0.0, fix="Give a number of rounds over sqrt(T).")
    whole = adaptivity_constant(p, order)
    if whole == 0.0 or rounds == 0.0:
        return 0.0
    if len(p) == 2:
        return whole * two_arm_share(p, rounds)
    return whole * _share(tuple(p.tolist()), rounds)


def look_gain(
    observe: Sequence[float] | Vector, horizon: float, alpha: float, look: float
) -> float:
    r"""Return the gain from one look at a given time, to leading order.

    .. math:: T^\alpha g(T-t)\approx\gamma_{\rm single}(1-t/T)-\gamma+c(t/\sqrt T)

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    horizon
        Number of rounds T.
    alpha
        Order of the potential, above 0.
    look
        Number of rounds before the look, between 0 and T; the gain is 0 at both ends.

    Returns
    -------
    float
        The gain.

    References
    ----------
    Settles Guinet, Amin, Jaillet (2022), remark after proposition 3.7.

    Examples
    --------
    >>> round(240 * look_gain([0.5, 0.25], 240, 1.0, look=209), 8)
    4.26206128
    """
    p, order = inputs.observation(observe), inputs.order(alpha)
    time = checks.number("horizon", horizon, above=0.0, fix="Give the number of rounds.")
    early = checks.number("look", look, at_least=0.0, at_most=time, fix="Look before the end.")
    left = time - early
    if left == 0.0 or early == 0.0:
        return 0.0
    slow = monitoring_constant(p, order, early / time).value
    short = adaptivity_constant(p, order) - late_look_constant(p, order, left / math.sqrt(time))
    return max(slow - short, 0.0) / time**order


def two_arm_share(p: Vector, left: float) -> float:
    """Return the share h of gamma that two arms gain, concave and 0 at 0.

    >>> two_arm_share(np.array([0.5, 0.25]), 0.0)
    0.0
    """
    unseen = 2.0 - float(p.sum())
    z = float(p.sum()) * left / (2.0 * math.sqrt(unseen / float((1.0 / p).sum())))
    beyond = float(special.ndtr(-z))
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return 1.0 - 2.0 * beyond + 2.0 * z * density - 2.0 * z * z * beyond


@lru_cache(maxsize=1024)
def _share(observe: tuple[float, ...], left: float) -> float:
    """Return the share of gamma gained by three arms or more."""
    from scipy import optimize
    from scipy.stats import qmc

    p = np.array(observe)
    dimension = float((1.0 / p).sum())
    shift = np.random.default_rng(0).uniform(size=len(p))
    draws = (qmc.Sobol(len(p), scramble=False).random(POINTS) + shift) % 1.0
    half = special.ndtri(draws) * np.sqrt((1.0 - p) / dimension)
    deviations = np.concatenate([half, -half])
    before = (deviations**2 / p).sum(axis=1).mean()
    never = ((deviations / p).sum(axis=1) ** 2).mean() / dimension

    def remaining(shares: Vector) -> tuple[float, Vector]:
        plan = left * shares
        off = deviations + p * (_corrected(plan - deviations / p, p, left) - plan)
        return float((off**2 / p).sum(axis=1).mean()), -2.0 * left * off.mean(axis=0)

    found = optimize.minimize(
        remaining,
        (1.0 / p) / dimension,
        jac=True,
        bounds=[(0.0, 1.0)] * len(p),
        constraints=[{"type": "eq", "fun": lambda x: x.sum() - 1.0, "jac": np.ones_like}],
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    return float(np.clip((before - found.fun) / (before - never), 0.0, 1.0))


def _corrected(wanted: Vector, p: Vector, left: float) -> Vector:
    """Return, per row, the rounds k >= 0 adding up to `left` with sum p (k - wanted)^2 least."""
    order = np.argsort(-p * wanted, axis=1)
    ranked = np.take_along_axis(wanted, order, axis=1)
    widths = (1.0 / p)[order]
    level = (np.cumsum(ranked, axis=1) - left) / np.cumsum(widths, axis=1)
    active = (ranked / widths > level).sum(axis=1) - 1
    chosen = np.take_along_axis(level, active[:, None], axis=1)
    return np.maximum(wanted - chosen / p, 0.0)
